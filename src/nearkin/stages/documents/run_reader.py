"""Runs of complete records cut from a stream of CSV or TSV; a record that is too long is skipped, not held."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nearkin.stages.documents.record_runs import QUOTE, Run, Scanned, Scanner, cut_runs, line_breaks
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, too_long
from nearkin.stages.documents.streams import ByteStream, StreamFault

_READ_BYTES = 1 << 20
_PREFIX_BYTES = 1 << 16
_MAX_LINES = 200
_SHARE_OF_RECORDS = 0.8


def read_runs(
    stream: ByteStream, scanner: Scanner, block_bytes: int, max_record_bytes: int = MAX_DOCUMENT_BYTES
) -> Iterator[list[Run]]:
    """Yield the runs of consecutive blocks of about ``block_bytes``.

    A record of more than ``max_record_bytes`` becomes one with a problem, and hardly more than that is held of it. If
    its lines look like records, a quote in its first line is stray: then only that line is the problem, and reading
    continues after it.

    Raises
    ------
    StreamFault
        The stream breaks off; all earlier complete records have been yielded.
    """
    yield from _RunReader(stream, scanner, block_bytes, max_record_bytes).runs()


class _RunReader:
    """The part of the stream that is held: from the first record that has not been yielded yet."""

    def __init__(self, stream: ByteStream, scanner: Scanner, block_bytes: int, max_record_bytes: int) -> None:
        self._stream = stream
        self._scanner = scanner
        self._block_bytes = block_bytes
        self._max_record_bytes = max_record_bytes
        self._data = b""
        self._line = 1
        self._n_fields = 0

    def runs(self) -> Iterator[list[Run]]:
        """Yield all runs."""
        try:
            while True:
                # read no more of an unfinished record than shows that it is too long
                n_open = len(self._data)
                piece = self._stream.read(max(self._block_bytes, min(n_open, self._max_record_bytes + 1 - n_open)))
                self._data += piece
                yield from self._whole(at_end=not piece)
                if not piece:
                    return
        except StreamFault as fault:
            fault.line = self._line
            raise

    def _whole(self, *, at_end: bool) -> Iterator[list[Run]]:
        """Yield the complete records that are held."""
        while True:
            runs, place, line = cut_runs(self._data, self._line, self._scanner, at_end=at_end)
            self._n_fields = self._n_fields or _n_fields(runs, self._scanner)
            runs, long = _up_to_too_long(runs, self._max_record_bytes)
            if long is not None:
                place, line = int(long.starts[0]), int(long.lines[0])
            if runs:
                yield runs
            self._data, self._line = self._data[place:], line
            if long is None and len(self._data) <= self._max_record_bytes:
                return
            yield [self._refused()]

    def _refused(self) -> Run:
        """Return the first record of the data, which is too long, as one with a problem."""
        line, n_bytes = self._line, None
        prefix = self._data[: min(_PREFIX_BYTES, self._max_record_bytes)]
        if _looks_like_records(prefix, self._scanner, self._n_fields):
            self._data = self._data[prefix.find(b"\n") + 1 :]
            self._line += 1
        else:
            n_bytes = self._pass_over()
        scanned = Scanned([], 0, too_long(n_bytes, self._max_record_bytes), is_open=False)
        return Run(b"", np.array([0]), np.array([0]), np.array([line]), [scanned])

    def _pass_over(self) -> int:
        """Skip to the first line end outside quotes; return the number of skipped bytes."""
        n_passed = n_quotes = 0
        while True:
            view = np.frombuffer(self._data, np.uint8)
            breaks = line_breaks(view, at_end=False)
            quotes = np.flatnonzero(view == QUOTE) if not self._scanner.is_lenient else np.zeros(0, np.int64)
            is_outside = (np.searchsorted(quotes, breaks) + n_quotes) % 2 == 0
            if is_outside.any():
                n_lines = int(np.argmax(is_outside)) + 1
                end = int(breaks[n_lines - 1]) + 1
                self._data, self._line = self._data[end:], self._line + n_lines
                return n_passed + end
            n_quotes, n_passed = n_quotes + len(quotes), n_passed + len(self._data)
            self._line += len(breaks)
            self._data = b""
            self._stream.check_ends(n_passed)
            self._data = self._stream.read(_READ_BYTES)
            if not self._data:
                return n_passed


def _n_fields(runs: list[Run], scanner: Scanner) -> int:
    """Return the number of fields of the first record; 0 if there is none."""
    if not runs or not len(runs[0]):
        return 0
    first = runs[0]
    return len(scanner.scan(first.data, int(first.starts[0])).fields)


def _up_to_too_long(runs: list[Run], max_record_bytes: int) -> tuple[list[Run], Run | None]:
    """Return the runs before the first record that is too long, and that record."""
    for i, run in enumerate(runs):
        is_long = run.ends - run.starts > max_record_bytes
        if is_long.any():
            first = int(np.argmax(is_long))
            before = [*runs[:i], run.part(0, first)] if first else runs[:i]
            return before, run.part(first, first + 1)
    return runs, None


def _looks_like_records(prefix: bytes, scanner: Scanner, n_fields: int) -> bool:
    """Whether the lines after the first have as many fields as the header, so that a stray quote swallowed them."""
    lines = prefix.split(b"\n")[1:-1][:_MAX_LINES]
    if n_fields < 2 or not lines:
        return False
    n_alike = 0
    for line in lines:
        scanned = scanner.scan(line.rstrip(b"\r") + b"\n", 0)
        n_alike += scanned.problem is None and len(scanned.fields) == n_fields
    return n_alike >= _SHARE_OF_RECORDS * len(lines)
