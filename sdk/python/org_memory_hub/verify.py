#!/usr/bin/env python3
"""Verifies records of an Org-Memory Hub, independently of its code.

Written from docs/provenance.md and docs/provenance-log.md; needs only the standard library and the package "cryptography".

    python -m org_memory_hub.verify --keys KEYS.json RECORDS.jsonl   one record, as the API answers it, on each line
    python -m org_memory_hub.verify [--keys KEYS.json] --bundle FILE a proof bundle
    python -m org_memory_hub.verify [--keys KEYS.json] --pack FILE   an evidence pack, a .tar.gz archive
    python -m org_memory_hub.verify --vectors DIR                    the project's test vectors

This file also runs alone, as `python3 verify.py`; --pack needs the folder evidence/ beside it.

Exit status: 0 everything verified, 1 something failed, 2 could not be checked.
"""

import argparse
import base64
import binascii
import datetime
import hashlib
import json
import math
import re
import struct
import sys
from pathlib import Path
from urllib.request import urlopen

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError:
    Ed25519PublicKey = None  # main() says so

SUPPORTED_SCHEMA_VERSIONS = ("1.0",)
UNHASHED_MEMBERS = ("is_purged", "provenance_hash", "provenance_cosign", "verification")
DEPTH_MAX = 128
SEAL_SIZE_MAX = 64
SAFE_INTEGER_MAX = 2**53 - 1


class ProvenanceError(Exception):
    """Signals a defect of an input. docs/provenance.md lists the values of `code`."""

    def __init__(self, code, detail):
        super().__init__(detail)
        self.code = code


# ── Canonical text (RFC 8785) ────────────────────────────────────────────────


def canonicalize(value, depth=0):
    """Returns the canonical text of a parsed JSON value."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, (int, float)):
        return format_number(value)
    if depth == DEPTH_MAX:
        raise ProvenanceError("too-deep", f"nested deeper than {DEPTH_MAX} levels")
    if isinstance(value, list):
        return "[" + ",".join(canonicalize(item, depth + 1) for item in value) + "]"
    if isinstance(value, dict):
        # RFC 8785 section 3.2.3: members are sorted by the UTF-16 code units of their names.
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        members = (quote(name) + ":" + canonicalize(value[name], depth + 1) for name in names)
        return "{" + ",".join(members) + "}"
    raise ProvenanceError("not-json", f"{type(value).__name__} is not a JSON value")


SHORT_ESCAPES = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def quote(text):
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ProvenanceError("not-json", "a string has a lone surrogate")
    return '"' + re.sub(r'[\x00-\x1f"\\]', escape, text) + '"'


def escape(match):
    character = match.group()
    return SHORT_ESCAPES.get(character) or f"\\u{ord(character):04x}"


def format_number(number):
    """Formats a number like ECMAScript's Number::toString (ECMA-262, 6.1.6.1.20): every JSON number is a double."""
    try:
        double = float(number)
    except OverflowError:
        double = math.inf
    if not math.isfinite(double):
        raise ProvenanceError("not-json", "a number is beyond the range of a double")
    if double == 0:
        return "0"
    # repr() gives the shortest digits that read back as the same double; only their layout differs.
    mantissa, _, exponent = repr(abs(double)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading_zeros = len(whole + fraction) - len(digits)
    point = len(whole) - leading_zeros + int(exponent or 0)
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        text = digits + "0" * (point - count)
    elif 0 < point <= 21:
        text = digits[:point] + "." + digits[point:]
    elif -6 < point <= 0:
        text = "0." + "0" * -point + digits
    else:
        shown = digits if count == 1 else digits[0] + "." + digits[1:]
        text = f"{shown}e{point - 1:+d}"
    return "-" + text if double < 0 else text


def parse_json(text):
    """Parses JSON strictly: no duplicate names, no NaN. Raises ValueError or RecursionError."""

    def members(pairs):
        names = dict(pairs)
        if len(names) != len(pairs):
            raise ValueError("a member name occurs twice")
        return names

    def constant(name):
        raise ValueError(f"{name} is not JSON")

    # Integers go through float() as well: Python's have no upper bound, and parsing huge ones is slow.
    return json.loads(text, object_pairs_hook=members, parse_constant=constant, parse_int=float)


# ── Hashes and the tree (RFC 6962) ───────────────────────────────────────────


def sha256(data):
    return hashlib.sha256(data).digest()


def record_hash(canonical):
    return sha256(b"orghub/record/v1\0" + canonical.encode("utf-8"))


def leaf_hash(salt, hash_of_record):
    return sha256(b"\0" + b"orghub/leaf/v1\0" + salt + hash_of_record)


def path_length(index, size):
    length, last = 0, size - 1
    while last > 0:
        length += index % 2 == 1 or index < last
        index, last = index // 2, last // 2
    return length


def root_from_path(index, size, leaf, path):
    if not 0 <= index < size or len(path) != path_length(index, size) or any(len(h) != 32 for h in [leaf, *path]):
        raise ProvenanceError("proof-malformed", "the path does not fit the tree")
    root, rest, last = leaf, iter(path), size - 1
    while last > 0:
        if index % 2 == 1:
            root = sha256(b"\1" + next(rest) + root)
        elif index < last:
            root = sha256(b"\1" + root + next(rest))
        index, last = index // 2, last // 2
    return root


# ── Keys and notes ───────────────────────────────────────────────────────────


def is_continued(first, second, path):
    """Returns whether the second of two trees (size, root) starts with the first (RFC 9162 §2.1.4.2)."""
    (first_size, first_root), (second_size, second_root) = first, second
    if not 1 <= first_size <= second_size or any(len(each) != 32 for each in path):
        return False
    if first_size == second_size:
        return not path and first_root == second_root
    index, last = first_size - 1, second_size - 1
    while index % 2 == 1:
        index, last = index // 2, last // 2
    # If the first tree is complete, its root is a node of the second, and the path omits it.
    rest = path if index == 0 else path[1:]
    if index > 0 and not path:
        return False
    old = new = first_root if index == 0 else path[0]
    for each in rest:
        if last == 0:
            return False
        if index % 2 == 1 or index == last:
            old, new = sha256(b"\1" + each + old), sha256(b"\1" + each + new)
            while index % 2 == 0 and index != 0:
                index, last = index // 2, last // 2
        else:
            new = sha256(b"\1" + new + each)
        index, last = index // 2, last // 2
    return last == 0 and old == first_root and new == second_root


def strict_base64(text, code, url_safe=False):
    """Decodes base64 strictly: no whitespace, exact padding, unused bits zero."""
    try:
        padded = text + "=" * (-len(text) % 4) if url_safe else text
        data = base64.b64decode(padded.encode("ascii"), altchars=b"-_" if url_safe else None, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ProvenanceError(code, f"not base64: {error}") from None
    again = base64.b64encode(data, altchars=b"-_" if url_safe else None).decode("ascii")
    if (again.rstrip("=") if url_safe else again) != text:
        raise ProvenanceError(code, "not canonical base64")
    return data


def key_hash(name, public_key):
    if not name or "+" in name or any(c.isspace() or ord(c) < 32 or 127 <= ord(c) < 160 for c in name):
        raise ProvenanceError("key-malformed", "not a key name")
    if len(public_key) != 32:
        raise ProvenanceError("key-malformed", "an Ed25519 public key has 32 bytes")
    return sha256(name.encode("utf-8") + b"\n\1" + public_key)


def parse_vkey(vkey):
    """Returns (name, public key) of a C2SP verifier key of type Ed25519."""
    match = re.fullmatch(r"([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)", vkey)
    if match is None:
        raise ProvenanceError("key-malformed", "not a verifier key")
    name, key = match[1], strict_base64(match[3], "key-malformed")
    if key[:1] != b"\1" or key_hash(name, key[1:])[:4].hex() != match[2]:
        raise ProvenanceError("key-malformed", "the verifier key has another type or hash")
    return name, key[1:]


def parse_key_document(document):
    """Returns {key id: (log name, public key)}. Recomputes every key id and hash."""
    entries = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise ProvenanceError("key-malformed", "/keys is not an array")
    ring = {}
    for entry in entries:
        if not isinstance(entry, dict):
            raise ProvenanceError("key-malformed", "a key is not an object")
        required = ("key_id", "name", "algorithm", "public_key", "vkey", "created_at")
        if any(not isinstance(entry.get(member), str) for member in required):
            raise ProvenanceError("key-malformed", "a key lacks a member")
        public_key = strict_base64(entry["public_key"], "key-malformed")
        key_id = key_hash(entry["name"], public_key)[:16].hex()
        if entry["algorithm"] != "Ed25519" or entry["key_id"] != key_id or key_id in ring:
            raise ProvenanceError("key-malformed", f"key {entry['key_id']} is not what it says")
        if parse_vkey(entry["vkey"]) != (entry["name"], public_key):
            raise ProvenanceError("key-malformed", f"key {key_id} and its vkey disagree")
        for member in ("created_at", "retired_at"):
            if member in entry:
                require_time(entry[member])
        ring[key_id] = (entry["name"], public_key)
    return ring


def require_time(text):
    if not isinstance(text, str) or not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", text, re.ASCII):
        raise ProvenanceError("key-malformed", "not a UTC time")
    try:
        datetime.datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")
    except ValueError as error:
        raise ProvenanceError("key-malformed", str(error)) from None


def is_signed_by(public_key, message, signature):
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def note_is_signed(note, name, public_key):
    """Returns True if a C2SP signed note has a valid signature of the key."""
    text, _, signatures = note.rpartition("\n\n")
    for line in signatures.removesuffix("\n").split("\n"):
        match = re.fullmatch(r"— (\S+) (\S+)", line)
        if match is None:
            return False
        data = strict_base64(match[2], "note-malformed")
        if match[1] == name and data[:4] == key_hash(name, public_key)[:4]:
            return is_signed_by(public_key, (text + "\n").encode("utf-8"), data[4:])
    return False


# ── Cosignature and verification ─────────────────────────────────────────────

HEAD = struct.Struct(">B16s16sQBB16s64s")
COSIGN_LENGTH_MAX = 426


def decode_cosign(text):
    if not text.startswith("omhc1."):
        raise ProvenanceError("cosign-malformed", "does not begin with omhc1.")
    if len(text) > COSIGN_LENGTH_MAX:
        raise ProvenanceError("cosign-malformed", "too long")
    data = strict_base64(text[len("omhc1.") :], "cosign-malformed", url_safe=True)
    if data and data[0] != 1:
        raise ProvenanceError("cosign-version-unsupported", f"version {data[0]}")
    if len(data) < HEAD.size:
        raise ProvenanceError("cosign-malformed", "too short")
    _, key_id, seal_id, time_micros, count, index, salt, signature = HEAD.unpack_from(data)
    path = data[HEAD.size :]
    if time_micros > SAFE_INTEGER_MAX or not 1 <= count <= SEAL_SIZE_MAX or index >= count:
        raise ProvenanceError("cosign-malformed", "time, leaf count or leaf index out of range")
    if len(path) != 32 * path_length(index, count):
        raise ProvenanceError("cosign-malformed", "a path of the wrong length")
    return {
        "key_id": key_id.hex(),
        "seal_id": format_uuid(seal_id),
        "time_micros": time_micros,
        "leaf_count": count,
        "leaf_index": index,
        "salt": salt,
        "signature": signature,
        "path": [path[i : i + 32] for i in range(0, len(path), 32)],
    }


def format_uuid(data):
    digits = data.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def seal_note_text(log_name, cosign, root):
    return (
        "orghub/seal/v1\n"
        f"log {log_name}\n"
        f"seal {cosign['seal_id']}\n"
        f"time {cosign['time_micros']}\n"
        f"leaves {cosign['leaf_count']}\n"
        f"root {base64.b64encode(root).decode('ascii')}\n"
    )


class Verifier:
    """Verifies records. The records of one seal share one signature check."""

    def __init__(self, keys):
        self.keys = keys
        self.signatures = {}

    def verify(self, record, stored_hash, cosign):
        """Returns failed checks as (check, code, detail), none if verified. `record` is canonical text or a dict."""
        failures = []
        canonical = version = record_error = hash_error = hash_bytes = None
        try:
            canonical, version = self.read_record(record)
        except ProvenanceError as error:
            record_error = error
        try:
            hash_bytes = self.read_hash(stored_hash)
        except ProvenanceError as error:
            hash_error = error
        error = record_error or hash_error
        if error is None and record_hash(canonical) != hash_bytes:
            lost = None if isinstance(record, str) or record.get("content") != "unavailable" else record.get("content_key_id")
            error = (
                ProvenanceError("content-unavailable", f"the content is gone with the key {lost}, as the answer says")
                if isinstance(lost, str)
                else ProvenanceError("hash-mismatch", "the record does not have the stored hash")
            )
        if error is not None:
            failures.append(("provenance_hash_matches", error.code, str(error)))
        try:
            self.check_cosign(decode_cosign(cosign), hash_bytes, hash_error)
        except ProvenanceError as problem:
            failures.append(("provenance_cosign_valid", problem.code, str(problem)))
        if record_error is not None:
            failures.append(("schema_version_supported", record_error.code, str(record_error)))
        elif version not in SUPPORTED_SCHEMA_VERSIONS:
            failures.append(("schema_version_supported", "schema-version-unsupported", "unknown schema_version"))
        return failures

    @staticmethod
    def read_record(record):
        text = record if isinstance(record, str) else None
        try:
            if text is not None:
                # Not strict: text that parse_json() would reject fails the canonical check later.
                record = json.loads(text)
            if not isinstance(record, dict):
                raise ProvenanceError("record-malformed", "not a JSON object")
            if text is None:
                record = {name: value for name, value in record.items() if name not in UNHASHED_MEMBERS}
            canonical = canonicalize(record)
        except (ValueError, RecursionError, ProvenanceError) as error:
            raise ProvenanceError("record-malformed", str(error)) from None
        if text is not None and canonical != text:
            raise ProvenanceError("record-not-canonical", "the text is not canonical")
        return canonical, record.get("schema_version")

    @staticmethod
    def read_hash(text):
        if not isinstance(text, str) or not re.fullmatch(r"sha256:[0-9a-f]{64}", text):
            raise ProvenanceError("hash-malformed", "not sha256: and 64 lowercase hexadecimal digits")
        return bytes.fromhex(text[len("sha256:") :])

    def check_cosign(self, cosign, hash_bytes, hash_error):
        # Uses the stored hash, to distinguish altered content from a forged cosignature.
        if hash_error is not None:
            raise hash_error
        if cosign["key_id"] not in self.keys:
            raise ProvenanceError("key-unknown", f"no public key {cosign['key_id']}")
        log_name, public_key = self.keys[cosign["key_id"]]
        leaf = leaf_hash(cosign["salt"], hash_bytes)
        root = root_from_path(cosign["leaf_index"], cosign["leaf_count"], leaf, cosign["path"])
        statement = (public_key, seal_note_text(log_name, cosign, root), cosign["signature"])
        if statement not in self.signatures:
            self.signatures[statement] = is_signed_by(public_key, statement[1].encode("utf-8"), cosign["signature"])
        if not self.signatures[statement]:
            raise ProvenanceError("signature-invalid", f"key {cosign['key_id']} did not sign this hash")


# ── Proof bundles ────────────────────────────────────────────────────────────

BUNDLE_CHECKS = (
    "well_formed",
    "keys_linked",
    "provenance_hash_matches",
    "provenance_cosign_valid",
    "schema_version_supported",
    "seal_matches",
    "seal_in_log",
    "checkpoint_signed",
)


def is_text(value):
    return isinstance(value, str)


def is_count(value):
    # parse_json() reads integers as floats.
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value == int(value) and 0 <= value <= SAFE_INTEGER_MAX


def is_object(value):
    return isinstance(value, dict)


def is_list(value):
    return isinstance(value, list)


BUNDLE_FORM = {
    "bundle_version": lambda value: is_count(value) and value == 1,
    "record": is_object,
    "provenance_hash": is_text,
    "provenance_cosign": is_text,
    "seal": is_object,
    "inclusion_proof": is_object,
    "checkpoint": is_text,
    "public_keys": lambda value: is_list(value) and value,
    "how_to_verify": is_text,
}
SEAL_FORM = {"seal_id": is_text, "leaf_index": is_count, "leaf_count": is_count, "note": is_text}
PROOF_FORM = {
    "log_index": is_count,
    "tree_size": is_count,
    "leaf_hash": is_text,
    "path": lambda value: is_list(value) and len(value) <= 64 and all(map(is_text, value)),
}
EARLIER_FORM = {"tree_size": is_count, "root_hash": is_text, "path": PROOF_FORM["path"]}
# The members of a record that its hash does not cover. is_purged is stated, not proved.
UNHASHED_FORM = {
    "is_purged": lambda value: isinstance(value, bool),
    "provenance_hash": is_text,
    "provenance_cosign": is_text,
}
KEY_MEMBERS = ("key_id", "name", "algorithm", "public_key", "vkey", "created_at", "retired_at", "succession")


def require_members(value, known, at):
    for name in value:
        if name not in known:
            raise ProvenanceError("bundle-malformed", f"{at}: {json.dumps(name)} is not a member of a bundle of version 1")


def require_form(value, form, at):
    require_members(value, form, at)
    for name, is_valid in form.items():
        if not is_valid(value.get(name)):
            raise ProvenanceError("bundle-malformed", f"{at}/{name} is missing, or not what it must be")


def parse_checkpoint(note):
    """Returns (log name, tree size, root) of a C2SP tlog-checkpoint, without verifying its signatures."""
    text, separator, _ = note.rpartition("\n\n")
    lines = text.split("\n")
    if not separator or len(lines) < 3 or "" in lines or re.search(r"[\x00-\x09\x0b-\x1f]", note):
        raise ProvenanceError("note-malformed", "not a checkpoint")
    root = strict_base64(lines[2], "note-malformed")
    if not re.fullmatch(r"0|[1-9][0-9]{0,15}", lines[1], re.ASCII) or len(root) != 32:
        raise ProvenanceError("note-malformed", "not a checkpoint")
    return lines[0], int(lines[1]), root


class BundleVerifier:
    """Verifies a proof bundle with trusted keys, which may be its own."""

    def __init__(self, bundle, keys):
        self.bundle = bundle
        self.keys = keys

    def verify(self):
        """Returns failed checks as (check, detail), none if verified."""
        try:
            self.require_well_formed()
        except ProvenanceError as error:
            return [(check, str(error)) for check in BUNDLE_CHECKS]
        failures = {}
        record, stored_hash, cosign = (self.bundle[name] for name in ("record", "provenance_hash", "provenance_cosign"))
        for check, code, detail in Verifier(self.keys).verify(record, stored_hash, cosign):
            failures[check] = f"{code}: {detail}"
        steps = {
            "keys_linked": self.check_keys,
            "seal_matches": self.check_seal,
            "seal_in_log": self.check_log,
            "checkpoint_signed": self.check_checkpoint,
        }
        for check, run in steps.items():
            try:
                run()
            except ProvenanceError as error:
                failures[check] = str(error)
        return [(check, failures[check]) for check in BUNDLE_CHECKS if check in failures]

    def require_well_formed(self):
        bundle = self.bundle
        is_continued = "consistency_from" in bundle
        require_form(bundle, {**BUNDLE_FORM, **({"consistency_from": is_object} if is_continued else {})}, "")
        if is_continued:
            require_form(bundle["consistency_from"], EARLIER_FORM, "/consistency_from")
        require_form(bundle["seal"], SEAL_FORM, "/seal")
        require_form(bundle["inclusion_proof"], PROOF_FORM, "/inclusion_proof")
        unhashed = {name: value for name, value in bundle["record"].items() if name in UNHASHED_MEMBERS}
        require_form(unhashed, UNHASHED_FORM, "/record")
        for index, key in enumerate(bundle["public_keys"]):
            if is_object(key):
                require_members(key, KEY_MEMBERS, f"/public_keys/{index}")
        for name in ("provenance_hash", "provenance_cosign"):
            if bundle["record"].get(name) != bundle[name]:
                raise ProvenanceError("bundle-malformed", f"/{name} is not that of /record")

    def check_keys(self):
        entries = self.bundle["public_keys"]
        ring = parse_key_document({"keys": entries})
        log_name = parse_checkpoint(self.bundle["checkpoint"])[0]
        if any(name != log_name for name, _ in ring.values()):
            raise ProvenanceError("key-malformed", f"/public_keys has a key of another log than {log_name}")
        if decode_cosign(self.bundle["provenance_cosign"])["key_id"] not in ring:
            raise ProvenanceError("key-unknown", "/public_keys lacks the key that the cosignature names")
        linked = {entry["key_id"] for entry in entries if "succession" not in entry}
        if len(linked) != 1:
            raise ProvenanceError("key-malformed", f"/public_keys has {len(linked)} keys that no key introduces, not 1")
        rest = [entry for entry in entries if "succession" in entry]
        while rest:
            introduced = [entry for entry in rest if self.is_introduced(entry, ring, linked)]
            if not introduced:
                raise ProvenanceError("key-malformed", f"/public_keys: no key before introduces {rest[0]['key_id']}")
            linked.update(entry["key_id"] for entry in introduced)
            rest = [entry for entry in rest if entry["key_id"] not in linked]

    @staticmethod
    def is_introduced(entry, ring, linked):
        pattern = r"orghub/succession/v1\nlog (\S+)\nfrom ([0-9a-f]{32})\nto (\S+)\ntime (?:0|[1-9][0-9]{0,15})"
        note = entry["succession"]
        match = re.fullmatch(pattern, note.rpartition("\n\n")[0], re.ASCII) if is_text(note) else None
        if match is None or match[1] != entry["name"] or match[2] not in linked:
            return False
        return parse_vkey(match[3]) == ring[entry["key_id"]] and note_is_signed(note, *ring[match[2]])

    def check_seal(self):
        seal = self.bundle["seal"]
        cosign = decode_cosign(self.bundle["provenance_cosign"])
        for name in ("seal_id", "leaf_index", "leaf_count"):
            if seal[name] != cosign[name]:
                raise ProvenanceError("seal-malformed", f"/seal/{name} is not {cosign[name]}, as the cosignature says")
        if cosign["key_id"] not in self.keys:
            raise ProvenanceError("key-unknown", f"no public key {cosign['key_id']}")
        log_name, _ = self.keys[cosign["key_id"]]
        leaf = leaf_hash(cosign["salt"], Verifier.read_hash(self.bundle["provenance_hash"]))
        root = root_from_path(cosign["leaf_index"], cosign["leaf_count"], leaf, cosign["path"])
        signed = base64.b64encode(bytes.fromhex(cosign["key_id"])[:4] + cosign["signature"]).decode("ascii")
        if seal["note"] != f"{seal_note_text(log_name, cosign, root)}\n— {log_name} {signed}\n":
            raise ProvenanceError("seal-malformed", "/seal/note is not the note that hash and cosignature give")

    def check_log(self):
        proof, note = self.bundle["inclusion_proof"], self.bundle["seal"]["note"]
        _, tree_size, root = parse_checkpoint(self.bundle["checkpoint"])
        if proof["tree_size"] != tree_size:
            raise ProvenanceError("proof-malformed", f"/inclusion_proof/tree_size: the checkpoint is of {tree_size} leaves")
        leaf = sha256(b"\0" + note.encode("utf-8", "surrogatepass"))
        if proof["leaf_hash"] != base64.b64encode(leaf).decode("ascii"):
            raise ProvenanceError("proof-malformed", "/inclusion_proof/leaf_hash is not the hash of /seal/note")
        path = [strict_base64(node, "proof-malformed") for node in proof["path"]]
        if root_from_path(int(proof["log_index"]), tree_size, leaf, path) != root:
            raise ProvenanceError("proof-malformed", "the seal does not lead to the root of the log")
        earlier = self.bundle.get("consistency_from")
        if earlier is not None:
            earlier_root, *path = (strict_base64(each, "proof-malformed") for each in [earlier["root_hash"], *earlier["path"]])
            if not is_continued((int(earlier["tree_size"]), earlier_root), (tree_size, root), path):
                raise ProvenanceError("proof-malformed", "/consistency_from: the checkpoint does not continue this state")

    def check_checkpoint(self):
        note = self.bundle["checkpoint"]
        log_name = parse_checkpoint(note)[0]
        try:
            sealed_for = self.keys.get(decode_cosign(self.bundle["provenance_cosign"])["key_id"], (log_name, None))[0]
        except ProvenanceError:
            sealed_for = log_name
        if sealed_for != log_name:
            raise ProvenanceError("note-malformed", f"/checkpoint is of the log {log_name}, the seal of {sealed_for}")
        of_log = [key for key in self.keys.values() if key[0] == log_name]
        if not any(note_is_signed(note, *key) for key in of_log):
            raise ProvenanceError("signature-invalid", f"/checkpoint: no known key of the log {log_name} signed the note")


def is_bundle(value):
    return isinstance(value, dict) and any(name in value for name in ("bundle_version", "inclusion_proof", "public_keys"))


# ── Commands ─────────────────────────────────────────────────────────────────


def verify_bundle(keys_source, path):
    """Prints a line for each failed check, and a summary. Returns the exit status."""
    bundle = parse_json(Path(path).read_text(encoding="utf-8"))
    if not is_bundle(bundle):
        raise ValueError("the file is not a proof bundle")
    version = bundle.get("bundle_version")
    if is_count(version) and version > 1:
        raise ValueError(f"the bundle has version {int(version)}; this program verifies version 1")
    if keys_source is None:
        keys = keys_of_bundle(bundle)
        print("trust on first use: the keys are those of the bundle itself")
    else:
        keys = parse_key_document(parse_json(read_source(keys_source)))
    failures = BundleVerifier(bundle, keys).verify()
    for check, detail in failures:
        print(f"{check}: {json.dumps(detail)}")
    earlier = bundle.get("consistency_from")
    if earlier is not None and not failures:
        size, root = int(earlier["tree_size"]), earlier["root_hash"]
        print(f"the checkpoint continues the log of {size} leaves and the root {root}: compare them with the one you kept")
    print("not proved: is_purged, the times of the keys, and how_to_verify")
    print("NOT verified" if failures else f"verified: the bundle of record {bundle['record'].get('record_id')}")
    return 1 if failures else 0


def verify_pack_file(keys_source, path):
    """Prints a line for each failure of an evidence pack, and a summary. Returns the exit status."""
    # Also where this file runs alone, and its folder is no package.
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from org_memory_hub.evidence.pack import print_report, verify_pack

    keys = None if keys_source is None else parse_key_document(parse_json(read_source(keys_source)))
    if keys is None:
        print("trust on first use: the keys are those of the evidence pack itself")
    report = verify_pack(path, keys)
    print_report(path, report)
    return 0 if report.verified else 1


def keys_of_bundle(bundle):
    try:
        return parse_key_document({"keys": bundle.get("public_keys")})
    except ProvenanceError:
        return {}  # the check of the keys says so


def verify_file(keys_source, records_path):
    """Prints a line for each failure, and a summary. Returns the exit status."""
    verifier = Verifier(parse_key_document(parse_json(read_source(keys_source))))
    checked = failed = 0
    with open(records_path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            checked += 1
            problems, record_id = verify_line(verifier, line)
            failed += bool(problems)
            for check, code, detail in problems:
                # As JSON: an id that did not verify may hold anything, terminal escapes included.
                print(f"line {number} record {json.dumps(record_id)}: {check}: {code}: {detail}")
    print(f"{checked} checked, {checked - failed} verified, {failed} failed")
    if checked == 0:
        raise ValueError("the file has no records")
    return 1 if failed else 0


def verify_line(verifier, line):
    try:
        record = parse_json(line)
    except (ValueError, RecursionError) as error:
        return [("record", "record-malformed", str(error))], None
    if not isinstance(record, dict):
        return [("record", "record-malformed", "not a JSON object")], None
    stored_hash, cosign = (record.get(member) for member in ("provenance_hash", "provenance_cosign"))
    problems = verifier.verify(record, stored_hash, cosign if isinstance(cosign, str) else "")
    return problems, record.get("record_id")


def read_source(source):
    if re.match(r"https?://", source):
        with urlopen(source, timeout=30) as answer:
            return answer.read().decode("utf-8")
    return Path(source).read_text(encoding="utf-8")


class VectorRun:
    """Runs the test vectors and counts the failures."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.checked = 0
        self.failed = 0

    def expect(self, name, actual, expected):
        self.checked += 1
        if actual != expected:
            self.failed += 1
            print(f"{name}: expected {expected!r}, got {actual!r}")

    def load(self, name):
        return json.loads((self.directory / name).read_text(encoding="utf-8"))

    def canonical_text(self):
        for path in sorted((self.directory / "rfc8785/input").iterdir()):
            expected = (self.directory / "rfc8785/output" / path.name).read_text(encoding="utf-8").rstrip("\n")
            self.expect(f"rfc8785 {path.name}", canonicalize(parse_json(path.read_text(encoding="utf-8"))), expected)
        numbers = self.load("rfc8785/numbers.json")
        for bits, text in numbers["finite"] + self.load("own-vectors.json")["numbers"]:
            self.expect(f"double {bits}", format_number(double_of(bits)), text)
        for bits in numbers["not_json"]:
            self.expect(f"double {bits}", code_of(lambda: format_number(double_of(bits))), "not-json")

    def tree(self):
        for case in self.load("rfc6962.json")["inclusion"]:
            leaf, root, *path = (base64.b64decode(h) for h in [case["leafHash"], case["root"], *(case["proof"] or [])])
            try:
                is_proven = root_from_path(case["leafIdx"], case["treeSize"], leaf, path) == root
            except ProvenanceError:
                is_proven = False
            self.expect(case["name"], is_proven, not case["wantErr"])

    def signatures(self):
        for case in self.load("ed25519.json")["tests"]:
            key, message, signature = (bytes.fromhex(case[member]) for member in ("pk", "msg", "sig"))
            self.expect(f"ed25519 {case['tcId']}", is_signed_by(key, message, signature), case["result"] == "valid")
        for case in self.load("signed-note.json")["notes"]:
            self.expect("signed note", note_is_signed(case["note"], *parse_vkey(case["vkey"])), True)
            altered = case["note"].replace("example message", "altered message")
            self.expect("altered note", note_is_signed(altered, *parse_vkey(case["vkey"])), False)

    def own(self):
        vectors = self.load("own-vectors.json")
        keys = parse_key_document({"keys": vectors["keys"]})
        for case in vectors["records"]:
            self.expect(case["name"], canonicalize(case["record"]), case["canonical"])
            self.expect(case["name"], "sha256:" + record_hash(case["canonical"]).hex(), case["provenance_hash"])
        for seal in vectors["seals"]:
            self.seal(seal, keys)
        for case in vectors["verifications"]:
            failures = Verifier(keys).verify(case["record"], case["hash"], case["cosign"])
            self.expect(case["name"], [[check, code] for check, code, _ in failures], case["failures"])
        for case in vectors["key_documents"]:
            code = code_of(lambda: parse_key_document(case["document"]))
            self.expect(f"key document: {case['name']}", code, "key-malformed")

    def bundles(self):
        for case in self.load("own-bundles.json")["bundles"]:
            bundle = case["bundle"]
            keys = parse_key_document({"keys": case["keys"]}) if "keys" in case else keys_of_bundle(bundle)
            failures = BundleVerifier(bundle, keys).verify()
            self.expect(f"bundle: {case['name']}", [check for check, _ in failures], case["failures"])

    def seal(self, seal, keys):
        verifier = Verifier(keys)
        for index, record in enumerate(seal["records"]):
            name = f"seal {seal['name']}, leaf {index}"
            cosign = decode_cosign(record["cosign"])
            self.expect(name, record_hash(record["canonical"]).hex(), record["record_hash"])
            self.expect(name, leaf_hash(cosign["salt"], bytes.fromhex(record["record_hash"])).hex(), record["leaf"])
            root = root_from_path(index, seal["leaf_count"], bytes.fromhex(record["leaf"]), cosign["path"])
            self.expect(name, root.hex(), seal["root"])
            self.expect(name, seal_note_text(keys[seal["key_id"]][0], cosign, root), seal["note_text"])
            self.expect(name, verifier.verify(record["canonical"], "sha256:" + record["record_hash"], record["cosign"]), [])
        self.expect(f"seal {seal['name']}: signature checks", len(verifier.signatures), 1)


def double_of(bits):
    return struct.unpack(">d", bytes.fromhex(bits))[0]


def code_of(run):
    try:
        run()
    except ProvenanceError as error:
        return error.code
    return None


def run_vectors(directory):
    run = VectorRun(directory)
    for part in (run.canonical_text, run.tree, run.signatures, run.own, run.bundles):
        part()
    print(f"{run.checked} vectors checked, {run.failed} failed")
    return 1 if run.failed else 0


def main():
    parser = argparse.ArgumentParser(description="Verify records of an Org-Memory Hub. Exit 0 good, 1 failed, 2 not checked.")
    parser.add_argument("--keys", metavar="KEYS", help="file or URL of provenance-keys.json")
    parser.add_argument("--vectors", metavar="DIR", help="run the test vectors in DIR instead")
    parser.add_argument("--bundle", metavar="FILE", help="a proof bundle; its own keys are used without --keys")
    parser.add_argument("--pack", metavar="FILE", help="an evidence pack; its own keys are used without --keys")
    parser.add_argument("records", nargs="?", metavar="RECORDS.jsonl", help="one record, as the API answers it, a line")
    options = parser.parse_args()
    has_records = options.keys is not None and options.records is not None
    given = [options.vectors is not None, options.bundle is not None, options.pack is not None, has_records]
    if given.count(True) != 1:
        parser.error("give --keys and a file of records, or --bundle, or --pack, or --vectors")
    if Ed25519PublicKey is None:
        print("not checked: the package 'cryptography' is missing (Debian: python3-cryptography)", file=sys.stderr)
        return 2
    try:
        if options.vectors:
            return run_vectors(options.vectors)
        if options.pack:
            return verify_pack_file(options.keys, options.pack)
        return verify_bundle(options.keys, options.bundle) if options.bundle else verify_file(options.keys, options.records)
    except RecursionError:
        print("not checked: the JSON is nested too deeply", file=sys.stderr)
        return 2
    except (OSError, ValueError, KeyError, ProvenanceError) as error:
        print(f"not checked: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
