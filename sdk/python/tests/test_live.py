"""Both clients, against a live Hub."""

import asyncio
import json
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from org_memory_hub import (
    AsyncHub,
    AuthenticationFailed,
    Conflict,
    Forbidden,
    Hub,
    NotFound,
    RuleViolated,
    UnexpectedResponse,
    ValidationFailed,
)
from org_memory_hub.client import is_completed
from org_memory_hub.errors import ExportFailed
from org_memory_hub.pages import Pages


class Blocking:
    """Runs the async client from the same tests: each attribute is that of AsyncHub, and each call waits."""

    def __init__(self, target: Any, runner: asyncio.Runner) -> None:
        self._target, self._runner = target, runner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        return Blocking(found, self._runner) if name in ("records", "telemetry", "exports") else self._blocking(found)

    def _blocking(self, method: Any) -> Any:
        async def items(pages: Any) -> list[Any]:
            return [item async for item in pages]

        def run(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            return self._runner.run(items(result) if hasattr(result, "__aiter__") else result)

        return run


@pytest.fixture(scope="module", params=["sync", "async"])
def client(request: pytest.FixtureRequest, account: dict[str, Any]) -> Iterator[Any]:
    if request.param == "sync":
        with Hub(**account) as hub:
            yield hub
    else:
        with asyncio.Runner() as runner:

            async def create() -> AsyncHub:
                return AsyncHub(**account)

            blocking = Blocking(runner.run(create()), runner)
            yield blocking
            blocking.close()


def decision(subject: str, **more: Any) -> dict[str, Any]:
    members = ("decision_id", "decision_outcome", "decision_rationale", "decision_actor_role")
    return {"record_type": "decision", "decision_subject": subject, **{name: "x" for name in members}, **more}


def test_records_are_written_read_verified_linked_and_found(client: Any) -> None:
    word = f"subject{time.time_ns()}"
    first = client.records.write(decision(word))
    second = client.records.write(decision(word, related_records=[first["record_id"]]))
    read = client.records.get(second["record_id"], verify=True)
    assert read["provenance_hash"] == second["provenance_hash"] and read["verification"]["verified"]
    assert client.records.verify(first["record_id"])["verified"]
    related = client.records.related(first["record_id"], depth=2)
    assert [one["record_id"] for one in related["records"]] == [first["record_id"], second["record_id"]]
    assert client.records.proof_bundle(first["record_id"])["bundle_version"] == 1
    found = list(client.search(word, record_type="decision", limit=1))
    assert {one["record"]["record_id"] for one in found} == {first["record_id"], second["record_id"]}


def test_iterators_go_through_all_pages(client: Any) -> None:
    since = datetime.now(timezone.utc)
    written = [client.records.write(decision("page"))["record_id"] for _ in range(5)]
    listed = list(client.records.list(record_type="decision", created_at__gte=since - timedelta(seconds=1), limit=2))
    assert [one["record_id"] for one in listed][-5:] == written


def test_suggestions(client: Any, event: dict[str, Any]) -> None:
    assert event["skill_id"] in [one["id"] for one in client.suggest(event["skill_id"], kind="skill")]


def test_events_one_by_one_and_in_batches(client: Any, event: dict[str, Any]) -> None:
    session = f"batch-{time.time_ns()}"
    mine = {**event, "session_id": session}
    key = f"key-{session}"
    assert client.telemetry.send(mine, idempotency_key=key) == client.telemetry.send(mine, idempotency_key=key)
    with pytest.raises(Conflict):
        client.telemetry.send({**mine, "latency_ms": 1}, idempotency_key=key)
    result = client.telemetry.send_batch([mine, {**mine, "skill_id": "unknown"}, mine])
    assert (result["accepted"], result["failed"], result["errors"][0]["index"]) == (2, 1, 1)
    assert len(list(client.records.list(record_type="telemetry_event", session_id=session))) == 3


def test_the_batcher_and_the_summary(client: Any, event: dict[str, Any]) -> None:
    for _ in range(3):
        assert client.telemetry.put({**event, "llm_model": "m"}, 30)
    assert client.telemetry.flush(60)
    day = datetime.now(timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
    period = {"from_": day - timedelta(days=1), "to": day + timedelta(days=1)}
    invocations, patience = 0, time.monotonic() + 120
    while invocations < 3 and time.monotonic() < patience:  # rollups follow within seconds
        time.sleep(0.2)
        invocations = client.telemetry.summary(**period, group_by="skill", skill_id=event["skill_id"])["totals"]["invocations"]
    assert invocations >= 3
    assert client.telemetry.reconciliation(**period)["rows"]


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_exports(client: Any, tmp_path: Path, format: str) -> None:
    written = client.records.write(decision("export"))["record_id"]
    job = client.exports.start({"record_type": ["decision"]}, format=format)
    assert job["status"] == "queued"
    file = client.exports.download(job["job_id"], tmp_path / f"decisions.{format}")
    assert written in file.read_text()
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    assert job["job_id"] in [each["job_id"] for each in client.exports.list(limit=1)]
    with pytest.raises(Conflict):
        client.exports.cancel(job["job_id"])


def test_problems_are_typed(client: Any, account: dict[str, Any], event: dict[str, Any]) -> None:
    with pytest.raises(NotFound):
        client.records.get("018f0000-0000-7000-8000-000000000000")
    with pytest.raises(ValidationFailed) as raised:
        client.telemetry.send({**event, "latency_ms": 0})
    assert raised.value.slug == "validation-failed" and raised.value.errors[0].pointer == "/latency_ms"
    with pytest.raises(RuleViolated, match="skill"):
        client.telemetry.send({**event, "skill_id": "unknown"})
    with pytest.raises(ValidationFailed):
        list(client.records.list(no_such_filter="x"))


def test_wrong_secret_scope_and_tenant(account: dict[str, Any]) -> None:
    with Hub(**{**account, "client_secret": "wrong"}) as hub, pytest.raises(AuthenticationFailed):
        hub.suggest("x")
    with Hub(**account, scope="telemetry:read") as hub, pytest.raises(Forbidden) as raised:
        hub.records.write(decision("no scope"))
    assert raised.value.slug == "insufficient-scope"
    with Hub(**{**account, "tenant": "other"}) as hub, pytest.raises(Forbidden) as raised:
        hub.suggest("x")
    assert raised.value.slug == "invalid-tenant"


def test_threads_share_one_token(account: dict[str, Any]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with Hub(**account) as hub, ThreadPoolExecutor(8) as threads:
        requested = []
        new_token = hub._exchange.new_token

        def counted() -> Any:
            requested.append(1)
            return new_token()

        hub._exchange.new_token = counted  # type: ignore[method-assign]
        list(threads.map(lambda _: hub.suggest("x"), range(16)))
        assert requested == [1]


def test_a_failed_export_raises() -> None:
    with pytest.raises(ExportFailed):
        is_completed({"job_id": "exp_1", "status": "failed", "estimated_completion_ts": ""})


def test_a_cursor_that_stands_still_ends_the_iteration() -> None:
    pages: Pages[int] = Pages(lambda cursor: {"records": [1], "next_cursor": "same"}, "records")
    with pytest.raises(UnexpectedResponse):
        list(pages)


def test_redirects_are_not_followed_and_files_appear_whole(scripted: Any, tmp_path: Path) -> None:
    async def both(index: int) -> None:
        if index == 0:
            with Hub(**scripted.settings) as hub:
                with pytest.raises(Exception, match="302"):
                    hub.records.get("1")
                with pytest.raises(Exception, match="no response"):
                    hub.exports.download("exp_1", tmp_path / "file")
        else:
            async with AsyncHub(**scripted.settings) as hub_:
                with pytest.raises(Exception, match="302"):
                    await hub_.records.get("1")
                with pytest.raises(Exception, match="no response"):
                    await hub_.exports.download("exp_1", tmp_path / "file")

    for index in range(2):
        job = {"status": "completed", "download_url": f"{scripted.settings['base_url']}/file"}
        scripted.responses = [
            (302, {"location": "https://elsewhere.example.com/"}, b""),
            (200, {}, json.dumps(job).encode()),
            (200, {"content-length": "100", "connection": "close"}, b"half"),
        ]
        asyncio.run(both(index))
        assert list(tmp_path.iterdir()) == []
        assert "authorization" not in scripted.requests[-1][2]
