"""Files of segments: memory-mapped arrays, each with its checksum.

A segment is written under another name, renamed into place, and never changed. Before use, files that differ in size or
time from when they were last checked are checked again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearkin.errors import OutputError
from nearkin.records import U64, Bool
from nearkin.runs.files import published, write_json, writing
from nearkin.stages.search.ranges.segment import RangeSegment

MANIFEST, CHECKED = "segment.json", "checked.json"
_ALWAYS_CHECKED = 64 << 20
"""Maximum bytes of segments that are checked whenever they are opened, which takes some hundredths of a second."""
_NAMES = {f"{name}.npy" for name in (*RangeSegment.array_names(), "words", "has_features")}


class DamagedSegmentError(Exception):
    """A segment's files were changed; it must be rebuilt."""


@dataclass(frozen=True)
class Segment:
    """Contents of some consecutive loads, from ``first`` up to ``end``, ready to be searched."""

    first: int
    end: int
    make_vectors: Callable[[], RangeSegment]
    words: U64
    has_features: Bool

    @cached_property
    def vectors(self) -> RangeSegment:
        """Letter counts, ready for range search."""
        return self.make_vectors()

    def __len__(self) -> int:
        return self.end - self.first

    @property
    def name(self) -> str:
        """Name of its directory."""
        return name_of(self.first, self.end)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name, as they are stored."""
        extra = {"words": self.words, "has_features": self.has_features}
        return {name: getattr(self.vectors, name) for name in RangeSegment.array_names()} | extra


def name_of(first: int, end: int) -> str:
    """Return the name of a segment's directory.

    Examples
    --------
    >>> name_of(0, 1797)
    '000000000000-000000001797'
    """
    return f"{first:012d}-{end:012d}"


def part_of_index(name: str) -> str:
    """Name a segment for people, by the name of its directory."""
    return f"index part {name}"


def save(segment: Segment, folder: Path, identity: Mapping[str, object]) -> None:
    """Write a segment and rename it into place; if another process was faster, its segment stays."""
    target = folder / segment.name
    aside = folder / f".{target.name}.{os.getpid()}-{threading.get_ident()}.part"
    with writing(target):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir()
        try:
            for name, array in segment.arrays().items():
                with open(aside / f"{name}.npy", "wb") as file:
                    np.save(file, array)
                    file.flush()
                    os.fsync(file.fileno())
            files = {name: _checksum(aside / name) for name in sorted(_NAMES)}
            write_json(aside / MANIFEST, {"made_from": identity, "files": files})
            remove(target)
            with contextlib.suppress(OSError):  # it exists: another process made it meanwhile
                os.rename(aside, target)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def remove(directory: Path) -> None:
    """Remove a segment; a process that was about to open it builds it again."""
    shutil.rmtree(directory, ignore_errors=True)
    with contextlib.suppress(OSError):  # it is gone, or a file
        directory.unlink()


def load(folder: Path, first: int, end: int, identity: Mapping[str, object]) -> Segment:
    """Map the arrays of a segment."""
    directory = folder / name_of(first, end)
    try:
        check(directory, identity, fully=False)
        arrays = {path.stem: np.load(path, mmap_mode="r") for path in directory.glob("*.npy")}
        vectors = RangeSegment(**{name: arrays[name] for name in RangeSegment.array_names()})
        segment = Segment(first, end, lambda: vectors, arrays["words"], arrays["has_features"])
    except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
        raise DamagedSegmentError(f"{part_of_index(directory.name)}: {error}") from error
    if not (len(vectors) == len(segment.words) == len(segment.has_features) == end - first and vectors.is_consistent()):
        raise DamagedSegmentError(f"{part_of_index(directory.name)}: the lengths of its arrays do not match its name")
    return segment


def check(directory: Path, identity: Mapping[str, object], *, fully: bool) -> None:
    """Refuse a segment that was changed; ``fully``: compute every checksum, regardless of earlier checks."""
    manifest, name = _read(directory / MANIFEST), part_of_index(directory.name)
    if manifest.get("made_from") != identity:
        raise DamagedSegmentError(f"{name}: changed, or made from other texts or by another version of Nearkin")
    try:
        stamps = {file: _stamp(directory / file) for file in _NAMES}
        is_long = sum(stamp[0] for stamp in stamps.values()) > _ALWAYS_CHECKED
        if is_long and not fully and _read(directory / CHECKED) == stamps:
            return
        if {file: _checksum(directory / file) for file in _NAMES} != manifest.get("files"):
            raise DamagedSegmentError(f"{name}: the checksum of a file does not match")
    except OSError as error:
        raise DamagedSegmentError(f"{name}: {error}") from error
    if is_long:
        # without write permission, the next reader checks again
        with contextlib.suppress(OutputError), published(directory / CHECKED, durable=False) as aside:
            aside.write_text(json.dumps(stamps), encoding="utf-8")


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ino]


def _checksum(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(path: Path) -> dict[str, object]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
