"""Reported pairs of sampled documents, for comparison with true pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import RunError
from nearkin.formats import parquet
from nearkin.records import F64, I64, U64, Bool
from nearkin.runs.finished import damage_of, damaged_run

AGAIN = "Run it again, and audit that run."
_SHIFT = np.uint64(32)
_OTHER = np.uint64(0xFFFF_FFFF)


@dataclass(frozen=True, slots=True, kw_only=True)
class TruePairs:
    """Pairs of a sampled document with a sufficiently similar one; arrays of shape (n_pairs,).

    Parameters
    ----------
    sampled : int64 array
        Place of the document in the sample.
    row : int64 array
        Row of the other document in the run; ascending.
    ids : LargeStringArray
        Original id of the other document.
    places : LargeStringArray
        Place of the other document, which a run adds to an id that was used before.
    digests : FixedSizeBinaryArray
        Digest of its text.
    similarity : float64 array
    """

    sampled: I64
    row: I64
    ids: pa.LargeStringArray
    places: pa.LargeStringArray
    digests: pa.FixedSizeBinaryArray
    similarity: F64

    def __len__(self) -> int:
        return len(self.sampled)


def keys_of(place: I64, other: I64) -> U64:
    """Return the place in the sample and the other document of each pair in one number."""
    keys: U64 = (place.astype(np.uint64) << _SHIFT) | other.astype(np.uint64)
    return keys


def pairs_of(keys: U64) -> tuple[I64, I64]:
    """Return the place in the sample and the other document of each pair; the inverse of `keys_of`."""
    return (keys >> _SHIFT).astype(np.int64), (keys & _OTHER).astype(np.int64)


class ReportedWithin:
    """Reported pairs of a run over one collection.

    Parameters
    ----------
    directory : Path
    names : StringArray
        Names of all rows.
    rows : int64 array
        Rows that represent their text; pairs of copies are omitted.
    sample : int64 array
        Ascending.
    """

    def __init__(self, directory: Path, names: pa.LargeStringArray, rows: I64, sample: I64) -> None:
        self._names, self._sample = names, sample
        stands = np.zeros(len(names), np.bool_)
        stands[rows] = True
        keys: list[U64] = [np.zeros(0, np.uint64)]
        for left, right in _stored_pairs(directory, names):
            both = stands[left] & stands[right]
            keys += [self._keys(left[both], right[both]), self._keys(right[both], left[both])]
        self._reported = np.unique(np.concatenate(keys))

    def _keys(self, row: I64, other: I64) -> U64:
        """Return, for pairs whose first row is sampled, its place in the sample and the other row in one number."""
        place = np.minimum(np.searchsorted(self._sample, row), len(self._sample) - 1)
        is_sampled = self._sample[place] == row
        return keys_of(place[is_sampled], other[is_sampled])

    def judge(self, pairs: TruePairs) -> tuple[Bool, Bool, Sequence[str]]:
        """Return which pairs count, all but that of a document with itself, which were found, and the other's name."""
        is_other: Bool = self._sample[pairs.sampled] != pairs.row
        names = self._names.take(pa.array(pairs.row)).to_pylist()
        return is_other, np.isin(keys_of(pairs.sampled, pairs.row), self._reported), names

    def n_unconfirmed(self, n_found: int) -> int:
        """Return the number of reported pairs that are not true, given that ``n_found`` true ones were found."""
        return len(self._reported) - n_found


@dataclass(slots=True)
class _Known:
    """Facts about a sampled document: the documents reported for it, and the texts read so far."""

    reported: set[str] = field(default_factory=set)
    seen: set[bytes] = field(default_factory=set)


class ReportedAcross:
    """Reported pairs of a run against another collection; of the copies of a text there, only the first is named.

    The run appends the place to a name that was used before.

    Parameters
    ----------
    directory : Path
    names : StringArray
        Names of the rows to clean.
    sample : int64 array
    digests : sequence of bytes
        Digests of the sampled texts: their exact copies are not pairs of distinct texts.
    """

    def __init__(self, directory: Path, names: pa.LargeStringArray, sample: I64, digests: Sequence[bytes]) -> None:
        self._known = [_Known(seen={digest}) for digest in digests]
        for rows, others in _stored_names(directory, names):
            place = np.minimum(np.searchsorted(sample, rows), max(len(sample) - 1, 0))
            is_sampled = sample[place] == rows
            told = others.filter(pa.array(is_sampled)).to_pylist()
            for at, name in zip(place[is_sampled].tolist(), told, strict=True):
                self._known[at].reported.add(name)

    def judge(self, pairs: TruePairs) -> tuple[Bool, Bool, Sequence[str]]:
        """Return which pairs count, the first of each text, which were found, and the other's id in the run."""
        counts, found = np.zeros(len(pairs), np.bool_), np.zeros(len(pairs), np.bool_)
        names = pairs.ids.to_pylist()
        columns = zip(pairs.sampled.tolist(), names, pairs.places.to_pylist(), pairs.digests.to_pylist(), strict=True)
        for i, (sampled, name, place, digest) in enumerate(columns):
            known = self._known[sampled]
            if digest in known.seen:
                continue
            known.seen.add(digest)
            # the longer name first: an id alone belongs to the first document that has it
            named = next((one for one in (f"{name} ({place})", name) if one in known.reported), None)
            known.reported.discard(named or "")
            counts[i], found[i] = True, named is not None
            names[i] = named or name
        return counts, found, names

    def n_unconfirmed(self, n_found: int) -> int:
        """Return 0: the reported pairs include exact copies."""
        return 0


def _stored_pairs(directory: Path, names: pa.LargeStringArray) -> Iterator[tuple[I64, I64]]:
    """Yield the rows of the stored pairs, some at a time."""
    for batch in _batches(directory, "row_a", "row_b"):
        yield _rows_of(directory, batch["row_a"], names), _rows_of(directory, batch["row_b"], names)


def _stored_names(directory: Path, names: pa.LargeStringArray) -> Iterator[tuple[I64, pa.LargeStringArray]]:
    """Yield the rows of the documents to clean, and the names of the others."""
    for batch in _batches(directory, "row_a", "name_b"):
        yield _rows_of(directory, batch["row_a"], names), batch["name_b"].cast(pa.large_string())


def _rows_of(directory: Path, column: pa.Array, names: pa.LargeStringArray) -> I64:
    """Return a column of rows, each of which must be that of a document."""
    rows: I64 = column.fill_null(-1).to_numpy()
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(names):
        raise damaged_results(directory, "pairs.parquet names a document that is not in documents.parquet")
    return rows


def _batches(directory: Path, *columns: str) -> Iterator[pa.RecordBatch]:
    with damage_of(directory, AGAIN), parquet.open_table(directory / "pairs.parquet") as file:
        yield from file.iter_batches(columns=list(columns))


def n_documents_in_pairs(directory: Path, *, is_across: bool) -> int:
    """Return the number of input documents that a run reported in a pair."""
    found: list[pa.Array] = []
    for batch in _batches(directory, *(("row_a",) if is_across else ("row_a", "row_b"))):
        found += [column.unique() for column in batch.columns]
    return len(pc.unique(pa.chunked_array(found))) if found else 0


def damaged_results(directory: Path, why: str) -> RunError:
    """Return the error for a run that its command cannot have written."""
    return damaged_run(directory, why, AGAIN)
