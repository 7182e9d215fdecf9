"""A text that is checked in, and the stored texts that may be like it: by keys, or by the similarity index."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from sqlalchemy import Connection, exists, select, union_all

from nearkin.collection.check_in.results import CheckOptions
from nearkin.collection.check_in.shared_keys import AskedKeys, Searched, Shared, shared_with
from nearkin.collection.counting import TextCounting
from nearkin.collection.documents import refuse_changed, refuse_hidden
from nearkin.collection.keys import EXACT, SAMPLE, Keys, keys_of
from nearkin.collection.known_texts import numbers_of
from nearkin.errors import ParameterError
from nearkin.kernels.buffers import strings
from nearkin.planning.signature_recall import distance_for
from nearkin.records import I64, U8, U64
from nearkin.stages.signatures.similarity_index import interval
from nearkin.store import schema
from nearkin.store.bulk import named

MAX_SAMPLES = 4_096
"""Sampled shingles of one text that are asked for: of 130,000 words; of a longer text every second, third, …"""
_MAX_COUNTED = 1_024
_MISSED = 0.01


@dataclass(frozen=True, slots=True)
class Query:
    """A text that is checked in, and what is worked out of it.

    Parameters
    ----------
    text : str
    digest : bytes
        SHA-256 of the text as it came.
    keys : Keys
    signature : uint8 array or None
    similarity_index : int or None
    """

    text: str
    digest: bytes
    keys: Keys
    signature: U8 | None
    similarity_index: int | None

    @classmethod
    def of(cls, counting: TextCounting, text: str) -> Query:
        """Count, sign and index a text.

        Raises
        ------
        ParameterError
            It is none, or UTF-8 cannot hold it.
        """
        if not isinstance(text, str):
            raise ParameterError.of("text", "check", "a str", text)
        try:
            digest = hashlib.sha256(text.encode("utf-8")).digest()
        except UnicodeEncodeError as error:
            raise ParameterError.of("text", "check", "text that UTF-8 can hold", text[error.start]) from error
        texts = strings([text])
        signed, indexed = counting.sign(texts), counting.index(texts)
        signature: U8 | None = signed.packed[0] if signed.has_features[0] else None
        own = int(indexed.values[0]) if indexed.has_value[0] else None
        return cls(text, digest, keys_of([text]), signature, own)

    @property
    def shingles(self) -> U64:
        """Its set of five words."""
        return self.keys.sets.hashes


@dataclass(frozen=True, slots=True)
class CheckCandidates:
    """Contents that may be like a text.

    Parameters
    ----------
    contents, sizes_bytes : list of int
        The most promising first.
    n_skewed : int
        Keys of the text that were too common.
    lost : list of int
        Contents that nobody can know about: they have no keys, because their stored texts are damaged.
    """

    contents: list[int]
    sizes_bytes: list[int]
    n_skewed: int
    lost: list[int]


def candidates_of(searched: Searched, query: Query, options: CheckOptions) -> CheckCandidates:
    """The contents that may be like a text; one that has its digest is among them, whatever its keys are."""
    return (_by_keys if options.method == "minhash" else _by_index)(searched, query, options)


def _by_keys(searched: Searched, query: Query, options: CheckOptions) -> CheckCandidates:
    """Contents that share the key of the whole text, a band, or enough sampled shingles."""
    kinds = query.keys.kinds
    samples = np.flatnonzero(kinds == SAMPLE)
    step = max(1, -(-len(samples) // MAX_SAMPLES))
    chosen = np.concatenate([np.flatnonzero(kinds != SAMPLE), samples[::step]])
    least = min_shared(options.containment / step)  # of what a part shares, every so many are asked for
    asked = AskedKeys(query.keys.values[chosen], kinds[chosen], len(samples), least)
    kinds = asked.kinds
    shared = shared_with(searched, asked)
    marks, (n_exact, n_bands, n_samples) = shared.marks, shared.n_shared
    n_bits = np.full(len(marks), 8 * marks.signatures.shape[1] + 1)
    reach = 0
    if query.signature is not None:
        differs = np.bitwise_count(marks.signatures ^ query.signature).sum(axis=1)
        n_bits[marks.is_signed] = differs[marks.is_signed]
        reach = distance_for(options.threshold, 8 * len(query.signature))
    is_part = n_samples >= asked.min_of(marks)
    is_kept = (n_exact > 0) | ((n_bands > 0) & (n_bits <= reach)) | is_part
    order = np.lexsort((marks.contents, -n_samples, n_bits, n_exact == 0))
    return _of_documents(searched.connection, query, marks.contents[order[is_kept[order]]], shared)


@cache
def min_shared(chance: float) -> I64:
    """How many sampled shingles a text must share of so many, at the least, to be a part: the place is the number.

    A text of which a part of ``containment`` lies in another shares each with that probability, if each is asked for;
    one in a hundred shares fewer than this. For more than the last place the last number serves.

    Examples
    --------
    >>> min_shared(0.9)[[1, 3, 5, 20]].tolist()
    [1, 1, 3, 14]
    """
    chances, least = np.array([1.0]), np.ones(_MAX_COUNTED + 1, np.int64)
    for n in range(1, _MAX_COUNTED + 1):
        chances = np.append(chances, 0) * (1 - chance) + np.append(0, chances) * chance
        least[n] = max(1, int(np.searchsorted(np.cumsum(chances), _MISSED, side="right")))
    return least


def _of_documents(connection: Connection, query: Query, numbers: I64, shared: Shared) -> CheckCandidates:
    """Those contents that some document has now, with the lengths of their texts.

    Raises
    ------
    CollectionError
        One of them is left out because something is damaged.
    """
    same = list(numbers_of(connection, [query.digest]).values())
    wanted = list(dict.fromkeys([*same, *numbers.tolist()]))
    sizes = _sizes_of_current(connection, wanted)
    refuse_hidden(connection, [number for number in wanted if number in same or number not in sizes])
    refuse_changed(connection, [number for number in same if number not in sizes])
    lost = _sizes_of_current(connection, list(shared.lost)).keys() - sizes.keys()
    return CheckCandidates(list(sizes), list(sizes.values()), shared.n_skewed, sorted(lost))


def _sizes_of_current(connection: Connection, numbers: Sequence[int]) -> dict[int, int]:
    """Those contents that some document has now, in their order, with the lengths of their texts."""
    contents, documents, sizes = schema.contents.c, schema.documents.c, dict[int, int]()
    has_one = exists().where(documents.content == contents.content, documents.is_current)
    for some in named(numbers):
        rows = connection.execute(
            select(contents.content, contents.n_bytes).where(contents.content.in_(some), has_one)
        ).all()
        sizes |= {row[0]: row[1] if isinstance(row[1], int) else 0 for row in rows}
    return {number: sizes[number] for number in numbers if number in sizes}


def _by_index(searched: Searched, query: Query, options: CheckOptions) -> CheckCandidates:
    """The contents with the nearest similarity indexes, and those that share the key of the whole text."""
    is_exact = query.keys.kinds == EXACT
    asked = AskedKeys(query.keys.values[is_exact], query.keys.kinds[is_exact], 0, min_shared(options.containment))
    shared = shared_with(searched, asked)
    numbers = shared.marks.contents.tolist()
    if query.similarity_index is not None:
        numbers += _nearest(searched.connection, query.similarity_index, options)
    found = _of_documents(searched.connection, query, np.array(list(dict.fromkeys(numbers)), np.int64), shared)
    return replace(found, n_skewed=0)


def _nearest(connection: Connection, own: int, options: CheckOptions) -> list[int]:
    """By two walks along the indexed column, up and down from the number itself; each ends when it has enough."""
    low, high = interval(own, options.tolerance)
    profiles = schema.profiles.c
    value = profiles.similarity_index
    most = max(options.limit, 10)
    has_one = exists().where(schema.documents.c.content == profiles.content, schema.documents.c.is_current)
    up = select(profiles.content, value).where(value.between(own, min(high, 2**63 - 1)), has_one)
    down = select(profiles.content, value).where(value.between(max(low, -(2**63)), own - 1), has_one)
    walks = (up.order_by(value).limit(most).subquery(), down.order_by(value.desc()).limit(most).subquery())
    rows = connection.execute(union_all(*map(select, walks))).all() if low <= own <= high else []
    return [row[0] for row in sorted(rows, key=lambda row: (abs(row[1] - own), row[0]))[:most]]
