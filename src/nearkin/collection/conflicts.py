"""Near-duplicates that carry different labels.

Source: the check of a training set in Michael Sperling, Rong Jin, Illya Rayvych, Jianghong Li, Jinfeng Yi, "Similar
Document Detection and Electronic Discovery: So Many Documents, So Little Time", 2013.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from sqlalchemy import Connection

from nearkin.collection.contents import Content, contents_of
from nearkin.collection.documents import stored_documents, with_documents
from nearkin.collection.labelled import Best, Entry, Labelled
from nearkin.collection.opened import OpenedCollection, Snapshot, StaleIndexError
from nearkin.collection.pairs import lengths_of, pairs_within
from nearkin.collection.results import StoredDocument
from nearkin.collection.similar import jaccards
from nearkin.collection.tolerance import Tolerance, check_limit
from nearkin.errors import ParameterError
from nearkin.records import F64, I64
from nearkin.stages.differences.comparing import compare_texts
from nearkin.stages.differences.comparison import Piece
from nearkin.stages.differences.marks import marked_text
from nearkin.stages.differences.passages import first_difference
from nearkin.stages.search.ranges.matches import check_threads
from nearkin.stages.verification.edit import edit_similarity
from nearkin.store.bulk import is_storable, named
from nearkin.store.schema import documents

Labels = Mapping[str, str] | Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
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
            "passage": marked_text(self.passage),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
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


def conflicts(
    collection: OpenedCollection, labels: Labels, tolerance: Tolerance, *, limit: int, threads: int
) -> Conflicts:
    """See `Collection.conflicts`."""
    if tolerance.method != "range":
        raise ParameterError.of("method", "conflicts", "range", tolerance.method)
    check_limit("conflicts", limit)
    check_threads("conflicts", threads)
    by_id = _by_id(labels)

    def ask(seen: Snapshot) -> Conflicts:
        labelled = Labelled(_entries(seen.connection, by_id))
        best, n_found = _search(collection, seen, labelled, tolerance.value, limit=limit, threads=threads)
        told = tuple(_told(seen.connection, collection, *one) for one in islice(labelled.conflicts(best), limit))
        is_counted = {one.document.doc_id: one.document.is_counted for one in labelled.entries}
        unknown = tuple(doc_id for doc_id in by_id if doc_id not in is_counted)
        n_uncounted = len(is_counted) - sum(is_counted.values())
        return Conflicts(
            tolerance=tolerance,
            conflicts=told,
            n_found=n_found,
            n_labelled=len(is_counted),
            unknown=unknown,
            n_uncounted=n_uncounted,
        )

    return collection.answered(ask)


def _by_id(labels: Labels) -> dict[str, list[str]]:
    """The labels of each document, none twice.

    Raises
    ------
    ParameterError
        They are no pairs, or something is no str.
    """
    if not isinstance(labels, Iterable):
        raise ParameterError.of("labels", "conflicts", "a mapping or pairs of ids and labels", labels)
    by_id = dict[str, list[str]]()
    for pair in labels.items() if isinstance(labels, Mapping) else labels:
        is_pair = isinstance(pair, tuple | list) and len(pair) == 2
        if not is_pair or not isinstance(pair[0], str) or not isinstance(pair[1], str):
            raise ParameterError.of("labels", "conflicts", "pairs of an id and a label, each a str", pair)
        known = by_id.setdefault(pair[0], [])
        if pair[1] not in known:
            known.append(pair[1])
    return by_id


def _entries(connection: Connection, labels: Mapping[str, Sequence[str]]) -> list[Entry]:
    """The documents that have labels; one with two labels is there twice."""
    found = list[Entry]()
    for some in named([doc_id for doc_id in labels if is_storable(doc_id)]):
        is_wanted = documents.c.doc_id.in_(some) & documents.c.is_current
        rows = connection.execute(with_documents().where(is_wanted)).all()
        for document, (row, *_) in zip(stored_documents(rows), rows, strict=True):
            found += [Entry(document, row, label) for label in labels[document.doc_id]]
    return found


def _search(
    collection: OpenedCollection, seen: Snapshot, labelled: Labelled, gamma: float, *, limit: int, threads: int
) -> tuple[Best, int]:
    """The contents with the worst conflicts, and how many conflicts there are."""
    contents, counting = labelled.contents, collection.counting
    is_live = np.zeros(sum(len(segment) for segment in seen.segments), np.bool_)
    is_live[contents] = True
    lengths = lengths_of(seen.segments, contents, counting.letters.n_dimensions)
    best, n_found = Best(limit), labelled.n_within()
    own = np.arange(len(contents))
    first = labelled.first_conflicts(own, own)
    own = own[first >= 0]
    best.add(np.zeros(len(own)), first[own], own, own)
    for pairs in pairs_within(
        counting, seen.segments, contents, is_live, gamma, threads=threads, progress=collection.progress
    ):
        a, b = np.searchsorted(contents, pairs.left), np.searchsorted(contents, pairs.right)
        first = labelled.first_conflicts(a, b)
        is_one = first >= 0
        a, b, first, squares = a[is_one], b[is_one], first[is_one], pairs.squared_distance[is_one]
        n_found += labelled.n_between(a, b)
        best.add(_relative(squares, np.maximum(lengths[a], lengths[b])), first, a, b)
    return best, n_found


def _relative(squares: I64, longest: I64) -> F64:
    """Distances as parts of the longer one's length; of both the squares are given."""
    relative: F64 = np.sqrt(squares / np.maximum(longest, 1))
    return relative


def _told(connection: Connection, collection: OpenedCollection, distance: float, one: Entry, other: Entry) -> Conflict:
    contents = contents_of(connection, [one.document.content, other.document.content])
    first, second = contents[one.document.content], contents[other.document.content]
    a, b = first.text, second.text
    is_same = a == b
    if not is_same:
        _check(first, second, distance, (one, other))
    (jaccard,) = jaccards(collection.counting, a, [b])
    edit = 1.0 if is_same else edit_similarity(a, b).similarity
    passage = () if is_same else first_difference(compare_texts(a, b, context_lines=0))
    return Conflict(
        a=one.document,
        b=other.document,
        label_a=one.label,
        label_b=other.label,
        relative_distance=distance,
        edit_similarity=edit,
        jaccard=jaccard,
        passage=passage,
    )


def _check(a: Content, b: Content, distance: float, entries: tuple[Entry, Entry]) -> None:
    """The distance once more, from the store: what is told is never what a damaged file says."""
    counts = np.stack([a.counts, b.counts]).astype(np.int64)
    gap = counts[0] - counts[1]
    longest = np.einsum("ij,ij->i", counts, counts).max(keepdims=True)
    stored = float(_relative(np.array([gap @ gap]), longest)[0])
    if stored != distance or not (a.is_counted and b.is_counted):
        names = " and ".join(str(one.document) for one in entries)
        raise StaleIndexError(f"{names} are at {stored}, not at {distance}")
