"""The spool on disk: what the batcher took survives its process, and is sent once."""

import errno
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import pytest
from test_batcher import Receiver

from org_memory_hub import Batcher, HubConnectionError

kills = int(os.environ.get("SPOOL_KILLS", "6"))


class Away(Receiver):
    """A Hub that cannot be reached."""

    def __call__(self, events: Sequence[bytes], key: str) -> Any:
        self.keys.append(key)
        raise HubConnectionError("away")


def files_of(spool: Path) -> list[Path]:
    return sorted(path for path in spool.rglob("*") if path.name.endswith((".part", ".events.jsonl")))


def test_events_that_were_not_sent_are_sent_by_the_next_process_under_their_key(tmp_path: Path) -> None:
    away = Away()
    first = Batcher(away, spool=tmp_path, count=2, seconds=60)
    for n in range(5):
        assert first.put({"n": n})
    first.close(timeout=1)
    assert (first.stats.pending, first.stats.lost) == (5, 0) and not first.flush(0)
    assert not first.put({"n": 5})
    files = files_of(tmp_path)
    assert len(files) == 3 and {path.stat().st_mode & 0o777 for path in files} == {0o600}
    # A process that is killed leaves half a line.
    with files[-1].open("ab") as file:
        file.write(b'{"n":')
    receiver = Receiver()
    second = Batcher(receiver, spool=tmp_path)
    assert second.flush(30)
    assert receiver.batches == [[0, 1], [2, 3], [4]] and receiver.keys[0] == away.keys[0]
    assert (second.stats.put, second.stats.accepted, second.stats.pending) == (5, 5, 0)
    assert files_of(tmp_path) == []
    second.close()
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_processes_share_a_directory(tmp_path: Path) -> None:
    receiver, other = Receiver(), Receiver()
    receiver.opened.clear()
    first = Batcher(receiver, spool=tmp_path, seconds=0)
    assert first.put({"n": 1})
    # The files of a live process stay its own.
    second = Batcher(other, spool=tmp_path, seconds=0)
    assert second.put({"n": 2}) and second.flush(30)
    child = os.fork()
    if child == 0:
        other.opened.set()
        sent = second.put({"n": 3}) and second.flush(30)
        os._exit(0 if sent and other.batches[1:] == [[3]] and second.stats.put == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    receiver.opened.set()
    assert first.flush(30)
    assert receiver.batches == [[1]] and other.batches == [[2]]
    first.close()
    second.close()


def test_the_parts_of_a_batch_keep_their_keys(tmp_path: Path) -> None:
    from org_memory_hub.errors import problem_of

    too_large = problem_of(413, {})
    refused = problem_of(400, {"type": "x/errors/content-not-allowed", "errors": [{"pointer": "/events/0/metadata"}]})
    keys: list[list[str]] = []
    for last in (HubConnectionError("away"), None):
        receiver = Receiver(too_large, refused, *([last] * 50 if last else []))
        batcher = Batcher(receiver, spool=tmp_path, seconds=60)
        if last:
            for n in range(4):
                batcher.put({"n": n})
            batcher.close(timeout=1)
        else:
            assert batcher.flush(30) and receiver.batches == [[1], [2, 3]]
            batcher.close()
        keys.append(list(dict.fromkeys(receiver.keys))[:3])
    whole = keys[0][0]
    assert keys[0] == keys[1] == [whole, f"{whole}a", f"{whole}a.1"]


def test_a_full_spool_or_disk_refuses_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    batcher = Batcher(Away(), spool=tmp_path, spool_bytes=1024 * 1024, seconds=60)
    event = {"text": "x" * 500_000}
    assert batcher.put(event) and batcher.put(event)
    assert not batcher.put(event, timeout=0)
    with pytest.raises(ValueError, match="more than a batch"):
        batcher.put({"text": "x" * 1024 * 1024})

    def no_space(file: int, line: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", no_space)
    assert not batcher.put({"n": 1})
    monkeypatch.undo()
    assert "No space left" in caplog.text
    assert (batcher.stats.put, batcher.stats.dropped) == (2, 2)
    batcher.close(timeout=0.1)
    with pytest.raises(ValueError, match="spool_bytes"):
        Batcher(Away(), spool=tmp_path, spool_bytes=1)


def test_a_file_that_another_program_deleted_is_counted_as_lost(tmp_path: Path) -> None:
    receiver = Receiver()
    receiver.opened.clear()
    batcher = Batcher(receiver, spool=tmp_path, count=1, seconds=60)
    for n in range(3):
        batcher.put({"n": n})
    files_of(tmp_path)[-1].unlink()
    receiver.opened.set()
    assert batcher.flush(30)
    assert (receiver.batches, batcher.stats.lost, batcher.stats.accepted) == ([[0], [1]], 1, 2)
    batcher.close()


class Sink:
    """A Hub that stores each key once. Every third request is refused, and every fifth breaks after it was stored, until the end."""

    def __init__(self) -> None:
        self.stored: list[str] = []
        self.answers: dict[str, bytes] = {}
        self.requests = 0
        self.is_faulty = True
        lock, sink = Lock(), self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.path == "/api/v1/oauth/token":
                    return self.answer(200, b'{"access_token":"token","expires_in":3600}')
                with lock:
                    sink.requests += sink.is_faulty
                    at = sink.requests if sink.is_faulty else 1
                    if at % 3 == 0:
                        return self.answer(503, b"{}")
                    answer = sink.store(self.headers["idempotency-key"], body)
                if at % 5 != 0:
                    self.answer(201, answer)

            def answer(self, status: int, content: bytes) -> None:
                self.send_response(status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, daemon=True).start()

    def store(self, key: str, body: bytes) -> bytes:
        if key not in self.answers:
            events = json.loads(body)["events"]
            self.stored += [event["session_id"] for event in events]
            self.answers[key] = json.dumps({"accepted": len(events), "failed": 0, "records": []}).encode()
        return self.answers[key]


program = """
import os, sys, time
from org_memory_hub import Hub
address, spool, log, name = sys.argv[1:]
hub = Hub(address, "acme", "id", "secret", batching={"spool": spool, "count": 20, "seconds": 0.005})
if name == "drain":
    sys.exit(not hub.telemetry.flush(300) or hub.close())
file = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
n = 0
while True:
    if hub.telemetry.put({"session_id": f"{name}.{n}"}):
        os.write(file, f"{name}.{n}\\n".encode())
    n += 1
    time.sleep(0.0002)
"""


def test_kill_9_loses_nothing_that_put_took_and_stores_nothing_twice(tmp_path: Path) -> None:
    sink = Sink()
    logs: list[Path] = []

    def start(name: str) -> "subprocess.Popen[bytes]":
        log = tmp_path / f"{name}.log"
        logs.append(log)
        address = f"http://127.0.0.1:{sink.server.server_port}"
        return subprocess.Popen([sys.executable, "-c", program, address, str(tmp_path / "spool"), str(log), name])

    for n in range(kills):
        # Two processes with one directory.
        running = [start(f"{n}a"), start(f"{n}b")]
        for child, log in zip(running, logs[-2:], strict=True):
            while child.poll() is None and not (log.exists() and log.stat().st_size):
                time.sleep(0.01)
        time.sleep(random.uniform(0, 0.2))
        for child in running:
            child.kill()
            assert child.wait() == -9
    sink.is_faulty = False
    assert start("drain").wait() == 0
    sink.server.shutdown()
    sink.server.server_close()
    taken = [line for log in logs if log.exists() for line in log.read_text().split("\n")[:-1]]
    assert len(taken) > 2 * kills
    assert set(taken) - set(sink.stored) == set()
    assert len(sink.stored) == len(set(sink.stored))
    assert files_of(tmp_path / "spool") == []
