"""Answers questions, and reports each call as telemetry.

    PYTHONPATH=sdk/python python3 examples/python-agent/agent.py "When does my contract end?"

Reads HUB_URL, HUB_TENANT, HUB_CLIENT_ID and HUB_CLIENT_SECRET; the service account needs telemetry:write. Questions and
answers never leave the program: the event has success, latency, model and tokens.
"""

import sys
from dataclasses import dataclass

from org_memory_hub import Hub

hub = Hub.from_environment(
    event_defaults={"skill_version": "1.0.0", "archetype_id": "support-agent", "llm_platform": "claude"}
)


@dataclass
class Usage:
    input_tokens: int
    output_tokens: int


@dataclass
class Response:
    """Has the members of a response of Anthropic's SDK that the decorator reads."""

    text: str
    model: str
    usage: Usage


@hub.track(skill_id="reply-draft", user_id="user:kim@example.com")
def answer(question: str) -> Response:
    # Call your model here.
    if not question.endswith("?"):
        raise ValueError("A question ends with a question mark.")
    return Response("At the end of March.", "claude-sonnet-4-5", Usage(len(question) // 4, 6))


try:
    for question in sys.argv[1:]:
        try:
            print(answer(question).text)
        except ValueError as error:
            print(error, file=sys.stderr)
finally:
    hub.close()
