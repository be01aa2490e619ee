"""Reads tokens and model from the responses of model clients, by the names that they have in common."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_input_names = ("input_tokens", "prompt_tokens", "prompt_token_count")
_output_names = ("output_tokens", "completion_tokens", "candidates_token_count")


@dataclass
class Usage:
    """Tokens and model that a response, or a stream so far, reports."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    model: str | None = None


def usage_of(response: Any) -> Usage:
    """Returns the usage of a response, or of one part of a stream, of OpenAI, Anthropic, Google or LangChain."""
    # Anthropic's message_start and OpenAI's response.completed have it one level deeper.
    holder = response
    for inner in ("message", "response"):
        if member(holder, "usage") is None and member(holder, "model") is None and member(holder, inner) is not None:
            holder = member(holder, inner)
    reported = _first(holder, "usage", "usage_metadata")
    model = _first(holder, "model", "model_version")
    found = Usage(_count(reported, _input_names), _count(reported, _output_names))
    # A result without usage is no response of a model: what it calls a model may be content.
    if isinstance(model, str) and (found.tokens_in, found.tokens_out) != (None, None):
        found.model = model
    return found


def member(holder: Any, name: str) -> Any:
    """Returns an attribute of an object or an entry of a mapping, or None."""
    if isinstance(holder, Mapping):
        return holder.get(name)
    return getattr(holder, name, None)


def _first(holder: Any, *names: str) -> Any:
    return next((value for value in (member(holder, name) for name in names) if value is not None), None)


def _count(reported: Any, names: tuple[str, ...]) -> int | None:
    for name in names:
        value = member(reported, name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None
