"""Collects the failures of a verification in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass

FAILURES_MAX = 10_000


@dataclass(frozen=True)
class Failure:
    """A failure of one row, or of a file or the pack as a whole."""

    file: str | None
    line: int | None
    record_id: str | None
    #: A code, a colon and its meaning; docs/provenance-log.md §11.4 lists the codes.
    reason: str


class Findings:
    """Lists failures up to a maximum, and counts all."""

    def __init__(self) -> None:
        self.failures: list[Failure] = []
        self.total = 0

    def add(self, reason: str, file: str | None = None, line: int | None = None, record_id: object = None) -> None:
        self.total += 1
        if len(self.failures) < FAILURES_MAX:
            named = record_id if isinstance(record_id, str) else None
            self.failures.append(Failure(file, line, named, reason))
