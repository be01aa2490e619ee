"""Verifies records of a pack, and with a manifest, that none of its range of the log is missing."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .. import verify as core
from .certificate import seal_in
from .log import KeyRing, LogRange, problem_with_statement, read_checkpoint, root_of
from .report import Findings

LINE_MAX = 64 * 1024 * 1024
VERIFICATION_CHECKS = {
    "no_active_legal_hold_violation",
    "provenance_cosign_valid",
    "provenance_hash_matches",
    "schema_version_supported",
}
#: The members that a row without the content of its record may have.
WITHOUT_CONTENT = {
    *"content_omitted record_id record_type tenant_id created_at created_by skill_id".split(),
    *"archetype_id user_id event_kind trace_id session_id".split(),
    *core.UNHASHED_MEMBERS,
}


class ManifestError(Exception):
    """Signals a member of a manifest that is missing or not as it must be."""


def lines_of(content: Iterable[bytes]) -> Iterator[bytes]:
    """Cuts a stream into lines. Raises ManifestError for one that is too long for memory."""
    rest = b""
    for chunk in content:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
        if len(rest) > LINE_MAX:
            raise ManifestError(f"a line has more than {LINE_MAX} bytes")
    if rest:
        yield rest


@dataclass(frozen=True)
class Claim:
    """A leaf that a row proves: where it is, and the note of its seal."""

    line: int
    record_id: object
    cosign: dict[str, Any]
    leaf: bytes
    root: bytes
    note: str


class RowVerifier:
    """Verifies rows one by one.

    :param may_omit: the types whose rows may lack content
    :param log_name: the only accepted log; None accepts any log with a known key
    """

    def __init__(self, file: str, keys: KeyRing, findings: Findings, may_omit: object = (), log_name: str | None = None):
        self.file, self.keys, self.findings, self.log_name = file, keys, findings, log_name
        self.may_omit = may_omit if isinstance(may_omit, list) else []
        self.verifier = core.Verifier(keys)
        self.checked = 0

    def fail(self, line: int, record_id: object, reason: str) -> None:
        self.findings.add(reason, self.file, line, record_id)

    def row(self, line: int, text: bytes) -> Claim | None:
        """Returns the claim of a row whose cosignature is valid."""
        self.checked += 1
        try:
            record = core.parse_json(text.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            self.fail(line, None, f"record-malformed: {error}")
            return None
        if not isinstance(record, dict):
            self.fail(line, None, "record-malformed: the row is not a JSON object")
            return None
        record_id, stored_hash, cosign = (
            record.get(name) for name in ("record_id", "provenance_hash", "provenance_cosign")
        )
        if stored_hash is None and cosign is None:
            self.fail(line, record_id, "no-provenance: the row has no hash and no cosignature")
            return None
        cosign = cosign if isinstance(cosign, str) else ""
        is_sealed = True
        for check, reason in self.problems(record, stored_hash, cosign):
            is_sealed = is_sealed and check != "provenance_cosign_valid"
            self.fail(line, record_id, reason)
        return self.claim(line, record_id, stored_hash, cosign) if is_sealed else None

    def problems(self, record: dict[str, Any], stored_hash: object, cosign: str) -> Iterator[tuple[str, str]]:
        if self.is_without_content(record):
            try:
                hash_bytes = core.Verifier.read_hash(stored_hash)
                self.verifier.check_cosign(core.decode_cosign(cosign), hash_bytes, None)
            except core.ProvenanceError as error:
                yield "provenance_cosign_valid", f"{error.code}: {error}"
            return
        for check, code, detail in self.verifier.verify(record, stored_hash, cosign):
            yield check, f"{code}: {detail}"
        if not isinstance(record.get("is_purged", False), bool):
            yield "is_purged", "record-malformed: is_purged is neither true nor false"
        if "verification" in record and not is_verified(record["verification"]):
            yield "verification", "hub-verification: the Hub itself found something wrong with it"

    def is_without_content(self, record: dict[str, Any]) -> bool:
        is_omitted = record.get("content_omitted") is True and record.get("record_type") in self.may_omit
        return is_omitted and WITHOUT_CONTENT.issuperset(record)

    def claim(self, line: int, record_id: object, stored_hash: object, text: str) -> Claim | None:
        cosign = core.decode_cosign(text)
        log_name = self.keys[cosign["key_id"]][0]
        if self.log_name not in (None, log_name):
            self.fail(line, record_id, f"log-foreign: it was sealed in the log {log_name}")
            return None
        leaf = core.leaf_hash(cosign["salt"], core.Verifier.read_hash(stored_hash))
        root = core.root_from_path(cosign["leaf_index"], cosign["leaf_count"], leaf, cosign["path"])
        signed = base64.b64encode(bytes.fromhex(cosign["key_id"])[:4] + cosign["signature"]).decode("ascii")
        note = f"{core.seal_note_text(log_name, cosign, root)}\n— {log_name} {signed}\n"
        return Claim(line, record_id, cosign, leaf, root, note)


def is_verified(verification: object) -> bool:
    if not isinstance(verification, dict) or set(verification) != {"verified", "checks"}:
        return False
    checks = verification["checks"]
    is_complete = isinstance(checks, dict) and set(checks) == VERIFICATION_CHECKS
    return verification["verified"] is True and is_complete and all(value is True for value in checks.values())


def verify_loose_rows(file: str, content: Iterable[bytes], keys: KeyRing, findings: Findings) -> int:
    """Verifies rows without a manifest. Returns their number."""
    rows = RowVerifier(file, keys, findings)
    seen: dict[tuple[str, int], int] = {}
    for line, text in enumerate(lines_of(content), 1):
        claim = rows.row(line, text)
        if claim is None:
            continue
        place = (claim.cosign["seal_id"], claim.cosign["leaf_index"])
        if place in seen:
            rows.fail(line, claim.record_id, f"duplicate: the same record as line {seen[place]}")
        seen.setdefault(place, line)
    return rows.checked


# ── The manifest of the records ──────────────────────────────────────────────


def at(members: dict[str, Any], pointer: str) -> Any:
    value: Any = members
    for name in pointer.split("/")[1:]:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def is_hash(value: object) -> bool:
    try:
        return isinstance(value, str) and len(core.strict_base64(value, "manifest-malformed")) == 32
    except core.ProvenanceError:
        return False


def is_hashes(value: object) -> bool:
    return isinstance(value, list) and all(map(is_hash, value))


def is_hex(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value, re.ASCII) is not None


def is_texts(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(item, str) for item in value))


MANIFEST_FORM: dict[str, Callable[[Any], Any]] = {
    "/manifest_version": lambda value: value == 1,
    "/export": lambda value: isinstance(value, dict),
    "/export/job_id": core.is_text,
    "/export/filter": core.is_object,
    "/export/record_types": lambda value: isinstance(value, list) and is_texts(value),
    "/export/include_provenance": lambda value: value is True,
    "/export/content_omitted": is_texts,
    "/log/name": core.is_text,
    "/log/from": core.is_count,
    "/log/to": core.is_count,
    "/log/tree_size": core.is_count,
    "/log/checkpoint": core.is_text,
    "/log/left": is_hashes,
    "/log/right": is_hashes,
    "/file/sha256": is_hex,
    "/file/size_bytes": core.is_count,
    "/file/rows": core.is_count,
    "/counts/exported": core.is_count,
    "/counts/left_out": core.is_count,
    "/seals_sha256": is_hex,
    "/seals": core.is_list,
    "/statement": core.is_text,
}


@dataclass(frozen=True)
class Seal:
    """An element of `seals`: a seal with rows, or only a note or a leaf."""

    seal_id: str | None
    blinded: dict[int, bytes]
    note: str | None
    leaf: bytes | None


def read_seal(value: object, index: int) -> Seal:
    if isinstance(value, dict):
        if set(value) == {"note"} and isinstance(value["note"], str):
            return Seal(None, {}, value["note"], None)
        if set(value) == {"leaf"} and is_hash(value["leaf"]):
            return Seal(None, {}, None, base64.b64decode(value["leaf"]))
        blinded = value.get("blinded", {})
        is_id = isinstance(value.get("seal_id"), str) and re.fullmatch(
            r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", value["seal_id"], re.ASCII
        )
        if is_id and set(value) <= {"seal_id", "blinded"} and isinstance(blinded, dict):
            if all(re.fullmatch(r"[0-9]|[1-5][0-9]|6[0-3]", name, re.ASCII) for name in blinded):
                if all(map(is_hash, blinded.values())):
                    leaves = {int(name): base64.b64decode(leaf) for name, leaf in blinded.items()}
                    return Seal(value["seal_id"], leaves, None, None)
    raise ManifestError(f"/seals/{index} of the manifest of the records is none of the three kinds")


class RecordsManifest:
    """Reads the manifest of the records. Raises ManifestError; what it says is not yet verified."""

    def __init__(self, document: object) -> None:
        if not isinstance(document, dict):
            raise ManifestError("the manifest of the records is not a JSON object")
        for pointer, is_valid in MANIFEST_FORM.items():
            if not is_valid(at(document, pointer)):
                raise ManifestError(f"{pointer} of the manifest of the records is missing or not as it must be")
        self.members = document
        self.seals = [read_seal(value, index) for index, value in enumerate(document["seals"])]
        self.first, self.end, self.tree_size = (int(at(document, f"/log/{name}")) for name in ("from", "to", "tree_size"))
        self.ordinals = {seal.seal_id: index for index, seal in enumerate(self.seals) if seal.seal_id is not None}
        if len(self.ordinals) != sum(seal.seal_id is not None for seal in self.seals):
            raise ManifestError("the manifest of the records names a seal for the second time")

    def problems(self, keys: KeyRing) -> Iterator[str]:
        members = self.members
        log_name, job_id = at(members, "/log/name"), at(members, "/export/job_id")
        stated = {name: value for name, value in members.items() if name not in ("statement", "seals")}
        digest = core.sha256(core.canonicalize(stated).encode("utf-8")).hex()
        expected = f"orghub/export/v1\nlog {log_name}\nexport {job_id}\nhead {digest}\n"
        problem = problem_with_statement(members["statement"], expected, log_name, keys)
        if problem is not None:
            yield f"manifest-statement: its signed statement {problem}"
        seals = "".join(core.canonicalize(seal) + "\n" for seal in members["seals"])
        if core.sha256(seals.encode("utf-8")).hex() != members["seals_sha256"]:
            yield "manifest-seals: its seals do not have the stated hash"
        if not self.first <= self.end <= self.tree_size:
            yield f"manifest-range: no log entries from {self.first} to {self.end} in a log of {self.tree_size}"
        elif len(self.seals) != self.end - self.first:
            yield f"manifest-seals: it has {len(self.seals)} seals, and the range {self.end - self.first} log entries"

    def root(self, keys: KeyRing) -> bytes:
        """Returns the root in the signed checkpoint. Raises ProvenanceError."""
        checkpoint = read_checkpoint(at(self.members, "/log/checkpoint"), at(self.members, "/log/name"), keys)
        if checkpoint.tree_size != self.tree_size:
            raise core.ProvenanceError("note-malformed", "the checkpoint is of another size of the log")
        return checkpoint.root


class RangeVerifier:
    """Matches rows with the seals of a manifest. Both come in the order of the log."""

    def __init__(self, file: str, manifest: RecordsManifest, keys: KeyRing, findings: Findings) -> None:
        self.file, self.manifest, self.keys, self.findings = file, manifest, keys, findings
        members = manifest.members
        may_omit, log_name = at(members, "/export/content_omitted"), at(members, "/log/name")
        self.rows = RowVerifier(file, keys, findings, may_omit, log_name)
        self.range = LogRange(manifest.first, [base64.b64decode(each) for each in at(members, "/log/left")])
        self.position = 0
        self.claims: dict[int, Claim] = {}
        self.last_leaf = -1
        self.line = 0
        self.left_out = 0

    def verify(self, content: Iterable[bytes]) -> None:
        for self.line, text in enumerate(lines_of(content), 1):
            claim = self.rows.row(self.line, text)
            if claim is not None:
                self.place(claim)
        self.advance_to(len(self.manifest.seals))

    def place(self, claim: Claim) -> None:
        seal_id, leaf_index = claim.cosign["seal_id"], claim.cosign["leaf_index"]
        ordinal = self.manifest.ordinals.get(seal_id)
        if ordinal is None:
            return self.fail(claim, f"not-in-range: its seal {seal_id} is none of the manifest that has rows")
        if ordinal < self.position:
            return self.fail(claim, "out-of-order: it belongs before the row above it")
        self.advance_to(ordinal)
        first = next(iter(self.claims.values()), None)
        if leaf_index in self.claims:
            return self.fail(claim, f"duplicate: the same record as line {self.claims[leaf_index].line}")
        if leaf_index in self.manifest.seals[ordinal].blinded:
            return self.fail(claim, "not-exported: the manifest has its leaf among those that are not in the file")
        if first is not None and first.note != claim.note:
            return self.fail(claim, f"seal-conflict: another seal of the same id as that of line {first.line}")
        if leaf_index < self.last_leaf:
            self.fail(claim, "out-of-order: it belongs before the row above it")
        self.last_leaf = leaf_index
        self.claims[leaf_index] = claim

    def fail(self, claim: Claim, reason: str) -> None:
        self.rows.fail(claim.line, claim.record_id, reason)

    def advance_to(self, ordinal: int) -> None:
        while self.position < ordinal:
            self.range.append(self.settled(self.manifest.seals[self.position]))
            self.position += 1
            self.claims, self.last_leaf = {}, -1
            # Signature checks are shared within a seal only.
            self.rows.verifier.signatures.clear()

    def settled(self, seal: Seal) -> bytes | None:
        """Returns the leaf of the log; None if it is unknown."""
        log_index = self.manifest.first + self.position
        if seal.note is not None:
            return self.settled_note(seal.note)
        if seal.leaf is not None:
            reason = f"seal-lost: the Hub's store no longer has the seal of log entry {log_index}, nor its records"
            self.findings.add(reason, self.file, self.line)
            return seal.leaf
        self.left_out += len(seal.blinded)
        if not self.claims:
            self.lack(f"no row of seal {seal.seal_id} (log entry {log_index}) is here")
            return None
        first = next(iter(self.claims.values()))
        count = first.cosign["leaf_count"]
        known = {**seal.blinded, **{index: claim.leaf for index, claim in self.claims.items()}}
        absent = [index for index in range(count) if index not in known]
        for index in absent:
            self.lack(f"the row of leaf {index + 1} of the {count} of seal {seal.seal_id} is not here")
        is_whole = not absent and len(known) == count
        if not absent and not (is_whole and root_of([known[index] for index in range(count)]) == first.root):
            reason = f"blinded-leaves: the leaves that the manifest gives for seal {seal.seal_id} do not lead to its root"
            self.findings.add(reason, self.file)
        return bytes(core.sha256(b"\0" + first.note.encode("utf-8")))

    def lack(self, what: str) -> None:
        self.findings.add(f"missing: {what}", self.file, self.line)

    def settled_note(self, note: str) -> bytes | None:
        try:
            log_name, _, leaf_count, _ = seal_in(note)
            if log_name == at(self.manifest.members, "/log/name"):
                self.left_out += leaf_count
                return bytes(core.sha256(b"\0" + note.encode("utf-8")))
        except (core.ProvenanceError, ValueError):
            pass
        self.findings.add(f"manifest-seals: /seals/{self.position} has a note that is not of a seal of its log", self.file)
        return None

    def finish(self, size_bytes: int, sha256: str) -> None:
        """Makes the checks that need the end of the file."""
        members, manifest = self.manifest.members, self.manifest
        wrong = list(manifest.problems(self.keys))
        if at(members, "/file/size_bytes") != size_bytes:
            wrong.append(f"file-size: the file has {size_bytes} bytes, and its manifest states another size")
        if at(members, "/file/sha256") != sha256:
            wrong.append("file-hash: the file does not have the SHA-256 that its manifest states")
        if at(members, "/file/rows") != self.rows.checked or at(members, "/counts/exported") != self.rows.checked:
            wrong.append(f"file-rows: the file has {self.rows.checked} rows, and its manifest states another number")
        if self.range.is_known and at(members, "/counts/left_out") != self.left_out:
            wrong.append(f"manifest-counts: {self.left_out} records are left out, and it states another number")
        try:
            root = self.range.root([base64.b64decode(each) for each in at(members, "/log/right")], manifest.tree_size)
            if root != manifest.root(self.keys):
                wrong.append("log-root: the range's seals do not lead to the root in the checkpoint")
        except core.ProvenanceError as error:
            wrong.append(f"checkpoint: {error}")
        for reason in wrong:
            self.findings.add(reason, self.file)
