"""Tracks the calls of an Anthropic client.

    client = track_anthropic(Anthropic(), hub, skill_id="reply-draft")
    client.messages.create(model="claude-sonnet-4-5", max_tokens=1024, messages=messages)
"""

from typing import Any, TypeVar, cast

from ..async_client import AsyncHub
from ..client import Hub
from .wrapping import Wrapped, model_of

C = TypeVar("C")

# The helper `messages.stream` is not tracked: use `messages.create(stream=True)`, or `with hub.invocation(...)`.
_methods = frozenset(("messages.create", "messages.parse", "beta.messages.create", "beta.messages.parse"))


def track_anthropic(client: C, hub: Hub | AsyncHub, **fields: Any) -> C:
    """Returns the client (`Anthropic` or `AsyncAnthropic`) whose calls of models become telemetry events.

    `fields` are members of the events. `tokens_in` is Anthropic's `input_tokens`, without cached ones.
    """
    defaults = {"llm_platform": "claude", **fields}
    wrapped = Wrapped(client, _methods, lambda sent: hub.invocation(**{**model_of(sent), **defaults}))
    return cast(C, wrapped)
