"""Search by similarity index, a single query of one indexed column; what such a search finds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, func, select

from nearkin.errors import FingerprintError
from nearkin.planning.part_recall import PartRecall
from nearkin.records import I64
from nearkin.stages.signatures.similarity_index import SimilarityIndex, interval
from nearkin.store import schema

MOST, LEAST = 2**63 - 1, -(2**63)
"""Range of values of the column."""


def near_by_index(connection: Connection, own: int | None, tolerance: float) -> Near:
    """Return the contents within a relative tolerance of a similarity index, the nearest first.

    The interval around 0 is empty, as in the paper; so a text with index 0 finds nothing, like one without an index.
    """
    stage = "texts with a similarity index in the interval"
    low, high = interval(own, tolerance) if own is not None else (1, 0)
    if own is None or low > high:
        return Near(contents=np.zeros(0, np.int64), stages=((stage, 0),), is_answered=False)
    profiles = schema.profiles.c
    value = profiles.similarity_index
    is_near = value.between(max(low, LEAST), min(high, MOST))
    rows = connection.execute(select(profiles.content, value).where(is_near)).all()
    nearest = sorted(rows, key=lambda row: (abs(row[1] - own), row[0]))
    return Near(
        contents=np.array([row[0] for row in nearest], np.int64), stages=((stage, len(nearest)),), is_answered=True
    )


def chosen(index: SimilarityIndex | str | None) -> SimilarityIndex | None:
    """Return the method named by the user.

    Raises
    ------
    ParameterError
    """
    if index is None or isinstance(index, SimilarityIndex):
        return index
    return SimilarityIndex.parse(index)


def check_index(place: object, own: SimilarityIndex, asked: SimilarityIndex | str | None) -> None:
    """Refuse a method other than the collection's.

    Raises
    ------
    FingerprintError
        The methods differ; the message names both.
    """
    method = chosen(asked)
    if method is not None and method.fingerprint != own.fingerprint:
        raise FingerprintError(
            f"{place} has similarity indexes by {own} ({own.fingerprint!r}), not by {method} ({method.fingerprint!r}); "
            "the two cannot be compared. The method is fixed when a collection is created: omit --index, "
            f"or add the documents to a new collection with --index {method.spec}"
        )


def n_indexed(connection: Connection) -> int:
    """Count the texts with a similarity index."""
    return int(connection.execute(select(func.count(schema.profiles.c.similarity_index))).scalar_one())


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Contents near a query, the nearest first, and the number that passed each stage."""

    contents: I64
    stages: tuple[tuple[str, int], ...]
    is_answered: bool
    n_not_compared: int = 0
    """Number of candidates that were not compared word by word, as there were too many; the nearest ones were."""
    n_hot_keys: int = 0
    """Number of keys that occur in too many texts to look at all of them."""
    part_recall: PartRecall | None = None
    """Expected recall of a search by containment, if it is known."""
