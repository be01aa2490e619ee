"""Tracks the calls of an OpenAI client.

    client = track_openai(OpenAI(), hub, skill_id="reply-draft")
    client.chat.completions.create(model="gpt-5", messages=messages)
"""

from typing import Any, TypeVar, cast

from ..async_client import AsyncHub
from ..client import Hub
from .wrapping import Wrapped, model_of

C = TypeVar("C")

_methods = frozenset((
    "chat.completions.create",
    "chat.completions.parse",
    "responses.create",
    "responses.parse",
    "completions.create",
    "embeddings.create",
))


def track_openai(client: C, hub: Hub | AsyncHub, **fields: Any) -> C:
    """Returns the client (`OpenAI` or `AsyncOpenAI`) whose calls of models become telemetry events.

    `fields` are members of the events. A stream of chat completions reports tokens with
    `stream_options={"include_usage": True}` only. `with_raw_response` and the `stream` helpers are not tracked.
    """
    defaults = {"llm_platform": "chatgpt", **fields}
    wrapped = Wrapped(client, _methods, lambda sent: hub.invocation(**{**model_of(sent), **defaults}))
    return cast(C, wrapped)
