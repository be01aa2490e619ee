"""Iterators over the items of all pages."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Generic, TypeVar

from .errors import UnexpectedResponse

T = TypeVar("T")


class _Position:
    """The cursor within a list, which must move on with each page."""

    def __init__(self) -> None:
        self.cursor: str | None = None
        self.is_at_end = False

    def move(self, page: dict[str, Any]) -> None:
        following = page.get("next_cursor")
        if following is not None and following == self.cursor:
            raise UnexpectedResponse("a page has its own cursor as next_cursor")
        self.cursor, self.is_at_end = following, following is None


class Pages(Generic[T]):
    """Iterates over all items, and loads pages as needed. `pages()` iterates over whole pages."""

    def __init__(self, load: Callable[[str | None], dict[str, Any]], member: str) -> None:
        self._load = load
        self._member = member

    def pages(self) -> Iterator[dict[str, Any]]:
        position = _Position()
        while not position.is_at_end:
            page = self._load(position.cursor)
            yield page
            position.move(page)

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page[self._member]


class AsyncPages(Generic[T]):
    """Iterates over all items with `async for`. `pages()` iterates over whole pages."""

    def __init__(self, load: Callable[[str | None], Awaitable[dict[str, Any]]], member: str) -> None:
        self._load = load
        self._member = member

    async def pages(self) -> AsyncIterator[dict[str, Any]]:
        position = _Position()
        while not position.is_at_end:
            page = await self._load(position.cursor)
            yield page
            position.move(page)

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page[self._member]:
                yield item
