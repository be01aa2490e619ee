"""The asynchronous client. It carries out the same steps as the synchronous one."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

import httpx

from . import calls
from .client import Hub, Poll, connection_error, is_completed, response_of
from .errors import HubConnectionError
from .exchange import Call, Exchange, NeedToken, Request, Response, Scalar, Send, Steps, Wait, json_bytes
from .pages import AsyncPages
from .settings import settings_from_environment
from .shapes import (
    BatchResult,
    ExportJob,
    Record,
    Related,
    SearchResult,
    Suggestion,
    Summary,
    TelemetryEvent,
    Verification,
    Written,
)
from .tracking import Invocation

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class AsyncHub:
    """Calls the Hub as a service account, from one event loop. Takes the parameters of Hub, and behaves as Hub does.

    Tracked events are sent by a thread of their own, so that they never wait for the loop.
    """

    def __init__(self, base_url: str, tenant: str, client_id: str, client_secret: str, **options: Any) -> None:
        self._sync = Hub(base_url, tenant, client_id, client_secret, **options)
        self._exchange: Exchange = self._sync._exchange
        self._token_lock = asyncio.Lock()
        self._http = httpx.AsyncClient(timeout=self._exchange.settings.timeout_seconds, follow_redirects=False)
        self.records = AsyncRecords(self)
        self.telemetry = AsyncTelemetry(self, self._sync)
        self.exports = AsyncExports(self)

    @classmethod
    def from_environment(cls, **options: Any) -> "AsyncHub":
        """Creates a client from `HUB_URL`, `HUB_TENANT`, `HUB_CLIENT_ID` and `HUB_CLIENT_SECRET`."""
        return cls(**settings_from_environment(), **options)

    def search(self, q: str, **filters: Scalar) -> AsyncPages[SearchResult]:
        """Searches all records but telemetry, as `Hub.search`."""
        return AsyncPages(lambda cursor: self.run(calls.search(q, {**filters, "cursor": cursor})), "results")

    async def suggest(self, q: str, kind: str | None = None) -> list[Suggestion]:
        """Returns up to ten skills, persons, archetypes, models or records with this text in their name."""
        return await self.run(calls.suggest(q, kind))

    def track(self, **fields: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Decorates a function or coroutine function: each call becomes a telemetry event."""
        return self._sync.track(**fields)

    def invocation(self, **fields: Any) -> Invocation:
        """Returns a context manager whose block becomes a telemetry event."""
        return self._sync.invocation(**fields)

    async def run(self, call: Call[T]) -> T:
        """Carries out a call of `org_memory_hub.calls`."""
        return await self._carry_out(self._exchange.call(call))

    async def close(self) -> None:
        """Sends the tracked events that are left, and closes the connections."""
        await asyncio.to_thread(self._sync.close)
        await self._http.aclose()

    async def __aenter__(self) -> "AsyncHub":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _carry_out(self, steps: Steps[T]) -> T:
        try:
            effect = next(steps)
            while True:
                try:
                    result = await self._perform(effect)
                except HubConnectionError as error:
                    effect = steps.throw(error)
                else:
                    effect = steps.send(result)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]

    async def _perform(self, effect: Send | Wait | NeedToken) -> Response | str | None:
        if isinstance(effect, Wait):
            await asyncio.sleep(effect.seconds)
            return None
        if isinstance(effect, NeedToken):
            return await self._token(effect.rejected)
        return await self._send(effect.request, effect.is_streamed)

    async def _token(self, rejected: str | None) -> str:
        credentials = self._exchange.credentials
        async with self._token_lock:  # Tasks that need a token at the same time share one request.
            if (token := credentials.current(rejected)) is None:
                await self._carry_out(self._exchange.new_token())
                token = credentials.current(None)
        return token or ""

    async def _send(self, request: Request, is_streamed: bool) -> Response:
        try:
            built = self._http.build_request(
                request.method, request.url, headers=dict(request.headers), content=request.content
            )
            response = await self._http.send(built, stream=is_streamed)
            if is_streamed and response.is_success:
                return response_of(response, is_open=True)
            await response.aread()
            await response.aclose()
            return response_of(response)
        except httpx.RequestError as error:
            raise connection_error(error) from error


class AsyncRecords:
    """Reads and writes records: `hub.records`."""

    def __init__(self, hub: AsyncHub) -> None:
        self._hub = hub

    def list(self, **filters: Scalar) -> AsyncPages[Record]:
        """Iterates over records with `async for`. Filters are the query parameters of the API."""
        return AsyncPages(lambda cursor: self._hub.run(calls.list_records({**filters, "cursor": cursor})), "records")

    async def get(self, record_id: str, *, verify: bool = False) -> Record:
        """Returns a record, with the Hub's verification on request."""
        return await self._hub.run(calls.get_record(record_id, verify))

    async def write(self, record: Mapping[str, Any], *, idempotency_key: str | None = None) -> Written:
        """Writes a record. Give a key of your own if your program may repeat the call later."""
        return await self._hub.run(calls.write_record(record, idempotency_key))

    async def verify(self, record_id: str) -> Verification:
        """Lets the Hub verify a record."""
        return await self._hub.run(calls.verify_record(record_id))

    async def related(self, record_id: str, *, depth: int = 1, direction: str = "both") -> Related:
        """Returns the records that are linked, up to `depth` (1 to 5) hops away; `direction` is both, out or in."""
        return await self._hub.run(calls.related_records(record_id, depth, direction))

    async def proof_bundle(self, record_id: str, *, consistency_from: int | None = None) -> dict[str, Any]:
        """Returns a record with everything that proves it, for `python -m org_memory_hub.verify --bundle`.

        With `consistency_from`, the leaves of a checkpoint that you kept, it proves that the log continues it.
        """
        return await self._hub.run(calls.proof_bundle(record_id, consistency_from))


class AsyncTelemetry:
    """Sends and reads telemetry: `hub.telemetry`."""

    def __init__(self, hub: AsyncHub, sync: Hub) -> None:
        self._hub = hub
        self._sync = sync.telemetry
        self.batcher = sync.telemetry.batcher

    async def send(self, event: TelemetryEvent | Mapping[str, Any], *, idempotency_key: str | None = None) -> Written:
        """Sends one event, and returns when it is stored."""
        return await self._hub.run(calls.send_event(event, idempotency_key))

    async def send_batch(
        self, events: Sequence[TelemetryEvent | Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> BatchResult:
        """Sends up to 1,000 events. Each is accepted or rejected alone: read `failed`."""
        return await self._hub.run(calls.send_events([json_bytes(dict(event)) for event in events], idempotency_key))

    async def put(self, event: Mapping[str, Any], timeout: float | None = None) -> bool:
        """Gives an event to the batcher. Waits for room, at most `timeout` seconds; False means it was refused."""
        return await asyncio.to_thread(self._sync.put, event, timeout)

    def track(self, **fields: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Decorates a function or coroutine function: each call becomes a telemetry event."""
        return self._sync.track(**fields)

    def invocation(self, **fields: Any) -> Invocation:
        """Returns a context manager whose block becomes a telemetry event."""
        return self._sync.invocation(**fields)

    async def flush(self, timeout: float | None = None) -> bool:
        """Sends the events in the batcher now. Returns False if the timeout passed."""
        return await asyncio.to_thread(self._sync.flush, timeout)

    async def summary(self, **filters: Scalar) -> Summary:
        """Returns usage by `interval` and `group_by`. `from_` and `to` are times; the rest as in the API."""
        return await self._hub.run(calls.summary(filters))

    async def reconciliation(self, **filters: Scalar) -> dict[str, Any]:
        """Returns reported and calculated costs. Parameters as those of `summary`."""
        return await self._hub.run(calls.reconciliation(filters))


class AsyncExports:
    """Starts and downloads exports: `hub.exports`."""

    def __init__(self, hub: AsyncHub) -> None:
        self._hub = hub

    async def start(
        self,
        filters: Mapping[str, Any] | None = None,
        *,
        format: str = "jsonl",
        verify: bool = False,
        include_provenance: bool = True,
    ) -> ExportJob:
        """Starts an export as `jsonl`, `csv` or `parquet`. It is not repeated: a second one would start."""
        return await self._hub.run(calls.start_export(filters, format, verify, include_provenance))

    async def get(self, job_id: str) -> ExportJob:
        """Returns the state of an export."""
        return await self._hub.run(calls.get_export(job_id))

    def list(self, **filters: Scalar) -> AsyncPages[ExportJob]:
        """Iterates over the exports of the tenant with `async for`, newest first."""
        return AsyncPages(lambda cursor: self._hub.run(calls.list_exports({**filters, "cursor": cursor})), "items")

    async def cancel(self, job_id: str) -> ExportJob:
        """Cancels an export."""
        return await self._hub.run(calls.cancel_export(job_id))

    async def wait(self, job_id: str, timeout: float = 3600.0) -> ExportJob:
        """Waits until an export is completed. Raises ExportFailed, or TimeoutError."""
        poll = Poll(timeout)
        while not is_completed(job := await self.get(job_id)):
            await asyncio.sleep(poll.next_wait())
        return job

    async def download(self, job_id: str, path: str | Path, *, timeout: float = 3600.0) -> Path:
        """Waits for an export and streams its file to `path`, which appears when it is complete."""
        job = await self.wait(job_id, timeout)
        response = (await self._hub._carry_out(self._hub._exchange.open_download(job["download_url"]))).stream
        target = Path(path)
        part = target.with_name(f"{target.name}.part")
        try:
            with part.open("wb") as file:
                async for chunk in response.aiter_bytes():
                    file.write(chunk)
            return part.replace(target)
        except httpx.RequestError as error:
            raise connection_error(error) from error
        finally:
            await response.aclose()
            part.unlink(missing_ok=True)
