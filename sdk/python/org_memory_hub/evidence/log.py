"""Checks keys, checkpoints and ranges of a tenant's log."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .. import verify as core

#: Log name and public key by key id.
KeyRing = dict[str, tuple[str, bytes]]


def trusted_keys(document: dict[str, Any], pinned: KeyRing | None) -> KeyRing:
    """Returns the keys that pinned ones introduce, or without any, those that follow from the first of the document.

    Raises ProvenanceError if the document is malformed and nothing is pinned.
    """
    try:
        offered: KeyRing = core.parse_key_document(document)
    except core.ProvenanceError:
        if pinned is None:
            raise
        return pinned
    introduced = [entry for entry in document["keys"] if "succession" in entry]
    if pinned is None:
        introduced_ids = {entry["key_id"] for entry in introduced}
        trusted = set([key_id for key_id in offered if key_id not in introduced_ids][:1])
    else:
        trusted = set(pinned)
    ring = {**offered, **(pinned or {})}
    while True:
        found = {entry["key_id"] for entry in introduced if is_introduced(entry, ring, trusted)} - trusted
        if not found:
            return {key_id: key for key_id, key in ring.items() if key_id in trusted}
        trusted |= found


def is_introduced(entry: dict[str, Any], ring: KeyRing, trusted: set[str]) -> bool:
    of_log = {key_id for key_id in trusted if ring[key_id][0] == entry["name"]}
    try:
        return bool(core.BundleVerifier.is_introduced(entry, ring, of_log))
    except (core.ProvenanceError, ValueError):
        return False


def is_signed_by_log(note: str, log_name: str, keys: KeyRing) -> bool:
    try:
        return any(core.note_is_signed(note, *key) for key in keys.values() if key[0] == log_name)
    except (core.ProvenanceError, ValueError):
        return False


def problem_with_statement(note: str, expected: str, log_name: str, keys: KeyRing) -> str | None:
    if note.rpartition("\n\n")[0] + "\n" != expected:
        return "does not state what the manifest says: the manifest was changed"
    return None if is_signed_by_log(note, log_name, keys) else "is not signed by a trusted key of the log"


@dataclass(frozen=True)
class Checkpoint:
    log_name: str
    tree_size: int
    root: bytes
    #: Microseconds since 1970; None if the checkpoint does not state its time.
    time_micros: int | None


def read_checkpoint(note: str, log_name: str, keys: KeyRing) -> Checkpoint:
    """Returns a checkpoint that a trusted key of the log signed. Raises ProvenanceError."""
    name, tree_size, root = core.parse_checkpoint(note)
    if name != log_name:
        raise core.ProvenanceError("note-malformed", "the checkpoint is of another log")
    if not is_signed_by_log(note, log_name, keys):
        raise core.ProvenanceError("signature-invalid", "the checkpoint is not signed by a trusted key of the log")
    extensions = note.rpartition("\n\n")[0].split("\n")[3:]
    times = [line[5:] for line in extensions if re.fullmatch(r"time (0|[1-9][0-9]{0,15})", line, re.ASCII)]
    return Checkpoint(name, tree_size, root, int(times[0]) if times else None)


def node(left: bytes, right: bytes) -> bytes:
    return bytes(core.sha256(b"\1" + left + right))


def is_continued(first: Checkpoint, second: Checkpoint, path: list[bytes]) -> bool:
    """Returns whether the second tree starts with the first (RFC 9162 §2.1.4.2)."""
    return bool(core.is_continued((first.tree_size, first.root), (second.tree_size, second.root), path))


def heights_between(begin: int, end: int) -> list[int]:
    """Returns the heights of the largest complete subtrees from `begin` to `end`, from left to right."""
    heights: list[int] = []
    while begin < end:
        height = 0
        while begin % 2 ** (height + 1) == 0 and begin + 2 ** (height + 1) <= end:
            height += 1
        heights.append(height)
        begin += 2**height
    return heights


class LogRange:
    """Computes the root of the log from the leaves of a range and the roots beside it."""

    def __init__(self, begin: int, left: list[bytes]) -> None:
        heights = heights_between(0, begin)
        self.roots = list(zip(heights, left))
        self.size = begin
        self.is_known = len(heights) == len(left)

    def append(self, leaf: bytes | None, height: int = 0) -> None:
        """Adds the next leaf; None for an unknown one, after which there is no root."""
        if leaf is None:
            self.is_known = False
            return
        self.size += 2**height
        while self.roots and self.roots[-1][0] == height:
            leaf = node(self.roots.pop()[1], leaf)
            height += 1
        self.roots.append((height, leaf))

    def root(self, right: list[bytes], tree_size: int) -> bytes | None:
        """Returns None if a leaf was unknown, or the number of roots is wrong."""
        heights = heights_between(self.size, tree_size)
        if not self.is_known or self.size > tree_size or len(heights) != len(right):
            return None
        for height, each in zip(heights, right):
            self.append(each, height)
        return joined([each for _, each in self.roots])


def joined(roots: list[bytes]) -> bytes:
    """Joins the roots of subtrees whose heights fall from left to right."""
    if not roots:
        return bytes(core.sha256(b""))
    root = roots[-1]
    for each in reversed(roots[:-1]):
        root = node(each, root)
    return root


def root_of(leaves: list[bytes]) -> bytes:
    tree = LogRange(0, [])
    for leaf in leaves:
        tree.append(leaf)
    return joined([each for _, each in tree.roots])
