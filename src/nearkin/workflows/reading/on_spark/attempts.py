"""Digests of the copies that attempts at a task read: a lost task may be repeated for some of its targets only.

The target 0 of a task receives the checksums of all files, and each target a digest of them. The driver compares the
checksums with its own files, and then only those digests that differ from the digest of target 0.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nearkin.engines.spark.layout import Block
from nearkin.nouns import counted
from nearkin.workflows.reading.on_spark.notes import Notes
from nearkin.workflows.reading.on_spark.seen_files import DriverFiles, Seen, other_file
from nearkin.workflows.reading.on_spark.task_input import TaskInput
from nearkin.workflows.reading.on_spark.tasks import task_input

_STREAM = "attempts"
_ROWS_A_BLOCK = 500
_DIGEST_CHARACTERS = 32


@dataclass(frozen=True, slots=True, order=True)
class TaskAttempt:
    """Copies of the driver's files that an attempt at a task read.

    Parameters
    ----------
    task : int
    files : str
        Numbers of those files of the input that have other times than the driver's, as bits of a hexadecimal number.
    digest : str
        Digest of their checksums, in the order of the input.
    """

    task: int
    files: str
    digest: str

    @classmethod
    def of(cls, task: int, given: TaskInput, notes: Notes) -> TaskAttempt | None:
        """Return None for an attempt that read only files with the driver's times."""
        sha256 = {one.path: one.sha256 for one in notes.checksums}
        numbers = [i for i, source in enumerate(given.sources) if source.path in sha256]
        if not numbers:
            return None
        digest = _digest(sha256[given.sources[i].path] for i in numbers)
        return cls(task, f"{sum(1 << i for i in numbers):x}", digest)

    def numbers(self) -> list[int]:
        """Return the numbers of the files."""
        bits = int(self.files, 16)
        return [i for i in range(bits.bit_length()) if bits >> i & 1]


def attempt_blocks(attempts: Sequence[TaskAttempt], target: int) -> Iterator[Block]:
    """Yield the attempts for a target."""
    for first in range(0, len(attempts), _ROWS_A_BLOCK):
        rows = [[one.task, one.files, one.digest] for one in attempts[first : first + _ROWS_A_BLOCK]]
        yield Block(_STREAM, target, json.dumps(rows).encode())


def attempts_among(blocks: Iterable[Block]) -> list[TaskAttempt]:
    """Return the attempts in some blocks, by task."""
    rows = [row for block in blocks if block.stream == _STREAM for row in json.loads(bytes(block.data))]
    return sorted(TaskAttempt(*row) for row in rows)


def refuse_other_attempts(blocks: Sequence[Block], tasks: Sequence[Block], driver: DriverFiles) -> None:
    """Compare attempts whose checksums did not reach target 0 with the files of this machine, which is the driver.

    Raises
    ------
    SourceError
        An attempt read other bytes, or the file of this machine changed since the task was made.
    """
    of_blocks = [block for block in blocks if block.stream == _STREAM]
    compared = set(attempts_among(block for block in of_blocks if block.target == 0))
    others = sorted({one for block in of_blocks for one in attempts_among([block])} - compared)
    given = {one.task: task_input([tasks[one.task]]) for one in others}
    paths = {given[one.task].sources[i].path for one in others for i in one.numbers()}
    own_sha256 = driver.digests(sorted(paths)) if paths else {}
    for one in others:
        sources, seen = given[one.task].sources, given[one.task].seen
        for i in one.numbers():
            expected, own = seen[i], Seen.of(sources[i].path)
            if expected is None or own is None or own.noted_ns != expected.noted_ns:
                raise other_file(sources[i].name, sources[i].path, None, "the driver's file changed while it was read")
        own_files = [sources[i] for i in one.numbers()]
        if _digest(own_sha256[source.path] for source in own_files) != one.digest:
            n_more = len(own_files) - 1
            name = own_files[0].name + (f", or one of {counted(n_more, 'file')} read with it," if n_more else "")
            raise other_file(name, own_files[0].path, None, "its content differs")


def _digest(checksums: Iterable[str]) -> str:
    return hashlib.sha256("".join(checksums).encode()).hexdigest()[:_DIGEST_CHARACTERS]
