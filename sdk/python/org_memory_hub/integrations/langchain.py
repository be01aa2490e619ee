"""A callback handler of LangChain: each call of a model becomes a telemetry event.

    from org_memory_hub.integrations.langchain import HubCallbackHandler
    model.invoke(messages, config={"callbacks": [HubCallbackHandler(hub, skill_id="reply-draft")]})
"""

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ..async_client import AsyncHub
from ..client import Hub
from ..tracking import Invocation
from ..usage import member, usage_of

if TYPE_CHECKING:
    _Base = object
else:
    try:
        from langchain_core.callbacks import BaseCallbackHandler as _Base
    except ImportError:
        _Base = object

_open_runs_max = 10_000
_platforms = {
    "anthropic": "claude",
    "openai": "chatgpt",
    "azure": "chatgpt",
    "google_genai": "gemini",
    "google_vertexai": "gemini",
}


class HubCallbackHandler(_Base):
    """Sends the calls of chat models and LLMs, with their tokens, and never a prompt or an answer.

    `fields` are members of the events. Without `llm_platform` it follows LangChain's `ls_provider`.
    """

    def __init__(self, hub: Hub | AsyncHub, **fields: Any) -> None:
        super().__init__()
        self._hub = hub
        self._fields = fields
        self._runs: OrderedDict[UUID, Invocation] = OrderedDict()
        self._lock = threading.Lock()

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: UUID, **details: Any) -> None:
        self._start(run_id, details)

    def on_llm_start(self, serialized: Any, prompts: Any, *, run_id: UUID, **details: Any) -> None:
        self._start(run_id, details)

    def on_llm_end(self, response: Any, *, run_id: UUID, **details: Any) -> None:
        invocation = self._take(run_id)
        if invocation is None:
            return
        output = member(response, "llm_output")
        # Older models report all generations together, newer ones with each message.
        invocation.usage({"usage": member(output, "token_usage") or member(output, "usage")})
        messages = [member(one, "message") for batch in member(response, "generations") or [] for one in batch]
        found = [usage_of(message) for message in messages if message is not None]
        if any(one.tokens_in is not None for one in found):
            tokens_in = sum(one.tokens_in or 0 for one in found)
            invocation.set(tokens_in=tokens_in, tokens_out=sum(one.tokens_out or 0 for one in found))
        invocation.finish()

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **details: Any) -> None:
        invocation = self._take(run_id)
        if invocation is not None:
            invocation.finish(error)

    def _start(self, run_id: UUID, details: dict[str, Any]) -> None:
        metadata = details.get("metadata") or {}
        parameters = details.get("invocation_params") or {}
        model = metadata.get("ls_model_name") or parameters.get("model") or parameters.get("model_name")
        provider = metadata.get("ls_provider")
        found = {"llm_model": model, "llm_platform": _platforms.get(str(provider), f"custom:{provider}") if provider else None}
        fields = {name: value for name, value in found.items() if value is not None}
        invocation = self._hub.invocation(**{**fields, **self._fields})
        with self._lock:
            self._runs[run_id] = invocation
            if len(self._runs) > _open_runs_max:
                self._runs.popitem(last=False)

    def _take(self, run_id: UUID) -> Invocation | None:
        with self._lock:
            return self._runs.pop(run_id, None)
