"""A collection of the texts, asked for versions, groups and conflicts at every setting."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence

import numpy as np

from labs.collections.documents import LabelledTexts
from labs.collections.outcome import FoundCounts
from labs.collections.pairs import SETTINGS, BelongingPairs
from nearkin.collection.collection import Collection
from nearkin.collection.opened import Snapshot
from nearkin.collection.similar import asked_near
from nearkin.collection.stored.contents import contents_of
from nearkin.collection.tolerance import Tolerance
from nearkin.records import I64
from nearkin.runs.progress import Progress

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
        counting, store = collection.opened.counting, collection.opened.store
        asked = (some[row] for row in queries.tolist())
        near = (asked_near(seen.connection, counting, seen.segments, one, setting, store)[0] for one in asked)
        return [one.contents for one in near]

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
