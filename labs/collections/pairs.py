"""Every pair of texts, compared exactly and without any search."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labs.collections.documents import TRUE_JACCARD, LabelledTexts
from nearkin.collection.collection import Collection
from nearkin.collection.counting import DEFAULT_ALPHABET, NORMALISE, SHINGLES, TextCounting
from nearkin.collection.opened import Snapshot
from nearkin.collection.similar import near
from nearkin.collection.stored.contents import contents_of
from nearkin.collection.tolerance import Tolerance
from nearkin.kernels.overlap import n_common
from nearkin.records import F64, I64, Bool
from nearkin.runs.progress import Progress
from nearkin.stages.features.letters import LetterCounts

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
GAMMAS = (0.025, 0.05, 0.1)
SETTINGS = (*(Tolerance.of(threshold=one) for one in THRESHOLDS), *(Tolerance.of(gamma=one) for one in GAMMAS))
"""Settings that are compared, in the order of all tables."""
_ROWS_AT_A_TIME = 64


@dataclass(frozen=True, slots=True)
class BelongingPairs:
    """Pairs of texts that belong together.

    Parameters
    ----------
    left, right : int64 arrays, shape (n_pairs,)
        Rows, left before right.
    found : int64 array, shape (n_settings,)
        Number of pairs that each setting matches.
    right_found : int64 array, shape (n_settings,)
        Number of these that belong together.
    """

    left: I64
    right: I64
    found: I64
    right_found: I64

    def __len__(self) -> int:
        return len(self.left)


def compare_all(documents: LabelledTexts, progress: Progress) -> BelongingPairs:
    """Compare every pair: Jaccard similarity of word 5-grams, and relative distance of the letter counts.

    Letters are counted in the alphabet of a new collection.

    Pairs belong together if they have one label; without labels, if their Jaccard similarity is at least 0.5.
    """
    sets = SHINGLES.sets(NORMALISE.apply(documents.texts))
    offsets = np.asarray(sets.offsets, np.int64)
    counted = TextCounting(LetterCounts(DEFAULT_ALPHABET)).count(documents.texts)
    counts = counted.counts.astype(np.float64)
    squares = np.einsum("ij,ij->i", counts, counts)
    found, right_found = np.zeros(len(SETTINGS), np.int64), np.zeros(len(SETTINGS), np.int64)
    lefts, rights = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    n = len(documents)
    progress.start("compare all pairs", n, "documents")
    for start in range(0, n, _ROWS_AT_A_TIME):
        rows = np.arange(start, min(start + _ROWS_AT_A_TIME, n))
        left, right = (side.ravel() for side in np.meshgrid(rows, np.arange(n), indexing="ij"))
        left, right = left[left < right], right[left < right]
        jaccard = _jaccards(sets.hashes, offsets, left, right)
        is_true: Bool = jaccard >= TRUE_JACCARD
        if documents.labels is not None:
            is_true = documents.labels[left] == documents.labels[right]
        gaps = np.maximum(squares[left] + squares[right] - 2 * (counts[rows] @ counts.T)[left - start, right], 0)
        relative = np.sqrt(gaps / np.maximum(np.maximum(squares[left], squares[right]), 1))
        relative[~(counted.is_counted[left] & counted.is_counted[right])] = np.inf
        for i, setting in enumerate(SETTINGS):
            is_match = jaccard >= setting.value if setting.measure == "jaccard" else relative <= setting.value
            found[i] += int(is_match.sum())
            right_found[i] += int((is_match & is_true).sum())
        lefts.append(left[is_true])
        rights.append(right[is_true])
        progress.advance(len(rows))
    progress.finish()
    return BelongingPairs(np.concatenate(lefts), np.concatenate(rights), found, right_found)


def _jaccards(hashes: np.ndarray, offsets: I64, left: I64, right: I64) -> F64:
    sizes = np.diff(offsets)
    both = n_common(hashes, offsets[:-1], offsets[1:], left.astype(np.uint32), right.astype(np.uint32))
    return np.asarray(both / np.maximum(sizes[left] + sizes[right] - both, 1), np.float64)


@dataclass(frozen=True, slots=True)
class FoundCounts:
    """Counts of one setting.

    Parameters
    ----------
    n_right, n_found : int
        Number of right ones among those found, and of all that are found.
    n_true : int
        Number of those that should be found.
    n_true_found : int or None
        Number of these that are found, if a found one can stand for several; by default ``n_right``.

    Examples
    --------
    >>> FoundCounts(3, 4, 6).precision, FoundCounts(3, 4, 6).recall
    (0.75, 0.5)
    """

    n_right: int
    n_found: int
    n_true: int
    n_true_found: int | None = None

    @property
    def precision(self) -> float:
        """Share of those found that are right; NaN if nothing is found."""
        return self.n_right / self.n_found if self.n_found else math.nan

    @property
    def recall(self) -> float:
        """Share of those that should be found; NaN if there are none."""
        found = self.n_right if self.n_true_found is None else self.n_true_found
        return found / self.n_true if self.n_true else math.nan


_MANY = 100_000


def ask_collection(
    documents: LabelledTexts, true: BelongingPairs, *, n_queries: int, n_planted: int, seed: int, progress: Progress
) -> dict[str, tuple[FoundCounts, ...]]:
    """Return the outcome of every setting for "versions", "groups" and "conflicts".

    Versions are what `Collection.similar` finds for documents drawn at random. Groups are right as far as pairs in one
    group belong together. For conflicts, wrong labels are planted, and a reported conflict is right if one of its two
    documents has one.
    """
    random = np.random.default_rng(seed)
    labels, planted = _planted(documents, true, n_planted, random)
    queries = np.sort(random.choice(len(documents), min(n_queries, len(documents)), replace=False))
    found: dict[str, list[FoundCounts]] = {"versions": [], "groups": [], "conflicts": []}
    with tempfile.TemporaryDirectory() as folder, Collection.open(f"{folder}/matter", create=True) as collection:
        collection.add([(str(row), text) for row, text in enumerate(documents.texts.to_pylist())])
        progress.start("ask the collection", len(SETTINGS), "steps")
        for setting in SETTINGS:
            found["versions"].append(_versions(collection, setting, queries, true))
            found["groups"].append(_groups(collection, setting, len(documents), true))
            found["conflicts"].append(_conflicts(collection, setting, labels, planted))
            progress.advance(1)
        progress.finish()
    return {name: tuple(outcomes) for name, outcomes in found.items()}


def _versions(collection: Collection, setting: Tolerance, queries: I64, true: BelongingPairs) -> FoundCounts:
    def ask(seen: Snapshot) -> list[I64]:
        some = contents_of(seen.connection, queries.tolist())
        return [near(collection.opened, seen, some[row], setting).contents for row in queries.tolist()]

    # distinct texts that are added in one load get the numbers of their rows
    answers = collection.opened.answered(ask)
    n_found = n_right = n_true = 0
    for row, answer in zip(queries.tolist(), answers, strict=True):
        others = answer[answer != row]
        partners = np.concatenate([true.right[true.left == row], true.left[true.right == row]])
        n_found += len(others)
        n_true += len(partners)
        n_right += int(np.isin(others, partners).sum())
    return FoundCounts(n_right, n_found, n_true)


def _groups(collection: Collection, setting: Tolerance, n_documents: int, true: BelongingPairs) -> FoundCounts:
    members = collection.groups(threshold=_limit(setting, "threshold"), gamma=_limit(setting, "gamma")).members
    group_of = np.full(n_documents, -1, np.int64)
    group_of[np.array(members["doc_id"].to_pylist(), np.int64)] = members["group"].to_numpy()
    sizes = np.bincount(group_of[group_of >= 0]).astype(np.int64)
    is_together = (group_of[true.left] == group_of[true.right]) & (group_of[true.left] >= 0)
    return FoundCounts(int(is_together.sum()), int((sizes * (sizes - 1) // 2).sum()), len(true))


def _conflicts(collection: Collection, setting: Tolerance, labels: Sequence[str], planted: I64) -> FoundCounts:
    given = {str(row): label for row, label in enumerate(labels)}
    found = collection.conflicts(
        given, threshold=_limit(setting, "threshold"), gamma=_limit(setting, "gamma"), limit=_MANY
    )
    wrong = set(map(str, planted.tolist()))
    named = [{one.a.doc_id, one.b.doc_id} & wrong for one in found.conflicts]
    return FoundCounts(
        sum(map(bool, named)), len(named), len(wrong), n_true_found=len(set().union(*named) if named else set())
    )


def _limit(setting: Tolerance, name: str) -> float | None:
    return setting.value if setting.parameter == name else None


def _planted(
    documents: LabelledTexts, true: BelongingPairs, n_planted: int, random: np.random.Generator
) -> tuple[list[str], I64]:
    """Return labels of all documents, and the rows with a wrong one, which belong together with another document."""
    rows = np.unique(np.concatenate([true.left, true.right]))
    planted = np.sort(random.choice(rows, min(n_planted, len(rows) // 2), replace=False))
    labels = ["right"] * len(documents) if documents.labels is None else [str(one) for one in documents.labels.tolist()]
    for row in planted.tolist():
        labels[row] = f"wrong {row}"
    return labels, planted
