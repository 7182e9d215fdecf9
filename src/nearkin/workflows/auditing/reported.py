"""What a run said of sampled documents, for true pairs to be held against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import RunError
from nearkin.formats import parquet
from nearkin.records import F64, I64, U64, Bool

_SHIFT = np.uint64(32)


@dataclass(frozen=True, slots=True)
class TruePairs:
    """Pairs of a sampled document with another that is alike enough; arrays of shape (n_pairs,).

    Parameters
    ----------
    sampled : int64 array
        Place of the document in the sample.
    row : int64 array
        Of the other one, in the run; rising.
    ids : LargeStringArray
        Of the other one, as it came.
    places : LargeStringArray
        Where the other one stands: what a run adds to an id that was used before.
    digests : FixedSizeBinaryArray
        Of its text.
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
    """Of pairs: the place in the sample and the other document, both in one number."""
    keys: U64 = (place.astype(np.uint64) << _SHIFT) | other.astype(np.uint64)
    return keys


class Reported(Protocol):
    """What a run reported."""

    def judge(self, pairs: TruePairs) -> tuple[Bool, Bool, Sequence[str]]:
        """Which pairs count, as they are of different texts and new; which were found; the other's id in the run."""

    def n_unconfirmed(self, n_found: int) -> int:
        """Pairs that the run reported and that are no true ones, once ``n_found`` were found."""


class ReportedWithin:
    """Of a run over one collection: rows are told by their ids, of which each is there once.

    Parameters
    ----------
    directory : Path
    ids : Array
        Of all rows.
    rows : int64 array
        Those that stand for their text; pairs of copies are left out.
    sample : int64 array
        Rising.
    """

    def __init__(self, directory: Path, ids: pa.Array, rows: I64, sample: I64) -> None:
        self._ids, self._sample = ids, sample
        own = ids.take(pa.array(rows))
        keys: list[U64] = [np.zeros(0, np.uint64)]
        for a, b in _stored_pairs(directory, ids.take(pa.array(sample))):
            places = [pc.index_in(column, own) for column in (a, b)]
            both = pc.and_(places[0].is_valid(), places[1].is_valid())
            left, right = (rows[place.filter(both).to_numpy()] for place in places)
            keys += [self._keys(left, right), self._keys(right, left)]
        self._reported = np.unique(np.concatenate(keys))

    def _keys(self, row: I64, other: I64) -> U64:
        """Of the pairs whose first row is sampled, its place in the sample and the other row in one number."""
        place = np.minimum(np.searchsorted(self._sample, row), len(self._sample) - 1)
        is_sampled = self._sample[place] == row
        return keys_of(place[is_sampled], other[is_sampled])

    def judge(self, pairs: TruePairs) -> tuple[Bool, Bool, Sequence[str]]:
        """Every pair counts but that of a document with itself."""
        is_other: Bool = self._sample[pairs.sampled] != pairs.row
        names = self._ids.take(pa.array(pairs.row)).cast(pa.large_string()).to_pylist()
        return is_other, np.isin(keys_of(pairs.sampled, pairs.row), self._reported), names

    def n_unconfirmed(self, n_found: int) -> int:
        """What is left of the pairs that were reported."""
        return len(self._reported) - n_found


@dataclass(slots=True)
class _Known:
    """What is known of a sampled document: who was reported, and whose texts were seen."""

    reported: set[str] = field(default_factory=set)
    seen: set[bytes] = field(default_factory=set)


class ReportedAcross:
    """Of a run against another collection: of the copies of a text there, the first is named.

    An id that was used before has its place behind it in what the run reports.

    Parameters
    ----------
    directory : Path
    ids : Array
        Of the rows to clean.
    sample : int64 array
    digests : sequence of bytes
        Of the texts of the sample: exact copies of them are no pairs of different texts.
    """

    def __init__(self, directory: Path, ids: pa.Array, sample: I64, digests: Sequence[bytes]) -> None:
        self._known = [_Known(seen={digest}) for digest in digests]
        own = ids.take(pa.array(sample))
        for a, b in _stored_pairs(directory, own, sides=("id_a",)):
            names = b.cast(pa.large_string()).to_pylist()
            for place, name in zip(pc.index_in(a, own).to_pylist(), names, strict=True):
                self._known[place].reported.add(name)

    def judge(self, pairs: TruePairs) -> tuple[Bool, Bool, Sequence[str]]:
        """The first of each text counts."""
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
        """Not known: pairs of exact copies are among those that were reported."""
        return 0


def _stored_pairs(
    directory: Path, wanted: pa.Array, sides: Sequence[str] = ("id_a", "id_b")
) -> Iterator[tuple[pa.Array, pa.Array]]:
    """The stored pairs of which one of the sides is wanted, some at a time."""
    try:
        with parquet.open_table(directory / "pairs.parquet") as file:
            for batch in file.iter_batches(columns=["id_a", "id_b"]):
                masks = [pc.is_in(batch[side], wanted) for side in sides]
                mask = masks[0] if len(masks) == 1 else pc.or_(*masks)
                if mask.true_count:
                    yield batch["id_a"].filter(mask), batch["id_b"].filter(mask)
    except (OSError, pa.ArrowException, KeyError) as error:
        raise damaged(directory, f"{type(error).__name__}: {error}") from error


def n_documents_in_pairs(directory: Path, *, is_across: bool) -> int:
    """How many documents of the input a run reported in some pair."""
    try:
        pairs = parquet.read_table(directory / "pairs.parquet", columns=["id_a", "id_b"])
    except (OSError, pa.ArrowException, KeyError) as error:
        raise damaged(directory, f"{type(error).__name__}: {error}") from error
    columns = [pairs["id_a"]] if is_across else [pairs["id_a"], pairs["id_b"]]
    return len(
        pc.unique(pa.chunked_array([chunk for column in columns for chunk in column.chunks], pairs["id_a"].type))
    )


def damaged(directory: Path, why: str) -> RunError:
    """A run that cannot be what its command wrote."""
    return RunError(f"The run in {directory} is damaged ({why}). Run it again, and audit that run.")
