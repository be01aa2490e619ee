"""Reads the files of a .tar.gz archive as a stream. Accepts only what the Hub writes, and unpacks nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

BLOCK = 512
CHUNK = 256 * 1024


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class ArchiveError(Exception):
    """Signals that an archive is not as the Hub writes it."""


@dataclass
class Entry:
    """A file of the archive. `content` must be read to its end before the next entry."""

    name: str
    size: int
    content: Iterator[bytes]


def entries(source: Readable) -> Iterator[Entry]:
    """Yields the files of a tar archive (POSIX ustar) in order: regular files, without extended headers."""
    while True:
        header = exactly(source, BLOCK)
        if not any(header):
            break
        name, size = read_header(header)
        content = taken(source, size)
        yield Entry(name, size, content)
        for _ in content:
            pass  # skips what the reader did not take
        exactly(source, -size % BLOCK)
    while block := source.read(CHUNK):
        if any(block):
            raise ArchiveError("something follows the end of the archive")


def exactly(source: Readable, count: int) -> bytes:
    return b"".join(taken(source, count))


def taken(source: Readable, count: int) -> Iterator[bytes]:
    while count > 0:
        data = source.read(min(count, CHUNK))
        if not data:
            raise ArchiveError("the archive ends early")
        count -= len(data)
        yield data


def read_header(block: bytes) -> tuple[str, int]:
    checksum = sum(block[:148]) + 8 * 0x20 + sum(block[156:])
    if block[257:262] != b"ustar" or checksum != octal(block[148:156]):
        raise ArchiveError("it has something that is not the header of a file")
    name = text_in(block[:100])
    if block[156] not in (0, 0x30) or block[345] != 0 or not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name, re.ASCII):
        raise ArchiveError(f"it has the entry {name!r}, which is no file of an evidence pack")
    # Sizes from 8 GiB on are in base 256.
    size = int.from_bytes(block[125:136], "big") if block[124] == 0x80 else octal(block[124:136])
    if size < 0:
        raise ArchiveError(f"the size of {name} is no size")
    return name, size


def octal(field: bytes) -> int:
    text = text_in(field).strip()
    return int(text, 8) if re.fullmatch(r"[0-7]{1,11}", text, re.ASCII) else -1


def text_in(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("latin-1")
