"""The vectors of a translation table beside those of a translation: figure 1 of the article.

Source: Ferhan Ture, Tamer Elsayed, Jimmy Lin, "No free lunch: brute force vs. locality-sensitive hashing for
cross-lingual pairwise similarity", SIGIR 2011, section 3.2.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import ParameterError
from nearkin.records import F64, U64
from nearkin.runs.meter import Meter
from nearkin.workflows.dedup.options import Resources
from nearkin.workflows.pairing.collecting import collect
from nearkin.workflows.pairing.inputs import Prepared, splitting
from nearkin.workflows.pairing.known import Known, histogram
from nearkin.workflows.pairing.options import PairOptions
from nearkin.workflows.pairing.results import Ranked
from nearkin.workflows.pairing.vectors import vectors_of
from nearkin.workflows.pairing.verifying import cosines_of, rows_of
from nearkin.workflows.signing.texts import Reading


@dataclass(frozen=True, slots=True)
class Compared:
    """Cosines of the same pairs, by the table and by the translation.

    Parameters
    ----------
    pairs : str
        Which pairs: the known ones, or those that were reported, which the table has chosen.
    n_pairs : int
        Of which all three documents have a vector.
    mean_by_table, mean_by_translation : float or None
    histogram_by_table, histogram_by_translation : tuple of int
        How many have a cosine from 0 to under 0.1, and so on.
    """

    pairs: str
    n_pairs: int
    mean_by_table: float | None
    mean_by_translation: float | None
    histogram_by_table: tuple[int, ...]
    histogram_by_translation: tuple[int, ...]

    def to_dict(self) -> dict[str, object]:
        """For the manifest."""
        return asdict(self)


def compare_with_translation(
    translated: Reading,
    prepared: Prepared,
    pairs: Ranked,
    known: Known | None,
    options: PairOptions,
    work: Path,
    *,
    resources: Resources,
    meter: Meter,
) -> Compared:
    """Weigh the translations as documents of the right language, and compare the same pairs.

    Raises
    ------
    ParameterError
        No translation has the id of a document on the left.
    """
    texts = translated.opened(meter.progress)
    split = splitting(prepared.table)[0][1]
    folder = work / "translated"
    folder.mkdir()
    own = collect(texts, split, folder, "left-translated", threads=resources.n_threads, meter=meter)
    vectors = vectors_of(own, prepared.right, options, None, folder, fingerprint="translated", meter=meter)
    ids = [one.documents["id"].combine_chunks().cast(pa.large_string()) for one in (prepared.left, own)]
    row_of = pc.index_in(ids[0], value_set=ids[1]).fill_null(-1).to_numpy().astype(np.int64)
    if not (row_of >= 0).any():
        raise ParameterError(
            f"--left-translated {own.name}: none of its ids is one of --left {prepared.left.name} "
            f"({ids[1][0].as_py()!r}, {ids[0][0].as_py()!r}, …)."
        )
    keys = known.keys if known is not None else _keys_of(pairs)
    left, right = rows_of(keys)
    is_there = (row_of[left] >= 0) & (prepared.vectors.left.sizes[left] > 0) & (vectors.right.sizes[right] > 0)
    is_there[is_there] = vectors.left.sizes[row_of[left[is_there]]] > 0
    keys, left, right = keys[is_there], left[is_there], right[is_there]
    other = np.asarray((row_of[left].astype(np.uint64) << np.uint64(32)) | right.astype(np.uint64))
    by_table = cosines_of(prepared.vectors, keys, resources.n_threads)
    by_translation = cosines_of(vectors, other, resources.n_threads)
    return Compared(
        f"known by {known.told_by}" if known is not None else "reported",
        len(keys),
        _mean(by_table),
        _mean(by_translation),
        histogram(by_table),
        histogram(by_translation),
    )


def _keys_of(pairs: Ranked) -> U64:
    return np.asarray((pairs.left.astype(np.uint64) << np.uint64(32)) | pairs.right.astype(np.uint64))


def _mean(cosines: F64) -> float | None:
    return round(float(cosines.mean()), 6) if len(cosines) else None
