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
    """Counts of events. `put` = accepted + rejected + lost + pending; `dropped` ones were never taken."""

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
        on_rejected: Callable[[dict[str, Any], dict[str, Any]], None] | None = None,
    ) -> None:
        if not 1 <= count <= _batch_events_max or not 1 <= size <= _batch_bytes_max:
            raise ValueError(f"count must be 1 to {_batch_events_max}, and size 1 to {_batch_bytes_max} bytes")
        if capacity < 1 or capacity_bytes < 1 or seconds < 0 or give_up_seconds < 0:
            raise ValueError("capacity and capacity_bytes must be at least 1, and times not negative")
        self._deliver = deliver
        self._count, self._size, self._seconds = count, size, seconds
        self._capacity, self._capacity_bytes = capacity, capacity_bytes
        self._give_up_seconds = give_up_seconds
        self._on_rejected = on_rejected
        self._reset()
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            reset = weakref.WeakMethod(self._reset)
            os.register_at_fork(after_in_child=lambda: (found := reset()) and found())

    def _reset(self) -> None:
        """Begins empty. A forked process has neither the thread nor the events, which its parent sends."""
        self._condition = threading.Condition()
        self._waiting: deque[tuple[float, bytes]] = deque()
        self._held_bytes = 0
        self._held = 0
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
        if len(encoded) > min(self._capacity_bytes, _batch_bytes_max):
            raise ValueError(f"an event has {len(encoded)} bytes, more than a batch can have")
        with self._condition:
            has_room = self._condition.wait_for(lambda: self._closes_at is not None or self._fits(encoded), timeout)
            if not has_room or self._closes_at is not None:
                self._dropped += 1
                return False
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="org-memory-hub-batcher", daemon=True)
                thread.start()
                self._thread = thread
            self._waiting.append((time.monotonic(), encoded))
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
            return self._condition.wait_for(lambda: self._put - self._held >= until, timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Sends what is left, for at most `timeout` seconds, and takes no more events. May be called again."""
        atexit.unregister(self.close)
        with self._condition:
            self._closes_at = min(self._closes_at or float("inf"), time.monotonic() + timeout)
            self._condition.notify_all()
            thread = self._thread
        if thread is None or thread is threading.current_thread():
            return
        thread.join(timeout)
        with self._condition:
            unsent, self._held, self._held_bytes = self._held, 0, 0
            self._waiting.clear()
            self._lost += unsent
            self._thread = None
        if unsent:
            logger.warning("closed with %d events that could not be sent", unsent)

    @property
    def stats(self) -> BatcherStats:
        with self._condition:
            return BatcherStats(self._put, self._accepted, self._rejected, self._lost, self._dropped, self._held)

    def _fits(self, encoded: bytes) -> bool:
        return self._held < self._capacity and self._held_bytes + len(encoded) <= self._capacity_bytes

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._is_due():
                    if self._closes_at is not None and not self._waiting:
                        return
                    self._condition.wait(self._seconds_until_due())
                batch = self._take()
            accepted = rejected = 0
            try:
                accepted, rejected = self._send(batch)
            except BaseException:  # Later events would wait for a thread that has ended.
                logger.exception("%d events could not be sent", len(batch))
            with self._condition:
                lost = len(batch) - accepted - rejected
                # close() may have given the batch up meanwhile.
                if self._held >= len(batch):
                    self._held -= len(batch)
                    self._held_bytes -= sum(map(len, batch))
                    self._accepted += accepted
                    self._rejected += rejected
                    self._lost += lost
                self._condition.notify_all()

    def _is_due(self) -> bool:
        if not self._waiting:
            return False
        is_full = len(self._waiting) >= self._count or self._held_bytes >= self._size or not self._fits(b"{}")
        is_flushed = self._flush_until > self._put - len(self._waiting)
        return is_full or is_flushed or self._closes_at is not None or self._seconds_until_due() == 0

    def _seconds_until_due(self) -> float | None:
        if not self._waiting:
            return None
        return max(0.0, self._waiting[0][0] + self._seconds - time.monotonic())

    def _take(self) -> list[bytes]:
        batch: list[bytes] = []
        size = 0
        while self._waiting and len(batch) < self._count:
            size += len(self._waiting[0][1]) + 1
            if batch and size > self._size:
                break
            batch.append(self._waiting.popleft()[1])
        return batch

    def _send(self, batch: list[bytes]) -> tuple[int, int]:
        """Sends a batch until it is settled. Returns how many events were accepted and rejected."""
        accepted = rejected = 0
        parts = [batch]
        while parts:
            part = parts.pop()
            if len(part) > 1 and sum(map(len, part)) >= self._refused_bytes:
                middle = (len(part) + 1) // 2
                parts += [part[middle:], part[:middle]]
                continue
            answer = self._answer(part)
            if answer is None:
                continue
            if not isinstance(answer, HubProblem):
                for index, problem in _rejections_of(answer, len(part)).items():
                    self._reject(problem, part[index])
                accepted += answer["accepted"]
                rejected += answer["failed"]
                continue
            # One event spoiled the batch, for example by content in Mode C: send the others without it.
            refused = _events_named_by(answer, len(part))
            if not refused and len(part) > 1:
                # The batch is too large. Later ones of its size are halved at once.
                self._refused_bytes = sum(map(len, part))
                parts.append(part)
                continue
            refused = refused or {0}
            for index in refused:
                self._reject({"slug": answer.slug, "detail": answer.detail}, part[index])
            rejected += len(refused)
            rest = [event for index, event in enumerate(part) if index not in refused]
            parts += [rest] if rest else []
        return accepted, rejected

    def _answer(self, batch: list[bytes]) -> BatchResult | HubProblem | None:
        """Sends events until the Hub answers. Returns its refusal if some or fewer events may pass, None if they are lost."""
        key = uuid.uuid4().hex
        began = time.monotonic()
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._deliver(batch, key)
            except HubError as error:
                if isinstance(error, PayloadTooLarge) or _events_named_by(error, len(batch)):
                    return error  # type: ignore[return-value]
                if not self._wait_to_retry(error, attempt, began):
                    logger.warning("%d events could not be sent: %s", len(batch), error)
                    return None
            except Exception:
                logger.exception("%d events could not be sent", len(batch))
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
        """Waits before the next attempt. Returns False if none can help, or the time is over."""
        # A proxy responds without a problem document, and knows nothing of the events.
        if isinstance(error, HubProblem) and error.slug and error.status in _final_statuses:
            return False
        asked = getattr(error, "retry_after", None) or 0.0
        seconds = max(asked, random.uniform(0, min(60.0, 0.5 * 2 ** min(attempt, 10))))
        now = time.monotonic()
        if now + seconds > began + self._give_up_seconds:
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
