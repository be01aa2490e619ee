"""Adapters of packages that are optional: LangChain, OpenAI and Anthropic."""
