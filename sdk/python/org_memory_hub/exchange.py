"""The protocol of calls, without input or output: generators yield effects, and a client carries them out.

`Hub` and `AsyncHub` differ only in how they carry out the three effects. Tokens, retries and the reading of responses
are here, once.
"""

import json
import random
import time
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from .errors import HubConnectionError, HubProblem, UnexpectedResponse, problem_of
from .settings import Settings

T = TypeVar("T")
Scalar = str | int | float | bool | datetime | None

_retried_statuses = frozenset((429, 500, 502, 503, 504))
_token_margin_seconds = 60


@dataclass(frozen=True)
class Request:
    """An HTTP request."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Response:
    """An HTTP response. The names in `headers` are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes = b""
    stream: Any = None
    """The open response of a download, instead of `content`."""


@dataclass(frozen=True)
class Send:
    """Effect: send the request. The result is a Response; HubConnectionError is thrown in if none arrives."""

    request: Request
    is_streamed: bool = False


@dataclass(frozen=True)
class Wait:
    """Effect: wait for some seconds."""

    seconds: float


@dataclass(frozen=True)
class NeedToken:
    """Effect: get an access token other than the rejected one. The result is the token."""

    rejected: str | None


Steps = Generator[Send | Wait | NeedToken, Any, T]


@dataclass(frozen=True)
class Call(Generic[T]):
    """One operation of the Hub. `is_repeatable` says whether sending it twice has the effect of once."""

    method: str
    path: str
    read: Callable[[Any], T]
    query: Mapping[str, Scalar] = field(default_factory=dict)
    content: bytes | None = None
    idempotency_key: str | None = None
    is_repeatable: bool = True


class Credentials:
    """The access token of an account, which is renewed before it expires."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._token: str | None = None
        self._renew_at = 0.0

    def current(self, rejected: str | None) -> str | None:
        """Returns the token, or None if a new one is needed."""
        is_good = self._token != rejected and self._clock() < self._renew_at
        return self._token if is_good else None

    def accept(self, token: str, lifetime: float) -> None:
        """Keeps a new token. One that ends with its account may be short: it is used for half its lifetime."""
        self._token = token
        self._renew_at = self._clock() + max(lifetime - _token_margin_seconds, lifetime / 2)


class Exchange:
    """Turns calls into steps."""

    def __init__(self, settings: Settings, credentials: Credentials | None = None) -> None:
        self.settings = settings
        self.credentials = credentials or Credentials()

    def call(self, call: Call[T]) -> Steps[T]:
        """Carries out an operation. Raises HubError."""
        response = yield from self._deliver(lambda token: self._request(call, token), call.is_repeatable)
        return call.read(_document(response))

    def new_token(self) -> Steps[None]:
        """Requests an access token and keeps it."""
        fields = {
            "grant_type": "client_credentials",
            "client_id": self.settings.client_id,
            "client_secret": self.settings.client_secret,
            **({"scope": self.settings.scope} if self.settings.scope else {}),
        }
        headers = {"accept": "application/json", "content-type": "application/x-www-form-urlencoded"}
        request = Request("POST", f"{self.settings.base_url}/api/v1/oauth/token", headers, urlencode(fields).encode())
        response = yield from self._deliver(lambda _: request, is_repeatable=True, needs_token=False)
        document = _document(response)
        if not isinstance(document, dict) or not isinstance(document.get("access_token"), str):
            raise UnexpectedResponse("the token endpoint returned no access_token")
        self.credentials.accept(document["access_token"], float(document.get("expires_in", 0)))

    def open_download(self, url: str) -> Steps[Response]:
        """Opens a file. Its address is its own credential, so no token is sent."""
        if urlsplit(url).scheme not in ("http", "https"):
            raise UnexpectedResponse("a download_url must be an http or https address")
        request = Request("GET", url, {})
        return (yield from self._deliver(lambda _: request, is_repeatable=True, needs_token=False, is_streamed=True))

    def _deliver(
        self,
        request_of: Callable[[str], Request],
        is_repeatable: bool,
        needs_token: bool = True,
        is_streamed: bool = False,
    ) -> Steps[Response]:
        rejected: str | None = None
        attempt = 1
        while True:
            token: str = (yield NeedToken(rejected)) if needs_token else ""
            try:
                response: Response = yield Send(request_of(token), is_streamed)
            except HubConnectionError:
                if not is_repeatable or attempt >= self.settings.retries.attempts:
                    raise
                yield Wait(self._backoff(attempt))
                attempt += 1
                continue
            if 200 <= response.status < 300:
                return response
            if response.status == 401 and needs_token and rejected is None:
                rejected = token  # It was revoked, or the account has changed: once more with a new one.
                continue
            problem = _problem(response)
            yield Wait(self._wait_or_raise(problem, attempt, is_repeatable))
            attempt += 1

    def _wait_or_raise(self, problem: HubProblem, attempt: int, is_repeatable: bool) -> float:
        """Returns the seconds to wait before the next attempt, or raises the problem if a retry cannot help."""
        retries = self.settings.retries
        if not is_repeatable or problem.status not in _retried_statuses or attempt >= retries.attempts:
            raise problem
        if problem.retry_after is None:
            return self._backoff(attempt)
        if problem.retry_after > retries.wait_seconds_max:
            raise problem
        # Clients that were limited together do not return together.
        return problem.retry_after + random.uniform(0, retries.backoff_seconds)

    def _backoff(self, attempt: int) -> float:
        retries = self.settings.retries
        return random.uniform(0, min(retries.wait_seconds_max, retries.backoff_seconds * 2 ** (attempt - 1)))

    def _request(self, call: Call[Any], token: str) -> Request:
        query = urlencode([(name, text_of(value)) for name, value in call.query.items() if value is not None])
        headers = {
            "accept": "application/json",
            "authorization": f"Bearer {token}",
            "x-service-tenant": self.settings.tenant,
            "x-service-request-id": _uuid7(),
        }
        if call.content is not None:
            headers["content-type"] = "application/json"
        if call.idempotency_key is not None:
            headers["idempotency-key"] = call.idempotency_key
        url = self.settings.base_url + call.path + (f"?{query}" if query else "")
        return Request(call.method, url, headers, call.content)


def text_of(value: Scalar) -> str:
    """Returns the text of a value in a query or an event. Times need a zone and become UTC."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("a time must have a time zone, for example datetime.now(timezone.utc)")
        return value.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return str(value)


def json_bytes(value: Any) -> bytes:
    """Returns compact JSON. Raises ValueError for NaN and infinities, which JSON does not have."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def path_segment(text: str) -> str:
    """Returns an id as one segment of a path. Raises ValueError for those that would be another path."""
    if text in ("", ".", ".."):
        raise ValueError("an id must not be empty, '.' or '..'")
    return quote(text, safe="")


def _document(response: Response) -> Any:
    try:
        return json.loads(response.content) if response.content else None
    except ValueError:
        raise UnexpectedResponse(f"the response ({response.status}) is not JSON: is base_url the Hub's address?") from None


def _problem(response: Response) -> HubProblem:
    try:
        document = json.loads(response.content)
    except ValueError:
        document = {}
    retry_after = _seconds_of(response.headers.get("retry-after"))
    return problem_of(response.status, document if isinstance(document, dict) else {}, retry_after)


def _seconds_of(retry_after: str | None) -> float | None:
    """Reads a Retry-After header: seconds or a date (RFC 9110 section 10.2.3)."""
    if retry_after is None:
        return None
    if retry_after.strip().isascii() and retry_after.strip().isdigit():
        return float(retry_after[:12])
    try:
        date = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=timezone.utc)
    return max(0.0, (date - datetime.now(timezone.utc)).total_seconds())


def _uuid7() -> str:
    milliseconds = time.time_ns() // 1_000_000
    bits = (milliseconds << 80) | (random.getrandbits(80))
    bits = bits & ~(0xF << 76) | (0x7 << 76)
    return str(uuid.UUID(int=bits & ~(0x3 << 62) | (0x2 << 62)))
