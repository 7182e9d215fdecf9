"""Near-duplicates that carry different labels.

Source: the check of a training set in Michael Sperling, Rong Jin, Illya Rayvych, Jianghong Li, Jinfeng Yi, "Similar
Document Detection and Electronic Discovery: So Many Documents, So Little Time", 2013.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection

from nearkin.collection.documents import contents_of, with_documents
from nearkin.collection.pairs import counts_of, pairs_within
from nearkin.collection.results import StoredDocument
from nearkin.collection.similar import jaccards
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError
from nearkin.records import I64
from nearkin.reports.comparison import Piece, compare_texts, first_difference
from nearkin.reports.comparison_terminal import pieces_to_terminal
from nearkin.stages.search.range_directions import squared_lengths
from nearkin.stages.verification.edit import edit_similarity
from nearkin.store.bulk import named
from nearkin.store.schema import documents

if TYPE_CHECKING:
    from nearkin.collection.collection import Collection, Snapshot

MOST_TOLD = 1_000
Labels = Mapping[str, str] | Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two documents that are nearly the same and carry different labels.

    Parameters
    ----------
    a, b : StoredDocument
        The one that came first is A. One document with two labels is a conflict with itself.
    label_a, label_b : str
    relative_distance : float
        Between the letter counts, as a part of the longer one's length.
    edit_similarity : float or None
        In characters; None if it would have taken too long.
    jaccard : float
        Of the sets of five words.
    passage : tuple of Piece
        The most telling difference, with a few words around it; empty if the texts are equal.
    """

    a: StoredDocument
    b: StoredDocument
    label_a: str
    label_b: str
    relative_distance: float
    edit_similarity: float | None
    jaccard: float
    passage: tuple[Piece, ...]

    def to_dict(self) -> dict[str, object]:
        """For JSON and tables: the passage as one text, with its marks."""
        return {
            "id_a": self.a.doc_id,
            "label_a": self.label_a,
            "id_b": self.b.doc_id,
            "label_b": self.label_b,
            "relative_distance": self.relative_distance,
            "edit_similarity": self.edit_similarity,
            "jaccard": self.jaccard,
            "passage": "".join(text for _, text in pieces_to_terminal(self.passage)),
        }


@dataclass(frozen=True, slots=True)
class Conflicts:
    """All conflicts within a tolerance.

    Parameters
    ----------
    tolerance : Tolerance
    conflicts : tuple of Conflict
        The worst first: the nearest texts. At most as many as were asked for.
    n_found : int
    n_labelled : int
        Documents of the collection with a label.
    unknown : tuple of str
        Ids with a label that the collection does not have.
    n_uncounted : int
        Labelled documents with too few letters to be compared, but with their copies.
    """

    tolerance: Tolerance
    conflicts: tuple[Conflict, ...]
    n_found: int
    n_labelled: int
    unknown: tuple[str, ...]
    n_uncounted: int

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "gamma": self.tolerance.value,
            "n_found": self.n_found,
            "n_labelled": self.n_labelled,
            "n_unknown": len(self.unknown),
            "unknown": list(self.unknown[:100]),
            "n_uncounted": self.n_uncounted,
            "conflicts": [one.to_dict() for one in self.conflicts],
        }


@dataclass(frozen=True, slots=True)
class _Labelled:
    """A document with one of its labels."""

    document: StoredDocument
    row: int
    label: str


def conflicts(collection: Collection, labels: Labels, tolerance: Tolerance, *, limit: int, threads: int) -> Conflicts:
    """See `Collection.conflicts`."""
    if tolerance.method != "range":
        raise ParameterError.of("method", "conflicts", "range", tolerance.method)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise ParameterError.of("limit", "conflicts", "an int >= 1", limit)
    by_id = dict[str, list[str]]()
    for doc_id, label in labels.items() if isinstance(labels, Mapping) else labels:
        known = by_id.setdefault(doc_id, [])
        if label not in known:
            known.append(label)

    def ask(seen: Snapshot) -> Conflicts:
        labelled = _labelled(seen.connection, by_id)
        found = _pairs(collection, seen, labelled, tolerance.value, threads)
        told = _told(seen.connection, collection, found[:limit])
        here = {one.document.doc_id for one in labelled}
        n_uncounted = len({one.document.doc_id for one in labelled if not one.document.is_counted})
        unknown = tuple(doc_id for doc_id in by_id if doc_id not in here)
        return Conflicts(tolerance, told, len(found), len(here), unknown, n_uncounted)

    return collection.answered(ask)


def _labelled(connection: Connection, labels: Mapping[str, Sequence[str]]) -> list[_Labelled]:
    """The documents that have labels, in the order in which they came; one with two labels is there twice."""
    found = list[_Labelled]()
    for some in named([doc_id for doc_id in labels if "\0" not in doc_id]):
        is_wanted = documents.c.doc_id.in_(some) & documents.c.is_current
        for *columns, row in connection.execute(with_documents().add_columns(documents.c.row).where(is_wanted)):
            document = StoredDocument(*columns)
            found += [_Labelled(document, row, label) for label in labels[document.doc_id]]
    return sorted(found, key=lambda one: one.row)


_Pair = tuple[float, _Labelled, _Labelled]


def _pairs(
    collection: Collection, seen: Snapshot, labelled: Sequence[_Labelled], gamma: float, threads: int
) -> list[_Pair]:
    """Labelled documents that match and differ in their label, the nearest first."""
    by_content = dict[int, list[_Labelled]]()
    for one in labelled:
        by_content.setdefault(one.document.content, []).append(one)
    contents = np.array(sorted(by_content), np.int64)
    is_live = np.zeros(sum(len(segment) for segment in seen.segments), np.bool_)
    is_live[contents] = True
    matched = pairs_within(
        collection.counting, seen.segments, contents, is_live, gamma, threads=threads, progress=collection.progress
    )
    distances = _relative(collection, seen, matched.left, matched.right, matched.squared_distance)
    near = {
        (min(a, b), max(a, b)): distance
        for a, b, distance in zip(matched.left.tolist(), matched.right.tolist(), distances.tolist())
    }
    found = list[_Pair]()
    for number in by_content:
        near[(number, number)] = 0.0
    for (a, b), distance in near.items():
        for one in by_content[a]:
            for other in by_content[b]:
                if one.label != other.label and (a != b or (one.row, one.label) < (other.row, other.label)):
                    first, second = sorted((one, other), key=lambda each: each.row)
                    found.append((distance, first, second))
    return sorted(found, key=lambda pair: (pair[0], pair[1].row, pair[2].row, pair[1].label, pair[2].label))


def _relative(collection: Collection, seen: Snapshot, left: I64, right: I64, squares: I64) -> Any:
    """Distances as parts of the longer one's length."""
    n_dimensions = collection.counting.letters.n_dimensions
    a, b = (squared_lengths(counts_of(seen.segments, one, n_dimensions)) for one in (left, right))
    return np.sqrt(squares / np.maximum(np.maximum(a, b), 1))


def _told(connection: Connection, collection: Collection, pairs: Sequence[_Pair]) -> tuple[Conflict, ...]:
    told = list[Conflict]()
    for distance, one, other in pairs:
        contents = contents_of(connection, [one.document.content, other.document.content])
        a, b = contents[one.document.content].text, contents[other.document.content].text
        is_same = a == b
        (jaccard,) = jaccards(collection.counting, a, [b])
        edit = 1.0 if is_same else edit_similarity(a, b).similarity
        passage = () if is_same else first_difference(compare_texts(a, b, context_lines=0))
        rounded = 0.0 if math.isclose(distance, 0) else distance
        told.append(Conflict(one.document, other.document, one.label, other.label, rounded, edit, jaccard, passage))
    return tuple(told)
