"""Keeps batches of events, in memory or in files that outlive the process."""

import contextlib
import json
import logging
import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows.
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger("org_memory_hub")

_open_suffix = ".part"
_suffix = ".events.jsonl"


class Batch:
    """Events that are sent together. They do not change once they are taken, so the key identifies them."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.began = 0.0
        self.count = 0
        # As lines of a file.
        self.size = 0
        self._events: list[bytes] = []

    def add(self, event: bytes) -> None:
        """Adds an event, which is as safe as the batch makes it when this returns."""
        self._store(event)
        self.began = self.began or time.monotonic()
        self.count += 1
        self.size += len(event) + 1

    def seal(self) -> None:
        """Ends the batch: nothing is added any more."""

    def take(self) -> list[bytes]:
        """Ends the batch and returns its events."""
        return self._events

    def remove(self) -> None:
        """Forgets the batch: each event has its answer."""

    def _store(self, event: bytes) -> None:
        self._events.append(event)


class FileBatch(Batch):
    """A batch in a file of its own, whose name has the key. A batch that is sent again after a crash is stored once."""

    def __init__(self, spool: "Spool", key: str) -> None:
        super().__init__(key)
        self._spool = spool
        self._path = spool.folder / f"{key}{_suffix}"
        self._file: int | None = None

    @classmethod
    def found(cls, spool: "Spool", path: Path) -> "FileBatch":
        """Returns the batch of a process that has ended, in the folder of this one."""
        batch = cls(spool, path.name.removesuffix(_open_suffix).removesuffix(_suffix))
        path.replace(batch._path)
        content = batch._path.read_bytes()
        batch.count, batch.size = content.count(b"\n"), len(content)
        return batch

    def take(self) -> list[bytes]:
        """Flushes the file to the disk and gives it its final name. Raises FileNotFoundError if another program deleted it."""
        self.seal()
        with contextlib.suppress(FileNotFoundError):  # It has its name since an earlier process.
            descriptor = os.open(self._part, os.O_RDONLY)
            with contextlib.suppress(OSError):
                os.fsync(descriptor)
            os.close(descriptor)
            self._part.replace(self._path)
        # The end of a line was not written when its process was killed. A failed disk may leave other bytes.
        return [line for line in self._path.read_bytes().split(b"\n")[:-1] if _is_json(line)]

    def remove(self) -> None:
        self._spool.used -= self.size
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            logger.warning("a file of the spool cannot be deleted, and is sent again later: %s", error)

    def seal(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.fsync(self._file)
            os.close(self._file)
            self._file = None

    @property
    def _part(self) -> Path:
        return self._path.with_name(f"{self.key}{_open_suffix}")

    def _store(self, event: bytes) -> None:
        if self._file is None:
            self._file = os.open(self._part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o600)
            self._spool.open_batch = self
        line = memoryview(event + b"\n")
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError:
            # The event is refused, so it may not be sent.
            os.ftruncate(self._file, self.size)
            raise
        self._spool.used += len(event) + 1


class Spool:
    """The files of a batcher, in a folder of its own.

    Processes may share the directory. The kernel releases the lock of a folder when its process ends, however it ends, and
    the next process that starts takes the files over. It does not compare ids of processes, which containers repeat.
    """

    def __init__(self, directory: str | os.PathLike[str], max_bytes: int) -> None:
        if fcntl is None:
            raise ValueError("a spool needs a POSIX system")
        root = Path(directory).absolute()
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = root / uuid.uuid4().hex
        self.used = 0
        self.found: list[FileBatch] = []
        self.open_batch: FileBatch | None = None
        self._max_bytes = max_bytes
        self._sequence = 0
        # Others could take a folder over before it is locked.
        with _locked(root / ".lock"):
            self.folder.mkdir(mode=0o700)
            self._lock: int | None = _lock(self.folder / "lock")
            self._take_over(root)

    def fits(self, size: int) -> bool:
        return self.used + size <= self._max_bytes

    def open(self) -> FileBatch:
        # Sorts by time, and within a millisecond by sequence.
        self._sequence += 1
        return FileBatch(self, f"{time.time_ns() // 1_000_000:014d}-{self._sequence:09d}-{uuid.uuid4().hex}")

    def detach(self) -> None:
        """Closes the copies that a forked process has of its parent's files, so that only the parent keeps the lock."""
        if self.open_batch is not None:
            self.open_batch.seal()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def close(self) -> None:
        """Releases the files that are left to the next process."""
        with contextlib.suppress(OSError):
            if [path.name for path in self.folder.iterdir()] == ["lock"]:
                (self.folder / "lock").unlink()
                self.folder.rmdir()
        self.detach()

    def _take_over(self, root: Path) -> None:
        for lock in root.glob("*/lock"):
            if lock.parent == self.folder:
                continue
            try:
                descriptor = _lock(lock, fcntl.LOCK_NB)
            except (BlockingIOError, FileNotFoundError):
                continue  # Its process is alive, or has just ended in order.
            files = [path for path in lock.parent.iterdir() if path.name.endswith((_suffix, _open_suffix))]
            self.found += [FileBatch.found(self, path) for path in files]
            lock.unlink()
            os.close(descriptor)
            with contextlib.suppress(OSError):  # It has files of another program.
                lock.parent.rmdir()
        self.found.sort(key=lambda batch: batch.key)
        self.used = sum(batch.size for batch in self.found)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = _lock(path)
    try:
        yield
    finally:
        # A process that was forked meanwhile holds a copy of the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _lock(path: Path, flags: int = 0) -> int:
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | flags)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
