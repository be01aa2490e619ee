"""Collects events and sends them in batches from a thread of its own."""

import atexit
import json
import logging
import os
import random
import re
import threading
import time
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import HubError, HubProblem, PayloadTooLarge
from .exchange import json_bytes
from .shapes import BatchResult
from .spool import Batch, Spool

logger = logging.getLogger("org_memory_hub")

# Problems of the Hub that sending the same events again cannot solve.
_final_statuses = frozenset((400, 409, 413, 422))
_batch_events_max = 1000
_batch_bytes_max = 8 * 1024 * 1024
_unlisted = {
    "slug": "unknown",
    "detail": "The Hub rejected the event. Its response lists the reasons of other events of the batch only.",
}


@dataclass(frozen=True)
class BatcherStats:
    """Counts of events. `put` = accepted + rejected + lost + pending; `dropped` ones were never taken.

    With a spool, `put` includes the events that earlier processes left, and `pending` those that stay there.
    """

    put: int
    accepted: int
    rejected: int
    lost: int
    dropped: int
    pending: int


class Batcher:
    """Sends events in batches, and keeps their order.

    A batch goes when it has `count` events or `size` bytes, or when its first event is `seconds` old. At most `capacity`
    events of `capacity_bytes` are held: `put` then waits, or refuses the event. A failed batch is repeated under its
    idempotency key, at most for `give_up_seconds`. The rest is sent by `close`, and at the end of the process.

    With `spool`, a directory, events are in files instead, at most `spool_bytes` in all, and no batch is given up. A killed
    process loses nothing that `put` has taken: the next one with this directory sends it, once. (A batch that waits for more
    than 24 hours after a request without an answer can be stored twice.) A loss of power costs the newest batch at most.
    Only the user of the process can read the files. Processes may share the directory, also forked workers and containers
    of one machine. Containers of several machines, or on a network share, need a directory each. Windows has no spool.
    """

    def __init__(
        self,
        deliver: Callable[[Sequence[bytes], str], BatchResult],
        *,
        count: int = 500,
        size: int = 1024 * 1024,
        seconds: float = 2.0,
        capacity: int = 10_000,
        capacity_bytes: int = 32 * 1024 * 1024,
        give_up_seconds: float = 3600.0,
        spool: str | os.PathLike[str] | None = None,
        spool_bytes: int = 256 * 1024 * 1024,
        on_rejected: Callable[[dict[str, Any], dict[str, Any]], None] | None = None,
    ) -> None:
        if not 1 <= count <= _batch_events_max or not 1 <= size <= _batch_bytes_max:
            raise ValueError(f"count must be 1 to {_batch_events_max}, and size 1 to {_batch_bytes_max} bytes")
        if spool_bytes < 1024 * 1024:
            raise ValueError("spool_bytes must be at least 1 MiB")
        if capacity < 1 or capacity_bytes < 1 or seconds < 0 or give_up_seconds < 0:
            raise ValueError("capacity and capacity_bytes must be at least 1, and times not negative")
        self._deliver = deliver
        self._count, self._size, self._seconds = count, size, seconds
        self._capacity, self._capacity_bytes = capacity, capacity_bytes
        self._give_up_seconds = give_up_seconds
        self._on_rejected = on_rejected
        self._spool_directory, self._spool_bytes = spool, spool_bytes
        self._spool: Spool | None = None
        self._reset()
        with self._condition:
            self._open_spool()
            if self._sealed:
                self._start_thread()
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            reset = weakref.WeakMethod(self._reset)
            os.register_at_fork(after_in_child=lambda: (found := reset()) and found())

    def _reset(self) -> None:
        """Begins empty. A forked process has neither the thread nor the events, which its parent sends."""
        self._condition = threading.Condition()
        if self._spool is not None:
            self._spool.detach()
            self._spool = None
        self._sealed: deque[Batch] = deque()
        self._open: Batch | None = None
        self._held_bytes = 0
        self._held = 0
        # Events that stay in the spool for the next process.
        self._left = 0
        self._put = self._accepted = self._rejected = self._lost = self._dropped = 0
        self._flush_until = 0
        self._refused_bytes = float("inf")
        self._thread: threading.Thread | None = None
        self._closes_at: float | None = None

    def put(self, event: Mapping[str, Any], timeout: float | None = None) -> bool:
        """Takes an event, and waits for room without a timeout. Returns False if it was refused, which is counted.

        Raises TypeError or ValueError if the event is no JSON, or too large for any batch.
        """
        encoded = json_bytes(dict(event))
        most = self._capacity_bytes if self._spool_directory is None else self._spool_bytes - 1
        if len(encoded) > min(most, _batch_bytes_max):
            raise ValueError(f"an event has {len(encoded)} bytes, more than a batch can have")
        with self._condition:
            try:
                self._open_spool()
                has_room = self._condition.wait_for(lambda: self._closes_at is not None or self._fits(encoded), timeout)
                if not has_room or self._closes_at is not None:
                    self._dropped += 1
                    return False
                self._start_thread()
                self._add(encoded)
            except OSError as error:
                logger.warning("an event was dropped: the spool cannot store it: %s", error)
                self._dropped += 1
                return False
            self._put += 1
            self._held += 1
            self._held_bytes += len(encoded)
            self._condition.notify_all()
            return True

    def flush(self, timeout: float | None = None) -> bool:
        """Sends all events taken so far, and waits until each is settled. Returns False if the timeout passed."""
        with self._condition:
            until = self._put
            self._flush_until = max(self._flush_until, until)
            self._condition.notify_all()
            return self._condition.wait_for(lambda: self._put - self._held >= until, timeout) and self._left == 0

    def close(self, timeout: float = 10.0) -> None:
        """Sends what is left, for at most `timeout` seconds, and takes no more events. May be called again."""
        atexit.unregister(self.close)
        with self._condition:
            self._closes_at = min(self._closes_at or float("inf"), time.monotonic() + timeout)
            self._condition.notify_all()
            thread = self._thread
        if thread is None or thread is threading.current_thread():
            self._close_spool()
            return
        thread.join(timeout)
        with self._condition:
            unsent, self._held, self._held_bytes = self._held, 0, 0
            self._sealed.clear()
            self._open = self._thread = None
            if self._spool is None:
                self._lost += unsent
            else:
                self._left += unsent
        self._close_spool()
        if unsent:
            logger.warning("closed with %d events that could not be sent", unsent)

    @property
    def stats(self) -> BatcherStats:
        with self._condition:
            return BatcherStats(self._put, self._accepted, self._rejected, self._lost, self._dropped, self._held + self._left)

    def _fits(self, encoded: bytes) -> bool:
        if self._spool is not None:
            return self._spool.fits(len(encoded) + 1)
        return self._held < self._capacity and self._held_bytes + len(encoded) <= self._capacity_bytes

    def _open_spool(self) -> None:
        """Opens the spool, also in a forked process, and takes over what ended processes left in it."""
        if self._spool is not None or self._spool_directory is None or self._closes_at is not None:
            return
        self._spool = Spool(self._spool_directory, self._spool_bytes)
        for batch in self._spool.found:
            self._sealed.append(batch)
            self._put += batch.count
            self._held += batch.count
            self._held_bytes += batch.size - batch.count

    def _close_spool(self) -> None:
        with self._condition:
            spool, self._spool = self._spool, None
        if spool is not None:
            spool.close()

    def _start_thread(self) -> None:
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="org-memory-hub-batcher", daemon=True)
            thread.start()
            self._thread = thread

    def _add(self, encoded: bytes) -> None:
        if self._open is not None and self._open.count and self._open.size + len(encoded) > self._size:
            self._seal(self._open)
        if self._open is None:
            self._open = Batch(uuid.uuid4().hex) if self._spool is None else self._spool.open()
        self._open.add(encoded)
        if self._open.count >= self._count or self._open.size >= self._size:
            self._seal(self._open)

    def _seal(self, batch: Batch) -> None:
        batch.seal()
        self._sealed.append(batch)
        self._open = None

    def _run(self) -> None:
        while True:
            with self._condition:
                while (batch := self._take_due()) is None:
                    if self._closes_at is not None:
                        return
                    self._condition.wait(self._seconds_until_due())
            accepted = rejected = 0
            stays = False
            try:
                accepted, rejected = self._send(batch.key, batch.take())
            except _Unanswered:
                stays = True
            except FileNotFoundError:
                logger.warning("%d events are lost: another program deleted their file", batch.count)
            except BaseException:  # Later events would wait for a thread that has ended.
                logger.exception("%d events could not be sent", batch.count)
                stays = self._spool is not None
            with self._condition:
                # close() may have given the batch up meanwhile.
                if self._thread is not threading.current_thread():
                    if not stays:
                        batch.remove()
                    return
                self._held -= batch.count
                self._held_bytes -= batch.size - batch.count
                if stays:
                    self._left += batch.count
                else:
                    batch.remove()
                    self._accepted += accepted
                    self._rejected += rejected
                    self._lost += batch.count - accepted - rejected
                self._condition.notify_all()
                if stays and self._closes_at is not None:
                    return

    def _take_due(self) -> Batch | None:
        if self._sealed:
            return self._sealed.popleft()
        batch = self._open
        if batch is None or batch.count == 0:
            return None
        is_flushed = self._flush_until > self._put - batch.count
        is_due = is_flushed or self._closes_at is not None or not self._fits(b"{}") or self._seconds_until_due() == 0
        if not is_due:
            return None
        self._open = None
        return batch

    def _seconds_until_due(self) -> float | None:
        if self._open is None or self._open.count == 0:
            return None
        return max(0.0, self._open.began + self._seconds - time.monotonic())

    def _send(self, key: str, batch: list[bytes]) -> tuple[int, int]:
        """Sends a batch until it is settled. Returns how many events were accepted and rejected."""
        accepted = rejected = 0
        parts = [_Part(key, batch)] if batch else []
        while parts:
            part = parts.pop()
            events = part.events
            if len(events) > 1 and sum(map(len, events)) >= self._refused_bytes:
                middle = (len(events) + 1) // 2
                parts += [_Part(f"{part.sent_key}b", events[middle:]), _Part(f"{part.sent_key}a", events[:middle])]
                continue
            answer = self._answer(part)
            if answer is None:
                continue
            if not isinstance(answer, HubProblem):
                for index, problem in _rejections_of(answer, len(events)).items():
                    self._reject(problem, events[index])
                accepted += answer["accepted"]
                rejected += answer["failed"]
                continue
            # One event spoiled the batch, for example by content in Mode C: send the others without it.
            refused = _events_named_by(answer, len(events))
            if not refused and len(events) > 1:
                # The batch is too large. Later ones of its size are halved at once.
                self._refused_bytes = sum(map(len, events))
                parts.append(part)
                continue
            refused = refused or {0}
            for index in refused:
                self._reject({"slug": answer.slug, "detail": answer.detail}, events[index])
            rejected += len(refused)
            rest = [event for index, event in enumerate(events) if index not in refused]
            parts += [_Part(part.key, rest, part.round + 1)] if rest else []
        return accepted, rejected

    def _answer(self, part: "_Part") -> BatchResult | HubProblem | None:
        """Sends events until the Hub answers. Returns its refusal if some or fewer events may pass, None if they are lost.

        Raises _Unanswered for events that stay in the spool.
        """
        began = time.monotonic()
        count = len(part.events)
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._deliver(part.events, part.sent_key)
            except HubError as error:
                if isinstance(error, PayloadTooLarge) or _events_named_by(error, count):
                    return error  # type: ignore[return-value]
                is_final = _is_final(error)
                if not is_final and self._wait_to_retry(error, attempt, began):
                    continue
                logger.warning("%d events could not be sent: %s", count, error)
                if self._spool_directory is not None and not is_final:
                    raise _Unanswered from error
                return None
            except Exception as error:
                logger.exception("%d events could not be sent", count)
                if self._spool_directory is not None:
                    raise _Unanswered from error
                return None

    def _reject(self, problem: dict[str, Any], event: bytes) -> None:
        slug = problem.get("slug") or str(problem.get("type", "")).rsplit("/", 1)[-1]
        logger.warning("an event was rejected: %s %s", slug, problem.get("pointer", ""))
        if self._on_rejected is not None:
            try:
                self._on_rejected(problem, json.loads(event))
            except Exception:
                logger.exception("on_rejected failed")

    def _wait_to_retry(self, error: HubError, attempt: int, began: float) -> bool:
        """Waits before the next attempt. Returns False if the time is over."""
        asked = getattr(error, "retry_after", None) or 0.0
        seconds = max(asked, random.uniform(0, min(60.0, 0.5 * 2 ** min(attempt, 10))))
        now = time.monotonic()
        if self._spool_directory is None and now + seconds > began + self._give_up_seconds:
            return False
        if attempt == 1:
            logger.warning("events are kept, and sent again later: %s", error)
        with self._condition:
            # A close bounds the wait, also one that comes during it.
            self._condition.wait_for(lambda: self._closes_at is not None, seconds)
            left = seconds - (time.monotonic() - now)
            if self._closes_at is None or left <= 0:
                return True
            if time.monotonic() + left >= self._closes_at:
                return False
        time.sleep(left)
        return True


@dataclass(frozen=True)
class _Part:
    """Events of a batch that are sent together. The key is the same when the batch is sent again after a crash."""

    key: str
    events: list[bytes]
    # Counts the requests that left out refused events.
    round: int = 0

    @property
    def sent_key(self) -> str:
        return self.key if self.round == 0 else f"{self.key}.{self.round}"


class _Unanswered(Exception):
    """Signals that the Hub has not answered for a batch, which stays in the spool."""


def _is_final(error: HubError) -> bool:
    # A proxy responds without a problem document, and knows nothing of the events.
    return isinstance(error, HubProblem) and bool(error.slug) and error.status in _final_statuses


def _rejections_of(answer: Mapping[str, Any], count: int) -> dict[int, dict[str, Any]]:
    """Returns the rejected events of a stored batch by index. A response has the reasons of the first ones only."""
    errors = ((one.get("index"), one) for one in answer.get("errors", []))
    rejections = {index: one for index, one in errors if isinstance(index, int) and 0 <= index < count}
    # The forwarder of Mode C lists the stored events as `events`.
    receipts = answer.get("records", answer.get("events"))
    if len(rejections) < answer["failed"] and receipts is not None:
        stored = {one["index"] for one in receipts}
        for index in range(count):
            if index not in stored:
                rejections.setdefault(index, _unlisted)
    return rejections


def _events_named_by(error: HubError, count: int) -> set[int]:
    """Returns the indexes of the events that a rejected request names in its pointers."""
    if not isinstance(error, HubProblem) or error.status not in (400, 413, 422):
        return set()
    matches = [re.match(r"/events/(\d{1,4})(?:/|$)", one.pointer) for one in error.errors]
    return {int(match[1]) for match in matches if match and int(match[1]) < count}
