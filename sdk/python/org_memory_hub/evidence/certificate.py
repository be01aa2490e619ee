"""Verifies deletion certificates; docs/verification.md explains what they prove."""

from __future__ import annotations

import datetime
import json
import re
from typing import Any

from .. import verify as core
from .log import KeyRing, is_signed_by_log

TEXTS = (
    "record_id record_type tenant_id seal_id leaf_hash seal_note checkpoint purged_at purged_by purge_reason erased_at"
).split()
BUFFER = datetime.timedelta(days=30)
SEAL_NOTE = re.compile(
    r"orghub/seal/v1\nlog (\S+)\nseal ([0-9a-f-]{36})\ntime (\d{1,16})\nleaves (\d{1,2})\nroot (\S{44})", re.ASCII
)


class Problem(Exception):
    """States why a check failed."""


def seal_in(note: str) -> tuple[str, str, int, bytes]:
    """Returns (log name, seal id, leaf count, root) of the signed note of a seal. Raises ProvenanceError."""
    match = SEAL_NOTE.fullmatch(note.rpartition("\n\n")[0])
    if match is None or not 1 <= int(match[4]) <= core.SEAL_SIZE_MAX:
        raise core.ProvenanceError("note-malformed", "the note is not that of a seal")
    return match[1], match[2], int(match[4]), core.strict_base64(match[5], "note-malformed")


def verify_certificate(certificate: object, keys: KeyRing) -> list[tuple[str, str]]:
    """Returns failed checks as (check, detail), none if verified."""
    try:
        found, events = read_form(certificate)
    except Problem as problem:
        return [("well_formed", str(problem))]
    failures = []
    steps = {
        "seal_signed": lambda: check_seal(found, keys),
        "leaf_in_seal": lambda: check_leaf(found),
        "seal_in_log": lambda: check_log(found, keys),
        "events_verified": lambda: check_events(found, events, keys),
        "events_agree": lambda: check_statements(found, events),
    }
    for name, check in steps.items():
        try:
            check()
        except (Problem, core.ProvenanceError, ValueError) as error:
            failures.append((name, str(error)))
    return failures


def read_form(certificate: object) -> tuple[dict[str, Any], dict[str, Any]]:
    if not isinstance(certificate, dict):
        raise Problem("a certificate is a JSON object")
    for name in TEXTS:
        if not isinstance(certificate.get(name), str):
            raise Problem(f"/{name} is missing, or not a string")
    for name in ("leaf_index", "log_index", "tree_size"):
        if not core.is_count(certificate.get(name)):
            raise Problem(f"/{name} is missing, or not a count")
    for name in ("leaf_path", "inclusion_path"):
        if not core.PROOF_FORM["path"](certificate.get(name)):
            raise Problem(f"/{name} is missing, or not a path")
    events = certificate.get("events")
    if not isinstance(events, dict) or not isinstance(events.get("erased"), dict):
        raise Problem("/events/erased is not a record")
    if "purged" in events and not isinstance(events["purged"], dict):
        raise Problem("/events/purged is not a record")
    return certificate, events


def check_seal(certificate: dict[str, Any], keys: KeyRing) -> None:
    log_name, seal_id, leaf_count, _ = seal_in(certificate["seal_note"])
    if seal_id != certificate["seal_id"]:
        raise Problem(f"the note is of the seal {seal_id}, not {certificate['seal_id']}")
    if certificate["leaf_index"] >= leaf_count:
        raise Problem(f"the seal has {leaf_count} leaves, and none {certificate['leaf_index']:.0f}")
    if not is_signed_by_log(certificate["seal_note"], log_name, keys):
        raise Problem(f"no known key of the log {log_name} signed the note")


def require_path(index: float, size: float, leaf: bytes, path: list[str], root: bytes) -> None:
    hashes = [core.strict_base64(each, "proof-malformed") for each in path]
    if core.root_from_path(int(index), int(size), leaf, hashes) != root:
        raise Problem("the path does not lead to the root")


def check_leaf(certificate: dict[str, Any]) -> None:
    _, _, leaf_count, root = seal_in(certificate["seal_note"])
    leaf = core.strict_base64(certificate["leaf_hash"], "proof-malformed")
    require_path(certificate["leaf_index"], leaf_count, leaf, certificate["leaf_path"], root)


def check_log(certificate: dict[str, Any], keys: KeyRing) -> None:
    note = certificate["seal_note"]
    log_name = seal_in(note)[0]
    name, tree_size, root = core.parse_checkpoint(certificate["checkpoint"])
    if name != log_name:
        raise Problem(f"the checkpoint is of the log {name}, the seal of {log_name}")
    if tree_size != certificate["tree_size"]:
        raise Problem(f"the checkpoint is of {tree_size} leaves, not {certificate['tree_size']:.0f}")
    if not is_signed_by_log(certificate["checkpoint"], log_name, keys):
        raise Problem(f"no known key of the log {log_name} signed the checkpoint")
    leaf = core.sha256(b"\0" + note.encode("utf-8"))
    require_path(certificate["log_index"], tree_size, leaf, certificate["inclusion_path"], root)


def check_events(certificate: dict[str, Any], events: dict[str, Any], keys: KeyRing) -> None:
    log_name = seal_in(certificate["seal_note"])[0]
    for name in ("erased", "purged"):
        if name not in events:
            continue
        record = events[name]
        stored_hash, cosign = record.get("provenance_hash"), record.get("provenance_cosign")
        cosign = cosign if isinstance(cosign, str) else ""
        failures = core.Verifier(keys).verify(record, stored_hash, cosign)
        if failures:
            raise Problem(f"/events/{name}: " + "; ".join(detail for _, _, detail in failures))
        signer = keys[core.decode_cosign(cosign)["key_id"]][0]
        if signer != log_name:
            raise Problem(f"/events/{name} is of the log {signer}, the seal of {log_name}")


def check_statements(certificate: dict[str, Any], events: dict[str, Any]) -> None:
    stated = {name: certificate[name] for name in ("record_type", "purged_at")}
    stated["reason"] = certificate["purge_reason"]
    members = ("purged_by", "erased_at", "leaf_hash", "seal_id", "leaf_index")
    details = details_of(events["erased"])
    require_event(certificate, events["erased"], "hub.record_hard_deleted", "/events/erased")
    require_members(details, {**stated, **{name: certificate[name] for name in members}}, "/events/erased/details")
    is_repeated = details.get("repeated") is True
    if "purged" not in events:
        if is_repeated:
            return
        # The erasure event names the omitted event and states the rest itself.
        if not isinstance(details.get("purge_event"), str) or not isinstance(details.get("hard_delete_after"), str):
            raise Problem("/events/purged is missing")
        end: str | None = details["hard_delete_after"]
    else:
        purged = events["purged"]
        if "purge_event" in details and purged.get("record_id") != details["purge_event"]:
            raise Problem("/events/purged is not the event that /events/erased names")
        require_event(certificate, purged, "hub.record_purged", "/events/purged")
        require_members(details_of(purged), {**stated, "actor": certificate["purged_by"]}, "/events/purged/details")
        if certificate["purged_at"] >= certificate["erased_at"]:
            raise Problem("it was erased before it was purged")
        end = buffer_end_of(details_of(purged))
    if not is_repeated and (end is None or end > certificate["erased_at"]):
        raise Problem(f"it was erased before its recovery period was over, at {end}")


def require_event(certificate: dict[str, Any], event: dict[str, Any], kind: str, at: str) -> None:
    expected = {
        "created_by": "service:hub",
        "record_type": "governance_event",
        "tenant_id": certificate["tenant_id"],
        "subject": f"record:{certificate['record_id']}",
        "event_kind": kind,
    }
    require_members(event, expected, at)


def require_members(value: dict[str, Any], expected: dict[str, Any], at: str) -> None:
    for name, wanted in expected.items():
        if json.dumps(value.get(name)) != json.dumps(wanted):
            raise Problem(f"{at}/{name} is {json.dumps(value.get(name))}, not {json.dumps(wanted)}")


def details_of(event: dict[str, Any]) -> dict[str, Any]:
    details = event.get("details")
    return details if isinstance(details, dict) else {}


def buffer_end_of(details: dict[str, Any]) -> str | None:
    """Returns the end of the recovery period, 30 days after the purge if the event does not state it."""
    end, purged_at = details.get("hard_delete_after"), details.get("purged_at")
    if isinstance(end, str):
        return end
    if not isinstance(purged_at, str):
        return None
    purged = datetime.datetime.strptime(purged_at[:19], "%Y-%m-%dT%H:%M:%S")
    return (purged + BUFFER).strftime("%Y-%m-%dT%H:%M:%S") + purged_at[19:]
