"""Comparison of table translation with the user's translation: figure 1 of the article.

Source: Ferhan Ture, Tamer Elsayed, Jimmy Lin, "No free lunch: brute force vs. locality-sensitive hashing for
cross-lingual pairwise similarity", SIGIR 2011, section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from nearkin.errors import ParameterError
from nearkin.manifests.pairs import TranslatedCosines
from nearkin.nouns import agreeing, counted
from nearkin.records import F64, I64
from nearkin.runs.meter import Meter
from nearkin.stages.search.stretches import keys_of, rows_of
from nearkin.wording import WarningMessage
from nearkin.workflows.pairing.collecting import collect
from nearkin.workflows.pairing.inputs import OfSide, Prepared, splitting
from nearkin.workflows.pairing.known import Known, histogram, shortened
from nearkin.workflows.pairing.options import PairOptions
from nearkin.workflows.pairing.tables import Ranked
from nearkin.workflows.pairing.vectors import PairVectors, vectors_of
from nearkin.workflows.pairing.verifying import cosines_of
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources


@dataclass(frozen=True, slots=True)
class TranslatedDocuments:
    """Documents on the left, translated by the user.

    Parameters
    ----------
    vectors : PairVectors
        Vectors of the translations and the right side, in their own vocabulary.
    row_of : int64 array, shape (n_left,)
        Translation of each document on the left, -1 if there is none.
    """

    vectors: PairVectors
    row_of: I64

    @classmethod
    def read(
        cls,
        translated: ReadingRequest,
        prepared: Prepared,
        options: PairOptions,
        work: Path,
        *,
        resources: Resources,
        meter: Meter,
    ) -> TranslatedDocuments:
        """Read the translations before the search, so that errors in them are reported early.

        Raises
        ------
        ParameterError
            No translation has the id of a document on the left.
        """
        texts = translated.opened(OfSide("left-translated", meter.progress))
        folder = work / "translated"
        folder.mkdir()
        split = splitting(prepared.table, options.ignored)[0][1]
        own = collect(texts, split, "left-translated", work=folder, threads=resources.n_threads, meter=meter)
        ids = [one.documents["name"].combine_chunks() for one in (prepared.left, own)]
        row_of = pc.index_in(ids[0], value_set=ids[1]).fill_null(-1).to_numpy().astype(np.int64)
        n_missing = int((row_of < 0).sum())
        if n_missing == len(row_of):
            raise ParameterError(
                f"none of the ids of {own.name} is in {prepared.left.name} ({shortened(ids[1][0].as_py())}, "
                f"{shortened(ids[0][0].as_py())}, …).",
                parameter="left_translated",
            )
        if n_missing:
            told = (
                f"--left-translated: {n_missing:,} of {counted(len(row_of), 'document')} on the left "
                f"{agreeing(n_missing, 'has', 'have')} no translation. Words are weighted by the translated "
                "documents only: translate all documents to make the weights comparable with those of the table"
            )
            meter.progress.say(WarningMessage(told))
        vectors = vectors_of(own, prepared.right, options, None, folder, fingerprint="translated", meter=meter)
        return cls(vectors, row_of)

    def compare(self, prepared: Prepared, pairs: Ranked, known: Known | None, threads: int) -> TranslatedCosines:
        """Return the cosines of the same pairs, by the table and by the translation."""
        keys = known.keys if known is not None else keys_of(pairs.left, pairs.right)
        left, right = rows_of(keys)
        own, other = prepared.vectors, self.vectors
        is_there = (self.row_of[left] >= 0) & (own.left.sizes[left] > 0) & (other.right.sizes[right] > 0)
        is_there[is_there] = other.left.sizes[self.row_of[left[is_there]]] > 0
        by_table = cosines_of(own, keys[is_there], threads)
        translated = keys_of(self.row_of[left[is_there]], right[is_there])
        by_translation = cosines_of(other, translated, threads)
        return TranslatedCosines(
            pairs=f"known by {known.told_by}" if known is not None else "reported",
            n_pairs=len(by_table),
            mean_by_table=_mean(by_table),
            mean_by_translation=_mean(by_translation),
            histogram_by_table=histogram(by_table),
            histogram_by_translation=histogram(by_translation),
        )


def _mean(cosines: F64) -> float | None:
    return round(float(cosines.mean()), 6) if len(cosines) else None
