"""Bounds, back-pressure, retries and the end of the batcher."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from org_memory_hub import Batcher, Hub, HubConnectionError, HubError, UnexpectedResponse
from org_memory_hub.errors import problem_of


class Receiver:
    """Takes batches. A test lists what the first ones get instead, and may hold them back."""

    def __init__(self, *faults: Exception) -> None:
        self.batches: list[list[Any]] = []
        self.keys: list[str] = []
        self.faults = list(faults)
        self.opened = threading.Event()
        self.opened.set()

    def __call__(self, events: Sequence[bytes], key: str) -> Any:
        self.opened.wait()
        self.keys.append(key)
        if self.faults:
            raise self.faults.pop(0)
        self.batches.append([json.loads(event)["n"] for event in events])
        return {"accepted": len(events), "failed": 0, "records": []}


def test_batches_are_bounded_by_count_and_bytes_and_keep_their_order() -> None:
    receiver = Receiver()
    batcher = Batcher(receiver, count=3, size=100, seconds=60)
    receiver.opened.clear()
    for n in range(7):
        assert batcher.put({"n": n})
    for n in range(7, 10):
        assert batcher.put({"n": n, "text": "x" * 60})
    receiver.opened.set()
    assert batcher.flush(30)
    assert [n for batch in receiver.batches for n in batch] == list(range(10))
    assert all(len(batch) <= 3 for batch in receiver.batches)
    assert receiver.batches[-2:] == [[8], [9]]
    assert batcher.stats.accepted == 10 and batcher.stats.pending == 0
    batcher.close()


def test_time_sends_a_batch_that_is_not_full() -> None:
    received = threading.Event()

    def deliver(events: Sequence[bytes], key: str) -> Any:
        received.set()
        return {"accepted": len(events), "failed": 0, "records": []}

    batcher = Batcher(deliver, seconds=0.01)
    batcher.put({"n": 1})
    assert received.wait(30)
    batcher.close()


def test_a_full_batcher_waits_or_refuses() -> None:
    receiver = Receiver()
    receiver.opened.clear()
    batcher = Batcher(receiver, count=1, capacity=2, seconds=0)
    assert batcher.put({"n": 0}) and batcher.put({"n": 1})
    assert not batcher.put({"n": 2}, timeout=0)
    assert batcher.stats.dropped == 1
    waiting = threading.Thread(target=batcher.put, args=({"n": 3},))
    waiting.start()
    receiver.opened.set()
    waiting.join(30)
    assert not waiting.is_alive() and batcher.flush(30)
    assert receiver.batches == [[0], [1], [3]]
    batcher.close()
    assert not batcher.put({"n": 4})


def test_bytes_bound_what_is_held() -> None:
    receiver = Receiver()
    receiver.opened.clear()
    batcher = Batcher(receiver, capacity_bytes=100, seconds=60)
    assert batcher.put({"n": 0, "text": "x" * 60})
    assert not batcher.put({"n": 1, "text": "x" * 60}, timeout=0)
    with pytest.raises(ValueError, match="more than a batch"):
        batcher.put({"n": 2, "text": "x" * 200})
    receiver.opened.set()
    batcher.close()


def test_a_failed_batch_is_repeated_under_its_key() -> None:
    receiver = Receiver(HubConnectionError("broken"), problem_of(503, {}, 0.01))
    batcher = Batcher(receiver, seconds=0)
    batcher.put({"n": 1})
    assert batcher.flush(60)
    assert len(receiver.keys) == 3 and len(set(receiver.keys)) == 1
    assert batcher.stats.accepted == 1
    batcher.close()


@pytest.mark.parametrize(
    "fault", [UnexpectedResponse("no counts of events"), *(problem_of(status, {}) for status in (302, 400, 404, 408, 422))]
)
def test_a_response_that_is_not_the_hubs_is_temporary(
    fault: HubError, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("random.uniform", lambda low, high: 0.0)
    receiver = Receiver(fault)
    batcher = Batcher(receiver, seconds=0)
    batcher.put({"n": 1})
    assert batcher.flush(30)
    assert receiver.batches == [[1]] and len(set(receiver.keys)) == 1
    assert (batcher.stats.accepted, batcher.stats.lost) == (1, 0)
    assert f"sent again later: {fault}" in caplog.text
    batcher.close()


def test_a_defect_does_not_end_the_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Any] = [[], {"accepted": 1, "failed": 1, "errors": 5}, SystemExit()]

    def deliver(events: Sequence[bytes], key: str) -> Any:
        answer = answers.pop(0) if answers else {"accepted": len(events), "failed": 0}
        if isinstance(answer, BaseException):
            raise answer
        return answer

    batcher = Batcher(deliver, seconds=0)
    for n in range(4):
        batcher.put({"n": n})
        assert batcher.flush(30)
    assert (batcher.stats.accepted, batcher.stats.lost, batcher.stats.pending) == (1, 3, 0)
    monkeypatch.setattr(threading.Thread, "start", raise_no_thread)
    other = Batcher(deliver)
    with pytest.raises(RuntimeError):
        other.put({"n": 5})
    monkeypatch.undo()
    assert other.put({"n": 6}) and other.flush(30)
    assert (other.stats.put, other.stats.accepted) == (1, 1)
    other.close()
    batcher.close()


def raise_no_thread(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_one_bad_event_does_not_take_the_others_with_it() -> None:
    document = {"type": "x/errors/content-not-allowed", "errors": [{"pointer": "/events/1/metadata", "detail": "no"}]}
    rejected: list[Any] = []
    receiver = Receiver(problem_of(400, document))
    batcher = Batcher(receiver, seconds=60, on_rejected=lambda problem, event: rejected.append((problem["slug"], event["n"])))
    for n in range(3):
        batcher.put({"n": n})
    assert batcher.flush(30)
    assert receiver.batches == [[0, 2]] and rejected == [("content-not-allowed", 1)]
    assert len(set(receiver.keys)) == 2
    assert (batcher.stats.accepted, batcher.stats.rejected) == (2, 1)
    batcher.close()


@pytest.mark.parametrize("receipts", ["records", "events"])
def test_rejected_events_that_a_response_does_not_list_are_reported(receipts: str) -> None:
    refused = [n for n in range(130) if n not in (7, 120)]

    def deliver(events: Sequence[bytes], key: str) -> Any:
        errors = [{"index": n, "type": "x/errors/skill-not-registered"} for n in refused[:100]]
        counts = {"accepted": 2, "failed": 128, "errors_omitted": 28}
        return {**counts, receipts: [{"index": 7}, {"index": 120}], "errors": errors}

    rejected: list[Any] = []
    batcher = Batcher(deliver, seconds=60, on_rejected=lambda problem, event: rejected.append((event["n"], problem)))
    for n in range(130):
        batcher.put({"n": n})
    assert batcher.flush(30)
    assert [n for n, _ in rejected] == refused
    assert rejected[99][1]["type"].endswith("skill-not-registered") and rejected[100][1]["slug"] == "unknown"
    assert (batcher.stats.accepted, batcher.stats.rejected) == (2, 128)
    batcher.close()


@pytest.mark.parametrize("document", [{}, {"type": "x/errors/payload-too-large", "detail": "The body has more than 1 MiB."}])
def test_a_batch_that_is_too_large_is_halved(document: dict[str, Any]) -> None:
    class Narrow(Receiver):
        def __call__(self, events: Sequence[bytes], key: str) -> Any:
            if sum(map(len, events)) > 100:
                self.keys.append(key)
                raise problem_of(413, document)
            return super().__call__(events, key)

    receiver = Narrow()
    rejected: list[int] = []
    batcher = Batcher(receiver, seconds=60, on_rejected=lambda problem, event: rejected.append(event["n"]))
    for n in range(8):
        batcher.put({"n": n, "text": "x" * (100 if n == 4 else 20)})
    assert batcher.flush(30)
    # Nothing as large as what was refused before is sent in one piece.
    assert receiver.batches == [[0, 1], [2, 3], [5], [6, 7]] and rejected == [4]
    assert len(receiver.keys) == len(set(receiver.keys)) == 7
    assert (batcher.stats.accepted, batcher.stats.rejected, batcher.stats.lost) == (7, 1, 0)
    batcher.close()


def test_what_cannot_be_sent_is_counted() -> None:
    receiver = Receiver(problem_of(404, {}), HubConnectionError("broken"), RuntimeError("a defect"))
    batcher = Batcher(receiver, seconds=0, give_up_seconds=0)
    for n in range(3):
        batcher.put({"n": n})
        assert batcher.flush(30)
    assert (batcher.stats.lost, batcher.stats.pending) == (3, 0)
    batcher.close()
    receiver = Receiver(problem_of(422, {"type": "x/errors/legal-hold"}))
    batcher = Batcher(receiver, seconds=0)
    batcher.put({"n": 3})
    assert batcher.flush(30)
    assert batcher.stats.lost == 1 and len(receiver.keys) == 1
    batcher.close()


def test_closing_ends_the_wait_for_a_hub_that_is_away() -> None:
    receiver = Receiver(*[problem_of(503, {}, 3600)] * 100)
    batcher = Batcher(receiver, seconds=0, give_up_seconds=1e6)
    batcher.put({"n": 1})
    batcher.close(timeout=0.2)
    assert batcher.stats.lost == 1


@pytest.mark.parametrize("options", [{"count": 0}, {"count": 1001}, {"size": 0}, {"capacity": 0}, {"seconds": -1}])
def test_bounds_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Batcher(Receiver(), **options)


def test_events_are_sent_at_the_end_of_a_program(hub: Hub, event: dict[str, Any]) -> None:
    program = (
        "import json, sys; from org_memory_hub import Hub\n"
        "hub = Hub.from_environment(batching={'seconds': 3600})\n"
        "hub.telemetry.put({**json.loads(sys.argv[1]), 'session_id': 'at-exit'})\n"
    )
    subprocess.run([sys.executable, "-c", program, json.dumps(event)], check=True, timeout=120)
    assert len(list(hub.records.list(session_id="at-exit", skill_id=event["skill_id"]))) == 1


def test_a_forked_process_sends_its_own_events_only(account: dict[str, Any], hub: Hub, event: dict[str, Any]) -> None:
    with Hub(**account, batching={"seconds": 3600}) as parent:
        parent.telemetry.put({**event, "session_id": "of-parent"})
        child = os.fork()
        if child == 0:
            parent.telemetry.put({**event, "session_id": "of-child"})
            os._exit(0 if parent.telemetry.flush(60) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for session in ("of-parent", "of-child"):
        assert len(list(hub.records.list(session_id=session, skill_id=event["skill_id"]))) == 1


def test_a_process_that_is_forked_while_a_token_is_requested_gets_its_own(account: dict[str, Any]) -> None:
    with Hub(**account) as parent:
        with parent._token_lock:  # As a thread of the parent that waits for the token.
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                try:
                    parent.suggest("x")
                    os._exit(0)
                finally:
                    os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
