"""Makes telemetry events of functions and blocks of code. Arguments and results are never sent."""

import functools
import inspect
import logging
import re
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from types import TracebackType
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, cast

from .exchange import text_of
from .shapes import TelemetryEvent
from .usage import usage_of

P = ParamSpec("P")
R = TypeVar("R")

logger = logging.getLogger("org_memory_hub")
required_fields = ("skill_id", "skill_version", "archetype_id", "user_id", "llm_platform")
_latency_ms_max = 599_999
_allowed_fields = frozenset(TelemetryEvent.__annotations__)


class Sink(Protocol):
    """Takes events without waiting: the batcher of a client."""

    def put(self, event: Mapping[str, Any], timeout: float | None = None) -> bool: ...


class Invocation:
    """One invocation of a skill, from its start to its end; a context manager, also of `async with`.

    Fields are members of the event. A value may be a function without parameters, which is called at the end, for
    example `user_id=current_user.get`. The event is a failure if the block raises.
    """

    def __init__(self, sink: Sink, fields: Mapping[str, Any]) -> None:
        unknown = sorted(set(fields) - _allowed_fields)
        if unknown:
            raise TypeError(f"{', '.join(unknown)}: not a member of a telemetry event")
        self._sink = sink
        self._fields = dict(fields)
        self._is_finished = False
        self.start()

    def start(self) -> None:
        """Starts the clock, again if it ran."""
        self._started = time.perf_counter()
        self._ts = datetime.now(timezone.utc)

    def set(self, **fields: Any) -> None:
        """Sets members of the event, such as `tokens_in`, `llm_model` or `session_id`."""
        unknown = sorted(set(fields) - _allowed_fields)
        if unknown:
            raise TypeError(f"{', '.join(unknown)}: not a member of a telemetry event")
        self._fields.update(fields)

    def usage(self, response: Any) -> None:
        """Sets tokens and model from the response of a model client, if it has any."""
        found = usage_of(response)
        values = {"tokens_in": found.tokens_in, "tokens_out": found.tokens_out, "llm_model": found.model}
        self._fields.update({name: value for name, value in values.items() if value is not None})

    def finish(self, error: BaseException | None = None) -> None:
        """Sends the event, once. Never raises: telemetry must not break the program."""
        if self._is_finished:
            return
        self._is_finished = True
        latency_ms = min(max(1, round((time.perf_counter() - self._started) * 1000)), _latency_ms_max)
        try:
            event = {name: _value_of(value) for name, value in self._fields.items()}
            event.setdefault("latency_ms", latency_ms)
            for name in ("tokens_in", "tokens_out", "cost_usd_estimate"):
                event.setdefault(name, 0)
            event.setdefault("ts", text_of(self._ts))
            event.setdefault("success", error is None)
            if not event["success"]:
                event.setdefault("error_code", error_code_of(error))
            missing = [name for name in required_fields if not event.get(name)]
            if missing:
                logger.warning("an invocation is not sent: %s is required", ", ".join(missing))
            elif not self._sink.put(event, timeout=0):
                logger.debug("an invocation is dropped: the batcher is full or closed")
        except Exception:
            logger.exception("an invocation could not be sent")

    def __enter__(self) -> "Invocation":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> Literal[False]:
        self.finish(error)
        return False

    async def __aenter__(self) -> "Invocation":
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> Literal[False]:
        return self.__exit__(kind, error, traceback)


def tracked(sink: Sink, fields: Mapping[str, Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Returns the decorator behind `hub.track`, for functions and coroutine functions."""
    missing = [name for name in required_fields if name not in fields]
    if missing:
        raise TypeError(f"{', '.join(missing)}: required by track, or as event_defaults of the client")
    Invocation(sink, fields)  # refuses unknown members now, not at the first call

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError("track does not take generator functions: use `with hub.invocation(...)` inside")
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_async(*args: P.args, **kwargs: P.kwargs) -> Any:
                with Invocation(sink, fields) as invocation:
                    result: Any = await cast(Any, function)(*args, **kwargs)
                    invocation.usage(result)
                    return result

            return run_async  # type: ignore[return-value]

        @functools.wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            with Invocation(sink, fields) as invocation:
                result = function(*args, **kwargs)
                invocation.usage(result)
                return result

        return run

    return decorate


def error_code_of(error: BaseException | None) -> str:
    """Returns the name of an error's class. Its text may have content, and is not sent."""
    if error is None:
        return "error"
    return re.sub(r"[^A-Za-z0-9_.:-]", "-", type(error).__name__)[:128] or "error"


def _value_of(value: Any) -> Any:
    found = value() if callable(value) else value
    return text_of(found) if isinstance(found, datetime) else found
