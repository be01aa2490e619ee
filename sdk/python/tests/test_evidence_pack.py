"""The verifier of evidence packs: on a real pack, on damaged ones, and on one of the live Hub."""

import copy
import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest

from org_memory_hub import Hub, verify
from org_memory_hub.evidence import PackReport, verify_pack
from org_memory_hub.evidence.pack import FILES
from org_memory_hub.exchange import Call, json_bytes

VECTOR = Path(__file__).parents[3] / "provenance/vectors/evidence-pack.tar.gz"
Files = dict[str, bytes]


def files_in(path: Path) -> Files:
    with tarfile.open(path) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]


def saved(path: Path, entries: list[tuple[tarfile.TarInfo, bytes]], tail: bytes = b"") -> Path:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for info, content in entries:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    path.write_bytes(gzip.compress(data.getvalue() + tail))
    return path


@pytest.fixture
def files() -> Files:
    return files_in(VECTOR)


@pytest.fixture
def verified(tmp_path: Path) -> Callable[..., PackReport]:
    """Verifies a pack of these files. Unless told otherwise, its manifest states their sizes and hashes."""

    def run(files: Files, is_stated: bool = True, keys: Any = None) -> PackReport:
        files = dict(files)
        if is_stated:
            manifest = json.loads(files["manifest.json"])
            for file in manifest["files"]:
                content = files.get(file["name"], b"")
                file.update(size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
            files["manifest.json"] = json.dumps(manifest).encode()
        entries = [(tarfile.TarInfo(name), content) for name, content in files.items()]
        return verify_pack(saved(tmp_path / "pack.tar.gz", entries), keys)

    return run


def reasons(report: PackReport) -> str:
    return "\n".join(failure.reason for failure in report.failures)


def lines(files: Files, name: str = "records.jsonl") -> list[bytes]:
    return files[name].split(b"\n")[:-1]


def joined(rows: list[bytes]) -> bytes:
    return b"".join(row + b"\n" for row in rows)


def keys_of(files: Files) -> Any:
    return verify.parse_key_document(json.loads(files["keys.json"]))


def test_a_sound_pack_verifies_with_its_own_and_with_known_keys(files: Files) -> None:
    own = verify_pack(VECTOR)
    assert (own.verified, own.failures, own.completeness, own.certificates) == (True, [], "enclosed", 3)
    assert own.checked == len(lines(files)) > 10
    assert verify_pack(VECTOR, keys_of(files)).verified


def test_a_pack_of_other_keys_fails(files: Files) -> None:
    other = {"0" * 32: ("example.org/log/other", bytes(32))}
    report = verify_pack(VECTOR, other)
    assert not report.verified
    assert "pack-statement: its signed statement is not signed by a trusted key of the log" in reasons(report)
    assert report.completeness == "not-shown"


def test_a_rebuilt_pack_is_as_sound_as_the_first(files: Files, verified: Callable[..., PackReport]) -> None:
    assert verified(files, is_stated=False).failures == []


@pytest.mark.parametrize("name", ["manifest.json", *FILES])
def test_a_flipped_bit_is_found_in(name: str, files: Files, verified: Callable[..., PackReport]) -> None:
    content = bytearray(files[name])
    if not content:
        assert name.endswith(".jsonl")
        return
    content[len(content) // 2] ^= 1
    assert not verified({**files, name: bytes(content)}, is_stated=False).verified


@pytest.mark.parametrize("name", FILES)
def test_an_absent_file_is_found(name: str, files: Files, verified: Callable[..., PackReport]) -> None:
    del files[name]
    assert reasons(verified(files, is_stated=False)).startswith("pack-malformed: it")


def test_a_removed_record_is_missing(files: Files, verified: Callable[..., PackReport]) -> None:
    rows = lines(files)
    files["records.jsonl"] = joined(rows[:2] + rows[3:])
    found = reasons(verified(files))
    assert "missing: " in found
    assert "file-rows: " in found
    assert "log-root: " in found or "missing: the row of leaf" in found


def test_a_doubled_and_a_moved_record_are_found(files: Files, verified: Callable[..., PackReport]) -> None:
    rows = lines(files)
    doubled = verified({**files, "records.jsonl": joined([rows[0], *rows])})
    assert "duplicate: the same record as line 1" in reasons(doubled)
    moved = verified({**files, "records.jsonl": joined([*rows[1:], rows[0]])})
    assert "out-of-order: " in reasons(moved)


@pytest.mark.parametrize("name", ["records.jsonl", "configuration.jsonl"])
def test_an_altered_record_is_named(name: str, files: Files, verified: Callable[..., PackReport]) -> None:
    rows = lines(files, name)
    index = next(index for index, row in enumerate(rows) if b"content_omitted" not in row)
    record = json.loads(rows[index])
    rows[index] = rows[index].replace(b'"event_kind":"', b'"event_kind":"x', 1)
    report = verified({**files, name: joined(rows)})
    named = [(failure.file, failure.line, failure.record_id) for failure in report.failures if "hash-mismatch" in failure.reason]
    assert named == [(name, index + 1, record["record_id"])]


def test_a_record_without_content_that_states_some_is_found(files: Files, verified: Callable[..., PackReport]) -> None:
    rows = lines(files)
    index = next(index for index, row in enumerate(rows) if b"content_omitted" in row)
    record = {**json.loads(rows[index]), "title": "Forged"}
    rows[index] = json.dumps(record).encode()
    report = verified({**files, "records.jsonl": joined(rows)})
    assert any("hash-mismatch" in each.reason and each.record_id == record["record_id"] for each in report.failures)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"{", "record-malformed"),
        (b"[]", "record-malformed"),
        (b'{"a":1,"a":2}', "record-malformed"),
        (b"\xff", "record-malformed"),
        (b"", "record-malformed"),
        (b'{"record_id":"x"}', "no-provenance"),
        (b'{"provenance_hash":"x","provenance_cosign":"omhc1.AAAA"}', "cosign"),
        (b"[" * 100_000, "record-malformed"),
    ],
)
def test_a_foreign_row_is_found(row: bytes, reason: str, files: Files, verified: Callable[..., PackReport]) -> None:
    report = verified({**files, "records.jsonl": joined([*lines(files), row])})
    assert any(each.reason.startswith(reason) and each.line == report.checked for each in report.failures)


def certificate_with(change: Callable[[dict[str, Any]], None], files: Files) -> tuple[Files, str]:
    rows = lines(files, "deletion-certificates.jsonl")
    certificate = json.loads(rows[1])
    record_id = certificate["record_id"]
    change(certificate)
    rows[1] = json.dumps(certificate).encode()
    return {**files, "deletion-certificates.jsonl": joined(rows)}, record_id


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda each: each.update(purge_reason="Another"), "events_agree"),
        (lambda each: each.update(purged_at="2020-01-01T00:00:00.000000Z"), "events_agree"),
        (lambda each: each.update(tenant_id="other"), "events_agree"),
        (lambda each: each.update(leaf_index=1.5), "well_formed"),
        (lambda each: each.pop("events"), "well_formed"),
        (lambda each: each["events"].pop("purged"), None),
        (lambda each: each["events"]["erased"]["details"].update(reason="Another"), "events_verified"),
        (lambda each: each.update(leaf_hash="A" * 43 + "="), "leaf_in_seal"),
        (lambda each: each.update(log_index=0), "seal_in_log"),
        (lambda each: each.update(seal_note=each["seal_note"].replace("leaves ", "leaves 1")), "seal_signed"),
        (lambda each: each.update(checkpoint="none"), "seal_in_log"),
    ],
)
def test_a_damaged_tombstone_is_named(
    change: Callable[[dict[str, Any]], None], check: str | None, files: Files, verified: Callable[..., PackReport]
) -> None:
    changed, record_id = certificate_with(change, files)
    report = verified(changed)
    found = [each for each in report.failures if each.file == "deletion-certificates.jsonl"]
    if check is None:
        # The erasure event names the event of the purge, and is enough.
        assert found == []
    else:
        assert {(each.line, each.record_id) for each in found} == {(2, record_id)}
        assert any(each.reason.startswith(f"certificate: {check}: ") for each in found)


def with_records_manifest(files: Files, change: Callable[[dict[str, Any]], None]) -> Files:
    manifest = json.loads(files["records.jsonl.manifest.json"])
    change(manifest)
    return {**files, "records.jsonl.manifest.json": json.dumps(manifest).encode()}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda each: each["counts"].update(left_out=0), "manifest-statement: "),
        (lambda each: each["counts"].update(left_out=99), "manifest-counts: "),
        (lambda each: each["file"].update(rows=1), "file-rows: "),
        (lambda each: each["file"].update(sha256="0" * 64), "file-hash: "),
        (lambda each: each["seals"].pop(), "manifest-seals: "),
        (lambda each: each["seals"].__setitem__(0, {"leaf": "A" * 43 + "="}), "seal-lost: "),
        (lambda each: each["seals"].append(each["seals"][0]), "pack-malformed: "),
        (lambda each: each["seals"].append({}), "pack-malformed: "),
        (lambda each: each["log"].update({"from": 1}), "log-root: "),
        (lambda each: each["log"].update(to=0), "log-range: "),
        (lambda each: each["log"].update(tree_size=1), "checkpoint: "),
        (lambda each: each["log"].update(left="none"), "pack-malformed: "),
        (lambda each: each["export"].update(job_id="exp_other"), "records-manifest: "),
        (lambda each: each["export"]["record_types"].remove("decision"), "records-manifest: "),
        (lambda each: each["export"]["filter"].update(record_type=["decision"]), "records-manifest: "),
        (lambda each: each["export"].update(include_provenance=False), "pack-malformed: "),
    ],
)
def test_a_changed_manifest_of_the_records_is_found(
    change: Callable[[dict[str, Any]], None], reason: str, files: Files, verified: Callable[..., PackReport]
) -> None:
    assert reason in reasons(verified(with_records_manifest(files, change)))


def test_leaves_that_are_not_of_their_seal_are_found(files: Files, verified: Callable[..., PackReport]) -> None:
    def blind(manifest: dict[str, Any]) -> None:
        seal = next(each for each in manifest["seals"] if "seal_id" in each)
        seal["blinded"] = {**seal.get("blinded", {}), "63": "A" * 43 + "="}

    assert "blinded-leaves: " in reasons(verified(with_records_manifest(files, blind)))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda each: each["pack"].update(note="Another"), "pack-statement: "),
        (lambda each: each["pack"].update({"from": "2020-01-01T00:00:00.000000Z"}), "records-manifest: "),
        (lambda each: each["pack"].update(to="soon"), "pack-malformed: "),
        (lambda each: each["pack"].pop("job_id"), "pack-malformed: "),
        (lambda each: each["log"].pop("before"), "pack-malformed: "),
        (lambda each: each["log"].update(checkpoint="none"), "checkpoint: "),
        (lambda each: each["log"].update(name="other"), "checkpoint: "),
        (lambda each: each.update(evidence_pack_version=2), "pack-malformed: "),
        (lambda each: each.update(statement=1), "pack-malformed: "),
        (lambda each: each["files"].reverse(), "pack-malformed: its manifest does not list keys.json"),
        (lambda each: each["files"].append(each["files"][0]), "pack-malformed: its manifest does not list"),
    ],
)
def test_a_changed_manifest_is_found(
    change: Callable[[dict[str, Any]], None], reason: str, files: Files, verified: Callable[..., PackReport]
) -> None:
    manifest = json.loads(files["manifest.json"])
    change(manifest)
    report = verified({**files, "manifest.json": json.dumps(manifest).encode()}, is_stated=False)
    assert reason in reasons(report)


def test_a_checkpoint_of_another_time_does_not_enclose_the_period(
    files: Files, verified: Callable[..., PackReport]
) -> None:
    manifest = json.loads(files["manifest.json"])
    log = manifest["log"]
    log["before"] = {"checkpoint": log["checkpoint"], "consistency_path": []}
    found = reasons(verified({**files, "manifest.json": json.dumps(manifest).encode()}, is_stated=False))
    assert "checkpoint-before: the checkpoint from before the period was not signed before it" in found
    log["before"]["consistency_path"] = ["A" * 43 + "="]
    found = reasons(verified({**files, "manifest.json": json.dumps(manifest).encode()}, is_stated=False))
    assert "checkpoint-before: the state of the log in the pack does not continue this checkpoint" in found


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "extra.json", "a" * 100])
def test_another_entry_is_refused(name: str, files: Files, verified: Callable[..., PackReport]) -> None:
    assert reasons(verified({**files, name: b"x"}, is_stated=False)).startswith("pack-malformed: it has")


def test_a_link_an_early_end_a_tail_and_a_bomb_are_refused(files: Files, tmp_path: Path) -> None:
    path = tmp_path / "pack.tar.gz"
    link = tarfile.TarInfo("manifest.json")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    assert "no file of an evidence pack" in reasons(verify_pack(saved(path, [(link, b"")])))
    whole = VECTOR.read_bytes()
    path.write_bytes(whole[:-100])
    assert reasons(verify_pack(path)).startswith("file-damaged: ")
    entries = [(tarfile.TarInfo(name), content) for name, content in files.items()]
    assert "something follows the end" in reasons(verify_pack(saved(path, entries, b"\1" * 512)))
    bomb = [(tarfile.TarInfo("manifest.json"), b" " * (2 * 1024 * 1024))]
    assert "manifest.json has more than 1048576 bytes" in reasons(verify_pack(saved(path, bomb)))
    assert "it is empty" in reasons(verify_pack(saved(path, [])))


def test_a_file_that_is_no_archive_cannot_be_checked(tmp_path: Path) -> None:
    path = tmp_path / "pack.json"
    path.write_text("{}")
    with pytest.raises(ValueError, match="not an evidence pack"):
        verify_pack(path)


def run_command(*arguments: object) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(verify.__file__), *map(str, arguments)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_the_command_runs_alone_and_tells_the_outcomes_apart(files: Files, tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_bytes(files["keys.json"])
    status, output = run_command("--pack", VECTOR, "--keys", keys)
    assert (status, "verified: the evidence pack exp_" in output) == (0, True)
    assert "trust on first use" in run_command("--pack", VECTOR)[1]
    damaged = copy.copy(files)
    damaged["usage.json"] = files["usage.json"].replace(b"0", b"1", 1)
    path = saved(tmp_path / "pack.tar.gz", [(tarfile.TarInfo(name), content) for name, content in damaged.items()])
    status, output = run_command("--pack", path)
    assert status == 1
    assert 'usage.json: "file-hash: usage.json does not have the SHA-256' in output
    assert run_command("--pack", keys)[0] == 2
    assert run_command("--pack", tmp_path / "none.tar.gz")[0] == 2
    assert run_command("--pack", VECTOR, "--bundle", keys)[0] == 2


def test_a_pack_of_the_live_hub_verifies(hub: Hub, tmp_path: Path) -> None:
    body = {"from": "2020-01-01T00:00:00Z", "to": datetime.now(timezone.utc).isoformat(), "include_content": True}
    call: Call[dict[str, Any]] = Call("POST", "/api/v1/hub/evidence-packs", dict, {}, json_bytes(body), None, False)
    job = hub.exports.wait(hub.run(call)["job_id"])
    path = tmp_path / "pack.tar.gz"
    path.write_bytes(httpx.get(job["download_url"]).content)
    report = verify_pack(path)
    assert (report.failures, report.completeness) == ([], "enclosed")
    assert report.checked > 100
