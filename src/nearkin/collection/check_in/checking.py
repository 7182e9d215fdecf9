"""Candidates by keys, or by the similarity index, compared word by word with the text that is checked in."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from sqlalchemy import Connection, exists, select, union_all

from nearkin.collection.check_in.keys import BANDS, EXACT, SAMPLE, Keys, keys_of
from nearkin.collection.check_in.results import (
    LEAST_COMMON,
    VERDICTS,
    Checked,
    CheckedDocument,
    CheckOptions,
    Verdict,
)
from nearkin.collection.check_in.shared_keys import Asked, Searched, shared_with
from nearkin.collection.counting import NORMALISE, Counting
from nearkin.collection.documents import contents_of, current_documents
from nearkin.collection.profiles import similarity_indexes
from nearkin.collection.results import StoredDocument
from nearkin.collection.similar import word_sets
from nearkin.errors import ParameterError
from nearkin.kernels.buffers import strings
from nearkin.planning.signature_recall import distance_for
from nearkin.records import I64, U8, U64
from nearkin.reports.comparison import Piece, compare_texts, first_difference
from nearkin.stages.signatures.similarity_index import interval
from nearkin.stages.verification.edit import edit_similarity
from nearkin.store import schema
from nearkin.store.bulk import named
from nearkin.store.store import Store

MOST_SAMPLES = 4_096
"""Sampled shingles of one text that are asked for: of 130,000 words; of a longer text every second, third, …"""
_MOST_COUNTED = 1_024
MOST_COMPARED = 256
_TEXT_BYTES_AT_A_TIME = 1 << 24
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
    def of(cls, counting: Counting, text: str) -> Query:
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
class Candidates:
    """Contents that may be like a text, the most promising first, and how many of its keys were too common."""

    contents: list[int]
    sizes_bytes: list[int]
    n_crowded: int


@dataclass(frozen=True, slots=True)
class _Likeness:
    """What a comparison word by word says of a stored text."""

    content: int
    relation: Verdict
    jaccard: float
    contained: float
    contains: float
    is_same_text: bool
    text: str

    @property
    def rank(self) -> tuple[object, ...]:
        """The most alike first."""
        alike = {"contained": self.contained, "contains": self.contains}.get(self.relation, self.jaccard)
        return VERDICTS.index(self.relation), not self.is_same_text, -alike, self.content


def check(
    connection: Connection,
    store: Store,
    counting: Counting,
    text: str,
    options: CheckOptions,
    *,
    first_without_keys: int | None,
) -> Checked:
    """What is like a text, in one snapshot or transaction.

    Parameters
    ----------
    connection : Connection
    store : Store
    counting : Counting
    text : str
    options : CheckOptions
    first_without_keys : int or None
        The content from which on no keys are stored, if there are such.

    Raises
    ------
    ParameterError
    CollectionError
        A text that is a candidate is damaged in the store.
    """
    started = time.perf_counter()
    query = Query.of(counting, text)
    find = _by_keys if options.method == "minhash" else _by_index
    candidates = find(Searched(connection, store, counting, first_without_keys), query, options)
    alike = sorted(_alike(connection, counting, query, candidates, options), key=lambda one: one.rank)
    documents, n_found = _documents(connection, alike, query, options.limit)
    passage = _passage(documents, alike, query) if options.with_passage else ()
    return Checked(
        verdict=documents[0].relation if documents else "new",
        documents=documents,
        n_found=n_found,
        passage=passage,
        options=options,
        expected_recall=round(float(BANDS.probability(options.threshold)), 4) if options.method == "minhash" else None,
        n_candidates=len(candidates.contents),
        n_compared=min(len(candidates.contents), MOST_COMPARED),
        n_crowded_keys=candidates.n_crowded,
        is_answered=query.signature is not None,
        similarity_index=query.similarity_index,
        stored_as=None,
        version=None,
        elapsed_s=round(time.perf_counter() - started, 4),
    )


def _by_keys(searched: Searched, query: Query, options: CheckOptions) -> Candidates:
    """Contents that share the key of the whole text, a band, or enough sampled shingles."""
    kinds = query.keys.kinds
    samples = np.flatnonzero(kinds == SAMPLE)
    step = max(1, -(-len(samples) // MOST_SAMPLES))
    chosen = np.concatenate([np.flatnonzero(kinds != SAMPLE), samples[::step]])
    least = least_shared(options.containment / step)  # of what a part shares, every so many are asked for
    asked = Asked(query.keys.values[chosen], kinds[chosen], len(samples), least)
    kinds = asked.kinds
    shared = shared_with(searched, asked)
    marks, (n_exact, n_bands, n_samples) = shared.marks, shared.n_shared
    n_bits = np.full(len(marks), 8 * marks.signatures.shape[1] + 1)
    reach = 0
    if query.signature is not None:
        differs = np.bitwise_count(marks.signatures ^ query.signature).sum(axis=1)
        n_bits[marks.is_signed] = differs[marks.is_signed]
        reach = distance_for(options.threshold, 8 * len(query.signature))
    is_part = n_samples >= asked.least_of(marks)
    is_kept = (n_exact > 0) | ((n_bands > 0) & (n_bits <= reach)) | is_part
    order = np.lexsort((marks.contents, -n_samples, n_bits, n_exact == 0))
    return _of_documents(searched.connection, marks.contents[order[is_kept[order]]], shared.n_crowded)


@cache
def least_shared(chance: float) -> I64:
    """How many sampled shingles a text must share of so many, at the least, to be a part: the place is the number.

    A text of which a part of ``containment`` lies in another shares each with that probability, if each is asked for;
    one in a hundred shares fewer than this. For more than the last place the last number serves.

    Examples
    --------
    >>> least_shared(0.9)[[1, 3, 5, 20]].tolist()
    [1, 1, 3, 14]
    """
    chances, least = np.array([1.0]), np.ones(_MOST_COUNTED + 1, np.int64)
    for n in range(1, _MOST_COUNTED + 1):
        chances = np.append(chances, 0) * (1 - chance) + np.append(0, chances) * chance
        least[n] = max(1, int(np.searchsorted(np.cumsum(chances), _MISSED, side="right")))
    return least


def _of_documents(connection: Connection, numbers: I64, n_crowded: int) -> Candidates:
    """Those contents that some document has now, with the lengths of their texts."""
    contents, documents, sizes = schema.contents.c, schema.documents.c, dict[int, int]()
    has_one = exists().where(documents.content == contents.content, documents.is_current)
    for some in named(numbers.tolist()):
        rows = connection.execute(
            select(contents.content, contents.n_bytes).where(contents.content.in_(some), has_one)
        ).all()
        sizes |= {row[0]: row[1] if isinstance(row[1], int) else 0 for row in rows}
    kept = [number for number in numbers.tolist() if number in sizes]
    return Candidates(kept, [sizes[number] for number in kept], n_crowded)


def _by_index(searched: Searched, query: Query, options: CheckOptions) -> Candidates:
    """The contents with the nearest similarity indexes, and those that share the key of the whole text."""
    is_exact = query.keys.kinds == EXACT
    asked = Asked(query.keys.values[is_exact], query.keys.kinds[is_exact], 0, least_shared(options.containment))
    numbers = shared_with(searched, asked).marks.contents.tolist()
    if query.similarity_index is not None:
        numbers += _nearest(searched.connection, query.similarity_index, options)
    return _of_documents(searched.connection, np.array(list(dict.fromkeys(numbers)), np.int64), 0)


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


def _alike(
    connection: Connection, counting: Counting, query: Query, candidates: Candidates, options: CheckOptions
) -> list[_Likeness]:
    """Those of some contents that are like the text, compared word by word."""
    own = np.sort(query.shingles)
    normalised = NORMALISE.apply(strings([query.text]))[0].as_py()
    found = list[_Likeness]()
    for some in _some_at_a_time(candidates):
        stored = list(contents_of(connection, some).values())
        others = word_sets(counting, [one.text for one in stored])
        for one, other in zip(stored, others, strict=True):
            n_common = len(np.intersect1d(own, other, assume_unique=True))
            is_same = one.digest == query.digest
            is_equal = is_same or (
                n_common == len(own) == len(other) and NORMALISE.apply(strings([one.text]))[0].as_py() == normalised
            )
            jaccard = 1.0 if is_equal else _part(n_common, len(own) + len(other) - n_common)
            contained = 1.0 if is_equal else _part(n_common, len(own))
            contains = 1.0 if is_equal else _part(n_common, len(other))
            relation = _relation(is_equal, jaccard, contained, contains, n_common, options)
            if relation is not None:
                found.append(_Likeness(one.number, relation, jaccard, contained, contains, is_same, one.text))
    return found


def _relation(
    is_equal: bool, jaccard: float, contained: float, contains: float, n_common: int, options: CheckOptions
) -> Verdict | None:
    if is_equal:
        return "exact"
    if jaccard >= options.threshold:
        return "near"
    if n_common < LEAST_COMMON or max(contained, contains) < options.containment:
        return None
    return "contained" if contained >= contains else "contains"


def _part(n: int, of: int) -> float:
    return n / of if of else 0.0


def _some_at_a_time(candidates: Candidates) -> Iterator[list[int]]:
    """The first contents, as many at a time as memory may hold the texts of."""
    batch, n_bytes = list[int](), 0
    for number, size in zip(candidates.contents[:MOST_COMPARED], candidates.sizes_bytes):
        if batch and n_bytes + size > _TEXT_BYTES_AT_A_TIME:
            yield batch
            batch, n_bytes = [], 0
        batch.append(number)
        n_bytes += size
    if batch:
        yield batch


def _documents(
    connection: Connection, alike: Sequence[_Likeness], query: Query, limit: int
) -> tuple[tuple[CheckedDocument, ...], int]:
    """The documents that have the texts now, and how many there are."""
    found, n_found = current_documents(connection, [one.content for one in alike], limit)
    by_content = {one.content: one for one in alike}
    contents = list({one.content for one in found})
    indexes = similarity_indexes(connection, contents)
    edits = {content: _edit(by_content[content], query) for content in contents}
    return tuple(
        _checked(one, by_content[one.content], edits[one.content], indexes.get(one.content)) for one in found
    ), n_found


def _checked(document: StoredDocument, one: _Likeness, edit: float | None, index: int | None) -> CheckedDocument:
    return CheckedDocument(
        document, one.relation, one.jaccard, one.contained, one.contains, edit, index, one.is_same_text
    )


def _edit(one: _Likeness, query: Query) -> float | None:
    if one.is_same_text:
        return 1.0
    return edit_similarity(query.text, one.text).similarity if one.relation in ("exact", "near") else None


def _passage(documents: Sequence[CheckedDocument], alike: Sequence[_Likeness], query: Query) -> tuple[Piece, ...]:
    """Where the text differs from the document that is most like it."""
    if not documents or documents[0].is_same_text or documents[0].relation not in ("exact", "near"):
        return ()
    text = next(one.text for one in alike if one.content == documents[0].document.content)
    return first_difference(compare_texts(text, query.text, context_lines=0))
