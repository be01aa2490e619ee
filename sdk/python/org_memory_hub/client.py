"""The synchronous client."""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

import httpx

from . import calls
from .batcher import Batcher
from .errors import ExportFailed, HubConnectionError
from .exchange import Call, Credentials, Exchange, NeedToken, Request, Response, Scalar, Send, Steps, Wait, json_bytes
from .pages import Pages
from .settings import Retries, Settings, settings_from_environment
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
from .tracking import Invocation, tracked

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

poll_seconds_max = 5.0


class Hub:
    """Calls the Hub as a service account. Threads may share it.

    Tokens are requested when needed and renewed before they expire. Calls that may be repeated are repeated after broken
    connections, 429 and 5xx, with jitter and as `Retry-After` requires. Writes have an idempotency key by default.
    Redirects are never followed: another address would get the token or the content.
    """

    def __init__(
        self,
        base_url: str,
        tenant: str,
        client_id: str,
        client_secret: str,
        *,
        scope: str | None = None,
        timeout_seconds: float = 30.0,
        retries: Retries = Retries(),
        event_defaults: Mapping[str, Any] | None = None,
        batching: Mapping[str, Any] | None = None,
    ) -> None:
        """`event_defaults` are members of all tracked events; `batching` the keyword parameters of Batcher."""
        self._settings = Settings(base_url, tenant, client_id, client_secret, scope, timeout_seconds, retries)
        self._exchange = Exchange(self._settings, Credentials())
        self._open()
        self.records = Records(self)
        self.telemetry = Telemetry(self, event_defaults or {}, batching or {})
        self.exports = Exports(self)

    @classmethod
    def from_environment(cls, **options: Any) -> "Hub":
        """Creates a client from `HUB_URL`, `HUB_TENANT`, `HUB_CLIENT_ID` and `HUB_CLIENT_SECRET`."""
        return cls(**settings_from_environment(), **options)

    def search(self, q: str, **filters: Scalar) -> Pages[SearchResult]:
        """Searches words, "phrases", `or` and -exclusions in all records but telemetry. Filters as in the API."""
        return Pages(lambda cursor: self.run(calls.search(q, {**filters, "cursor": cursor})), "results")

    def suggest(self, q: str, kind: str | None = None) -> list[Suggestion]:
        """Returns up to ten skills, persons, archetypes, models or records with this text in their name."""
        return self.run(calls.suggest(q, kind))

    def track(self, **fields: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Decorates a function or coroutine function: each call becomes a telemetry event."""
        return self.telemetry.track(**fields)

    def invocation(self, **fields: Any) -> Invocation:
        """Returns a context manager whose block becomes a telemetry event."""
        return self.telemetry.invocation(**fields)

    def run(self, call: Call[T]) -> T:
        """Carries out a call of `org_memory_hub.calls`."""
        return self._carry_out(self._exchange.call(call))

    def close(self) -> None:
        """Sends the tracked events that are left, and closes the connections."""
        self.telemetry.close()
        self._http.close()

    def __enter__(self) -> "Hub":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> None:
        self._token_lock = threading.Lock()
        self._http = httpx.Client(timeout=self._settings.timeout_seconds, follow_redirects=False)
        self._process_id = os.getpid()

    def _carry_out(self, steps: Steps[T]) -> T:
        try:
            effect = next(steps)
            while True:
                try:
                    result = self._perform(effect)
                except HubConnectionError as error:
                    effect = steps.throw(error)
                else:
                    effect = steps.send(result)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]

    def _perform(self, effect: Send | Wait | NeedToken) -> Response | str | None:
        if self._process_id != os.getpid():
            # A forked process must share neither its parent's connections, nor a lock that no thread of it releases.
            self._open()
        if isinstance(effect, Wait):
            time.sleep(effect.seconds)
            return None
        if isinstance(effect, NeedToken):
            return self._token(effect.rejected)
        return self._send(effect.request, effect.is_streamed)

    def _token(self, rejected: str | None) -> str:
        credentials = self._exchange.credentials
        with self._token_lock:  # Threads that need a token at the same time share one request.
            if (token := credentials.current(rejected)) is None:
                self._carry_out(self._exchange.new_token())
                token = credentials.current(None)
        return token or ""

    def _send(self, request: Request, is_streamed: bool) -> Response:
        try:
            built = self._http.build_request(
                request.method, request.url, headers=dict(request.headers), content=request.content
            )
            response = self._http.send(built, stream=is_streamed)
            if is_streamed and response.is_success:
                return response_of(response, is_open=True)
            response.read()
            response.close()
            return response_of(response)
        except httpx.RequestError as error:
            raise connection_error(error) from error


class Records:
    """Reads and writes records: `hub.records`."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def list(self, **filters: Scalar) -> Pages[Record]:
        """Iterates over records. Filters are the query parameters of the API; `limit` is the size of a page."""
        return Pages(lambda cursor: self._hub.run(calls.list_records({**filters, "cursor": cursor})), "records")

    def get(self, record_id: str, *, verify: bool = False) -> Record:
        """Returns a record, with the Hub's verification on request."""
        return self._hub.run(calls.get_record(record_id, verify))

    def write(self, record: Mapping[str, Any], *, idempotency_key: str | None = None) -> Written:
        """Writes a record. Give a key of your own if your program may repeat the call later."""
        return self._hub.run(calls.write_record(record, idempotency_key))

    def verify(self, record_id: str) -> Verification:
        """Lets the Hub verify a record."""
        return self._hub.run(calls.verify_record(record_id))

    def related(self, record_id: str, *, depth: int = 1, direction: str = "both") -> Related:
        """Returns the records that are linked, up to `depth` (1 to 5) hops away; `direction` is both, out or in."""
        return self._hub.run(calls.related_records(record_id, depth, direction))

    def proof_bundle(self, record_id: str, *, consistency_from: int | None = None) -> dict[str, Any]:
        """Returns a record with everything that proves it, for `python -m org_memory_hub.verify --bundle`.

        With `consistency_from`, the leaves of a checkpoint that you kept, it proves that the log continues it.
        """
        return self._hub.run(calls.proof_bundle(record_id, consistency_from))


class Telemetry:
    """Sends and reads telemetry: `hub.telemetry`."""

    def __init__(self, hub: Hub, event_defaults: Mapping[str, Any], batching: Mapping[str, Any]) -> None:
        self._hub = hub
        self._event_defaults = dict(event_defaults)
        # The batcher repeats a batch itself, because its waits must end when the program does.
        exchange = Exchange(one_attempt(hub._settings), hub._exchange.credentials)
        self.batcher = Batcher(lambda events, key: hub._carry_out(exchange.call(calls.send_events(events, key))), **batching)

    def send(self, event: TelemetryEvent | Mapping[str, Any], *, idempotency_key: str | None = None) -> Written:
        """Sends one event, and returns when it is stored."""
        return self._hub.run(calls.send_event(event, idempotency_key))

    def send_batch(
        self, events: Sequence[TelemetryEvent | Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> BatchResult:
        """Sends up to 1,000 events. Each is accepted or rejected alone: read `failed`."""
        return self._hub.run(calls.send_events([json_bytes(dict(event)) for event in events], idempotency_key))

    def put(self, event: Mapping[str, Any], timeout: float | None = None) -> bool:
        """Gives an event to the batcher. Waits for room, at most `timeout` seconds; False means it was refused."""
        return self.batcher.put({**self._event_defaults, **event}, timeout)

    def track(self, **fields: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Decorates a function or coroutine function: each call becomes a telemetry event."""
        return tracked(self.batcher, {**self._event_defaults, **fields})

    def invocation(self, **fields: Any) -> Invocation:
        """Returns a context manager whose block becomes a telemetry event."""
        return Invocation(self.batcher, {**self._event_defaults, **fields})

    def flush(self, timeout: float | None = None) -> bool:
        """Sends the events in the batcher now. Returns False if the timeout passed."""
        return self.batcher.flush(timeout)

    def summary(self, **filters: Scalar) -> Summary:
        """Returns usage by `interval` and `group_by`. `from_` and `to` are times; the rest as in the API."""
        return self._hub.run(calls.summary(filters))

    def reconciliation(self, **filters: Scalar) -> dict[str, Any]:
        """Returns reported and calculated costs. Parameters as those of `summary`."""
        return self._hub.run(calls.reconciliation(filters))

    def close(self) -> None:
        self.batcher.close()


class Exports:
    """Starts and downloads exports: `hub.exports`."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def start(
        self,
        filters: Mapping[str, Any] | None = None,
        *,
        format: str = "jsonl",
        verify: bool = False,
        include_provenance: bool = True,
    ) -> ExportJob:
        """Starts an export as `jsonl`, `csv` or `parquet`. It is not repeated: a second one would start."""
        return self._hub.run(calls.start_export(filters, format, verify, include_provenance))

    def get(self, job_id: str) -> ExportJob:
        """Returns the state of an export."""
        return self._hub.run(calls.get_export(job_id))

    def list(self, **filters: Scalar) -> Pages[ExportJob]:
        """Iterates over the exports of the tenant, newest first. `limit` is the size of a page."""
        return Pages(lambda cursor: self._hub.run(calls.list_exports({**filters, "cursor": cursor})), "items")

    def cancel(self, job_id: str) -> ExportJob:
        """Cancels an export."""
        return self._hub.run(calls.cancel_export(job_id))

    def wait(self, job_id: str, timeout: float = 3600.0) -> ExportJob:
        """Waits until an export is completed. Raises ExportFailed, or TimeoutError."""
        poll = Poll(timeout)
        while not is_completed(job := self.get(job_id)):
            time.sleep(poll.next_wait())
        return job

    def download(self, job_id: str, path: str | Path, *, timeout: float = 3600.0) -> Path:
        """Waits for an export and streams its file to `path`, which appears when it is complete."""
        job = self.wait(job_id, timeout)
        response = self._hub._carry_out(self._hub._exchange.open_download(job["download_url"])).stream
        target = Path(path)
        part = target.with_name(f"{target.name}.part")
        try:
            with part.open("wb") as file:
                for chunk in response.iter_bytes():
                    file.write(chunk)
            return part.replace(target)
        except httpx.RequestError as error:
            raise connection_error(error) from error
        finally:
            response.close()
            part.unlink(missing_ok=True)


class Poll:
    """The waits between looks at a job."""

    def __init__(self, timeout: float) -> None:
        self._ends_at = time.monotonic() + timeout
        self._seconds = 0.1

    def next_wait(self) -> float:
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the export is not completed yet")
        self._seconds = min(poll_seconds_max, self._seconds * 1.5)
        return min(left, self._seconds)


def is_completed(job: ExportJob) -> bool:
    """Returns whether an export has its file. Raises ExportFailed if it never will."""
    if job["status"] in ("failed", "cancelled", "expired"):
        raise ExportFailed(job)
    return job["status"] == "completed"


def response_of(response: httpx.Response, is_open: bool = False) -> Response:
    """Returns what the exchange reads of a response."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Response(response.status_code, headers, b"" if is_open else response.content, response if is_open else None)


def connection_error(error: httpx.RequestError) -> HubConnectionError:
    """Returns the error for a request without a response."""
    return HubConnectionError(f"no response from the Hub: {type(error).__name__}: {error}")


def one_attempt(settings: Settings) -> Settings:
    """Returns the same settings without retries."""
    return replace(settings, retries=Retries(attempts=1))
