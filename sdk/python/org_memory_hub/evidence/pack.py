"""Verifies an evidence pack offline, as `hub verify` does: docs/evidence-packs.md specifies it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from .. import verify as core
from .archive import ArchiveError, Entry, entries
from .certificate import verify_certificate
from .log import Checkpoint, KeyRing, is_continued, problem_with_statement, read_checkpoint, trusted_keys
from .report import Failure, Findings
from .rows import ManifestError, RangeVerifier, RecordsManifest, at, is_hashes, is_hex, lines_of, verify_loose_rows

#: The files behind manifest.json, in the order of the archive.
FILES = (
    "keys.json records.jsonl.manifest.json records.jsonl sign-ins.jsonl configuration.jsonl retention-changes.jsonl "
    "deletion-certificates.jsonl purged-records.jsonl holds.jsonl retention.json people.jsonl usage.json "
    "verification.json report.html"
).split()
RECORD_TYPES = {"output", "artifact", "decision", "governance_event", "telemetry_event", "skill_definition"}
MANIFEST_MAX = 1024 * 1024
KEYS_MAX = 16 * 1024 * 1024
#: A manifest of records consists of hashes, which do not compress: one that unpacks to much more was not written by the Hub.
RECORDS_MANIFEST_MIN, PACKED_RATIO_MAX = 16 * 1024 * 1024, 20


@dataclass
class PackReport:
    """The result of a verification."""

    #: The first 10,000 failures; `failure_count` counts all.
    failures: list[Failure]
    failure_count: int
    #: Number of rows in records.jsonl.
    checked: int
    certificates: int
    #: `enclosed`: by checkpoints from before and after the period, or from the first entry of the log on; else
    #: `open-start` or `not-shown`.
    completeness: str
    #: The parsed manifest.json; None if it cannot be read.
    manifest: dict[str, Any] | None = field(repr=False)

    @property
    def verified(self) -> bool:
        return self.failure_count == 0


def verify_pack(path: str | os.PathLike[str], keys: KeyRing | None = None) -> PackReport:
    """Verifies the archive of an evidence pack as a stream, without unpacking it.

    :param keys: the trusted keys, as `parse_key_document` reads them; by default those that the pack brings, which shows
        that the pack is whole, not who made it
    Raises OSError if the file cannot be read, and ValueError if it is not gzip.
    """
    with open(path, "rb") as file:
        if file.read(2) != b"\x1f\x8b":
            raise ValueError("the file is not an evidence pack, which is a .tar.gz archive")
    verifier = PackVerifier(keys, RECORDS_MANIFEST_MIN + PACKED_RATIO_MAX * os.path.getsize(path))
    try:
        with gzip.open(path, "rb") as content:
            for entry in entries(content):
                verifier.take(entry)
        verifier.end()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        verifier.findings.add(f"file-damaged: {error}")
    except (ArchiveError, ManifestError, core.ProvenanceError, ValueError, RecursionError) as error:
        verifier.findings.add(f"pack-malformed: {error}")
    return verifier.result()


class Measured:
    """Passes content on, and takes its size and hash."""

    def __init__(self, content: Iterator[bytes]) -> None:
        self.content, self.size, self.digest = content, 0, hashlib.sha256()

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self.content:
            self.size += len(chunk)
            self.digest.update(chunk)
            yield chunk


class PackVerifier:
    def __init__(self, pinned: KeyRing | None, records_manifest_max: int) -> None:
        self.findings = Findings()
        self.pinned, self.records_manifest_max = pinned, records_manifest_max
        self.keys: KeyRing = {}
        self.manifest: dict[str, Any] | None = None
        self.records: RecordsManifest | None = None
        self.size_before: int | None = None
        self.size_after: int | None = None
        self.position = self.checked = self.certificates = 0
        self.has_records = False

    def take(self, entry: Entry) -> None:
        if self.manifest is None:
            self.take_manifest(entry)
            return
        stated = self.manifest["files"][self.position] if self.position < len(FILES) else None
        if stated is None or stated["name"] != entry.name:
            expected = stated["name"] if stated else "no further file"
            raise ArchiveError(f"it has {entry.name} where its manifest lists {expected}")
        if stated["size_bytes"] != entry.size:
            raise ArchiveError(f"{entry.name} has {entry.size} bytes, and the manifest states another size")
        content = Measured(entry.content)
        self.verify(entry.name, entry.size, content)
        if content.digest.hexdigest() != stated["sha256"]:
            self.findings.add(f"file-hash: {entry.name} does not have the SHA-256 that the manifest states", entry.name)
        self.position += 1

    def end(self) -> None:
        if self.manifest is None:
            raise ArchiveError("it is empty")
        if self.position < len(FILES):
            raise ArchiveError(f"it ends before {', '.join(FILES[self.position :])}")
        if not self.has_records:
            raise ArchiveError("it has no records that are proven")

    def result(self) -> PackReport:
        completeness = "not-shown"
        if self.findings.total == 0 and self.records is not None:
            is_open = self.size_before is None and self.records.first > 0
            completeness = "open-start" if is_open else "enclosed"
        found = self.findings
        return PackReport(
            found.failures, found.total, self.checked, self.certificates, completeness, self.manifest
        )

    def take_manifest(self, entry: Entry) -> None:
        if entry.name != "manifest.json":
            raise ArchiveError("its first file is not manifest.json")
        self.manifest = require_manifest(json_of(entry.name, entry.size, entry.content, MANIFEST_MAX))

    def verify(self, name: str, size: int, content: Measured) -> None:
        if name == "keys.json":
            self.keys = trusted_keys(json_of(name, size, content, KEYS_MAX), self.pinned)
            self.check_manifest()
        elif name == "records.jsonl.manifest.json":
            self.records = RecordsManifest(json_of(name, size, content, self.records_manifest_max))
            self.check_range(self.records)
        elif name == "records.jsonl" and self.records is not None:
            rows = RangeVerifier(name, self.records, self.keys, self.findings)
            rows.verify(content)
            rows.finish(content.size, content.digest.hexdigest())
            self.checked, self.has_records = rows.rows.checked, True
        elif name in ("sign-ins.jsonl", "configuration.jsonl", "retention-changes.jsonl"):
            verify_loose_rows(name, content, self.keys, self.findings)
        elif name == "deletion-certificates.jsonl":
            self.take_certificates(name, content)
        for _ in content:
            pass

    def take_certificates(self, name: str, content: Measured) -> None:
        for line, text in enumerate(lines_of(content), 1):
            self.certificates += 1
            try:
                certificate = core.parse_json(text.decode("utf-8"))
            except (ValueError, RecursionError) as error:
                self.findings.add(f"certificate: {error}", name, line)
                continue
            record_id = certificate.get("record_id") if isinstance(certificate, dict) else None
            for check, detail in verify_certificate(certificate, self.keys):
                self.findings.add(f"certificate: {check}: {detail}", name, line, record_id)

    def check_manifest(self) -> None:
        """Checks the signature of the manifest, and that its checkpoints enclose the period and continue each other."""
        assert self.manifest is not None
        log, pack = self.manifest["log"], self.manifest["pack"]
        stated = {name: value for name, value in self.manifest.items() if name != "statement"}
        digest = core.sha256(core.canonicalize(stated).encode("utf-8")).hex()
        expected = f"orghub/evidence-pack/v1\nlog {log['name']}\npack {pack['job_id']}\nmanifest {digest}\n"
        problem = problem_with_statement(self.manifest["statement"], expected, log["name"], self.keys)
        if problem is not None:
            self.findings.add(f"pack-statement: its signed statement {problem}")
        head = self.checkpoint(log["checkpoint"], "checkpoint")
        if head is None:
            return
        before = self.linked(log["before"], head, "checkpoint-before")
        after = head if log["after"] is None else self.linked(log["after"], head, "checkpoint-after")
        if before is not None:
            self.size_before = before.tree_size
            if before.time_micros is None or before.time_micros > micros_of(pack["from"]):
                self.findings.add("checkpoint-before: the checkpoint from before the period was not signed before it")
        if after is not None:
            self.size_after = after.tree_size
            if after.time_micros is None or after.time_micros < micros_of(pack["to"]):
                self.findings.add("checkpoint-after: the checkpoint from after the period was not signed after it")

    def checkpoint(self, note: str, code: str) -> Checkpoint | None:
        assert self.manifest is not None
        try:
            return read_checkpoint(note, self.manifest["log"]["name"], self.keys)
        except (core.ProvenanceError, ValueError) as error:
            self.findings.add(f"{code}: {error}")
            return None

    def linked(self, link: dict[str, Any] | None, head: Checkpoint, code: str) -> Checkpoint | None:
        checkpoint = None if link is None else self.checkpoint(link["checkpoint"], code)
        if link is None or checkpoint is None or checkpoint.tree_size == 0:
            return checkpoint
        if is_continued(checkpoint, head, [base64.b64decode(each) for each in link["consistency_path"]]):
            return checkpoint
        self.findings.add(f"{code}: the state of the log in the pack does not continue this checkpoint")
        return None

    def check_range(self, records: RecordsManifest) -> None:
        """Checks that the manifest of the records is about this pack, and that its range covers the period."""
        assert self.manifest is not None
        log, pack, members = self.manifest["log"], self.manifest["pack"], records.members
        is_of_pack = (
            at(members, "/export/job_id") == pack["job_id"]
            and at(members, "/log/name") == log["name"]
            and at(members, "/log/checkpoint") == log["checkpoint"]
            and at(members, "/export/filter") == {"created_at__gte": pack["from"], "created_at__lt": pack["to"]}
        )
        if not is_of_pack:
            self.findings.add("records-manifest: the manifest of the records is not about this pack and its period")
        if not RECORD_TYPES.issubset(at(members, "/export/record_types")):
            self.findings.add("records-manifest: the records are not of all types")
        if self.size_before is not None and records.first > self.size_before:
            entries_between = f"entries {self.size_before} to {records.first}"
            self.findings.add(f"log-range: {entries_between} after the checkpoint from before the period are missing")
        if self.size_after is not None and records.end < self.size_after:
            entries_between = f"entries {records.end} to {self.size_after}"
            self.findings.add(f"log-range: {entries_between} before the checkpoint from after the period are missing")


def json_of(name: str, size: int, content: Any, size_max: int) -> dict[str, Any]:
    if size > size_max:
        raise ArchiveError(f"{name} has more than {size_max} bytes")
    document = core.parse_json(b"".join(content).decode("utf-8"))
    if not isinstance(document, dict):
        raise ArchiveError(f"{name} is not a JSON object")
    return document


def require_manifest(manifest: dict[str, Any]) -> dict[str, Any]:
    """Returns a well-formed manifest. Raises ArchiveError: a pack that lists other files proves nothing."""
    pack, log, files = (manifest.get(name) for name in ("pack", "log", "files"))
    is_pack = isinstance(pack, dict) and all(
        isinstance(pack.get(name), str) for name in ("job_id", "tenant_id", "created_at", "created_by", "from", "to")
    )
    is_log = isinstance(log, dict) and all(isinstance(log.get(name), str) for name in ("name", "checkpoint"))
    if manifest.get("evidence_pack_version") != 1 or not is_pack or not is_log:
        raise ArchiveError("manifest.json is not the manifest of an evidence pack of version 1")
    assert isinstance(log, dict)
    if not isinstance(manifest.get("statement"), str):
        raise ArchiveError("manifest.json has no statement")
    for link in (log.get("before", "absent"), log.get("after", "absent")):
        is_link = isinstance(link, dict) and isinstance(link.get("checkpoint"), str)
        if link is not None and not (is_link and is_hashes(link.get("consistency_path"))):
            raise ArchiveError("manifest.json has a checkpoint without its consistency path")
    for file in files if isinstance(files, list) else []:
        if not (isinstance(file, dict) and is_hex(file.get("sha256")) and core.is_count(file.get("size_bytes"))):
            raise ArchiveError("manifest.json has a file without its size and hash")
    if not isinstance(files, list) or [file.get("name") for file in files] != FILES:
        raise ArchiveError(f"its manifest does not list {', '.join(FILES)}, in this order")
    return manifest


def micros_of(time: str) -> int:
    """Returns microseconds since 1970. Raises ValueError for a text that is not UTC with six fractional digits."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", time, re.ASCII):
        raise ValueError("the period of the pack has a malformed time")
    since = datetime.strptime(time[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return int(since.timestamp()) * 1_000_000 + int(time[20:26])


def print_report(path: str, report: PackReport) -> None:
    """Prints a line for each failure, and a summary."""
    for failure in report.failures:
        # As JSON: an id or a text that did not verify may hold anything, terminal escapes included.
        place = " ".join(
            part
            for part in (
                failure.file or "",
                f"line {failure.line}" if failure.line is not None else "",
                f"record {json.dumps(failure.record_id)}" if failure.record_id is not None else "",
            )
            if part
        )
        print(f"{place}: {json.dumps(failure.reason)}" if place else json.dumps(failure.reason))
    print(f"{report.checked} records and {report.certificates} deletion certificates checked; {report.failure_count} failures")
    if report.verified:
        pack = (report.manifest or {}).get("pack", {})
        start = "" if report.completeness == "enclosed" else ", from an open start"
        print(f"verified: the evidence pack {pack.get('job_id')} from {pack.get('from')} to {pack.get('to')}{start}")
    else:
        print(f"NOT verified: {json.dumps(path)}")
