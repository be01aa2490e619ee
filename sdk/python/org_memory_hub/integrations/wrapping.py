"""Wraps single methods of a client object, and leaves all others as they are."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from ..tracking import Invocation

Begin = Callable[[dict[str, Any]], Invocation]

# They return another client with other options, whose calls are tracked, too.
_copying = frozenset(("with_options", "copy"))


def model_of(sent: dict[str, Any]) -> dict[str, str]:
    """Returns the model that the arguments of a call name, as a member of its event. A client may have one of its own."""
    model = sent.get("model")
    return {"llm_model": model} if isinstance(model, str) else {}


class Wrapped:
    """Stands for an object of a client. `methods` are the tracked ones, by their path from here."""

    def __init__(self, target: Any, methods: frozenset[str], begin: Begin) -> None:
        self._target = target
        self._methods = methods
        self._begin = begin

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if name in self._methods:
            return _tracked_method(found, self._begin)
        if name in _copying and callable(found):
            return lambda *args, **kwargs: Wrapped(found(*args, **kwargs), self._methods, self._begin)
        inner = frozenset(path.removeprefix(f"{name}.") for path in self._methods if path.startswith(f"{name}."))
        return Wrapped(found, inner, self._begin) if inner else found

    def __enter__(self) -> "Wrapped":
        self._target.__enter__()
        return self

    def __exit__(self, *raised: Any) -> Any:
        return self._target.__exit__(*raised)

    async def __aenter__(self) -> "Wrapped":
        await self._target.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> Any:
        return await self._target.__aexit__(*raised)


def _tracked_method(method: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        invocation = begin(kwargs)
        try:
            result = method(*args, **kwargs)
        except BaseException as error:
            invocation.finish(error)
            raise
        if inspect.isawaitable(result):
            return _awaited(result, invocation)
        return _settled(result, invocation)

    return run


async def _awaited(result: Any, invocation: Invocation) -> Any:
    try:
        found = await result
    except BaseException as error:
        invocation.finish(error)
        raise
    return _settled(found, invocation)


def _settled(result: Any, invocation: Invocation) -> Any:
    """Returns the result, or a stream that finishes the invocation when it ends."""
    if hasattr(result, "__aiter__"):
        return AsyncStream(result, invocation)
    if hasattr(result, "__next__"):
        return Stream(result, invocation)
    invocation.usage(result)
    invocation.finish()
    return result


class _StreamBase:
    def __init__(self, target: Any, invocation: Invocation) -> None:
        self._target = target
        self._invocation = invocation

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def __del__(self) -> None:
        # A loop that is left by `break` closes nothing.
        self._invocation.finish()


class Stream(_StreamBase):
    """A stream of parts. Its usage is in the last ones, if the provider sends it."""

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            part = next(self._target)
        except StopIteration:
            self._invocation.finish()
            raise
        except BaseException as error:
            self._invocation.finish(error)
            raise
        self._invocation.usage(part)
        return part

    def close(self) -> None:
        self._invocation.finish()
        self._target.close()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self._invocation.finish(error)
        self._target.close()


class AsyncStream(_StreamBase):
    """A stream of parts for `async for`."""

    def __init__(self, target: Any, invocation: Invocation) -> None:
        super().__init__(target, invocation)
        self._parts = aiter(target)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        try:
            part = await anext(self._parts)
        except StopAsyncIteration:
            self._invocation.finish()
            raise
        except BaseException as error:
            self._invocation.finish(error)
            raise
        self._invocation.usage(part)
        return part

    async def close(self) -> None:
        self._invocation.finish()
        await self._target.close()

    async def __aenter__(self) -> "AsyncStream":
        return self

    async def __aexit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self._invocation.finish(error)
        await self._target.close()
