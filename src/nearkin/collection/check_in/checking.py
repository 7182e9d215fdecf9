"""Candidates by keys, or by the similarity index, compared word by word with the text that is checked in."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, Row, select

from nearkin.collection.check_in.keys import BAND, BANDS, EXACT, SAMPLE, Keys, keys_of
from nearkin.collection.check_in.results import (
    LEAST_COMMON,
    VERDICTS,
    Checked,
    CheckedDocument,
    CheckOptions,
    Verdict,
)
from nearkin.collection.check_in.stored_keys import shared_with
from nearkin.collection.counting import NORMALISE, Counting
from nearkin.collection.documents import contents_of, current_documents
from nearkin.collection.profiles import similarity_indexes
from nearkin.collection.results import StoredDocument
from nearkin.errors import ParameterError
from nearkin.kernels.buffers import strings
from nearkin.planning.signature_recall import distance_for
from nearkin.records import I64, U8, U64, Bool
from nearkin.reports.comparison import Piece, compare_texts, first_difference
from nearkin.stages.signatures.similarity_index import interval
from nearkin.stages.verification.edit import edit_similarity
from nearkin.store import schema
from nearkin.store.bulk import named
from nearkin.store.store import Store

MOST_SAMPLES = 1_024
"""Sampled shingles of one text that are asked for; of 33,000 words."""
MOST_COMPARED = 256
_TEXT_BYTES_AT_A_TIME = 1 << 24
_SPREAD = 3.1  # standard deviations: one in a thousand is farther off
_NOTHING: I64 = np.zeros(0, np.int64)


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

    contents: I64
    n_found: int
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


def check(connection: Connection, store: Store, counting: Counting, text: str, options: CheckOptions) -> Checked:
    """What is like a text, in one snapshot or transaction.

    Raises
    ------
    ParameterError
    CollectionError
        A text that is a candidate is damaged in the store.
    """
    started = time.perf_counter()
    query = Query.of(counting, text)
    find = _by_keys if options.method == "minhash" else _by_index
    candidates = find(connection, store, query, options)
    compared = candidates.contents[:MOST_COMPARED]
    alike = sorted(_alike(connection, query, compared.tolist(), options), key=lambda one: one.rank)
    documents, n_found = _documents(connection, alike, query, options.limit)
    passage = _passage(documents, alike, query)
    return Checked(
        documents[0].relation if documents else "new",
        documents,
        n_found,
        passage,
        options,
        round(float(BANDS.probability(options.threshold)), 4) if options.method == "minhash" else None,
        candidates.n_found,
        len(compared),
        candidates.n_crowded,
        query.signature is not None,
        query.similarity_index,
        None,
        round(time.perf_counter() - started, 4),
    )


def _by_keys(connection: Connection, store: Store, query: Query, options: CheckOptions) -> Candidates:
    """Contents that share the key of the whole text, a band, or enough sampled shingles."""
    samples = np.flatnonzero(query.keys.kinds == SAMPLE)
    others = np.flatnonzero(query.keys.kinds != SAMPLE)
    is_sparse = len(samples) > MOST_SAMPLES
    asked = np.concatenate([others, samples[:: -(-len(samples) // MOST_SAMPLES)] if is_sparse else samples])
    shared = shared_with(connection, store, query.keys.values[asked])
    kinds = query.keys.kinds[asked][shared.keys]
    numbers, of_key = np.unique(shared.contents, return_inverse=True)
    n_shared = [np.bincount(of_key[kinds == kind], minlength=len(numbers)) for kind in (EXACT, BAND, SAMPLE)]
    if not len(numbers):
        return Candidates(_NOTHING, 0, shared.n_crowded)
    n_bits, n_characters, is_current = _stored(connection, numbers, query)
    reach = distance_for(options.threshold, 8 * len(query.signature)) if query.signature is not None else 0
    is_near = (n_shared[1] > 0) & (n_bits <= reach)
    n_asked = int((query.keys.kinds[asked] == SAMPLE).sum())
    is_part = _may_be_part(n_shared[2], n_asked, n_characters / max(1, len(query.text)), options.containment)
    is_kept = is_current & ((n_shared[0] > 0) | is_near | is_part)
    order = np.lexsort((numbers, -n_shared[2], n_bits, n_shared[0] == 0))
    kept = order[is_kept[order]]
    return Candidates(numbers[kept], len(kept), shared.n_crowded)


def _may_be_part(n_shared: I64, n_asked: int, length: object, containment: float) -> Bool:
    """Whether the one text may be contained in the other, by the sampled shingles that they share.

    Of two texts of which the shorter is contained in the longer, the sampled shingles of the shorter are shared, but
    for chance. ``length`` is that of the stored text, as a part of the length of the other.
    """
    n_of_shorter = n_asked * np.minimum(1.0, np.asarray(length, np.float64) / containment)
    expected = containment * n_of_shorter
    return n_shared >= np.maximum(
        1, np.floor(expected - _SPREAD * np.sqrt(expected * (1 - containment) + expected / 4))
    )


def _by_index(connection: Connection, store: Store, query: Query, options: CheckOptions) -> Candidates:
    """The contents with the nearest similarity indexes, and those that share the key of the whole text."""
    exact = query.keys.values[query.keys.kinds == EXACT]
    numbers = np.unique(shared_with(connection, store, exact).contents).tolist()
    if query.similarity_index is not None:
        numbers += _nearest(connection, query.similarity_index, options)
    distinct = np.array(list(dict.fromkeys(numbers)), np.int64)
    return Candidates(distinct, len(distinct), 0)


def _nearest(connection: Connection, own: int, options: CheckOptions) -> list[int]:
    """By two walks along the indexed column, up and down from the number itself; each ends when it has enough."""
    low, high = interval(own, options.tolerance)
    profiles = schema.profiles.c
    value = profiles.similarity_index
    most = max(options.limit, 10)
    walks = [
        select(profiles.content, value).where(value.between(own, min(high, 2**63 - 1))).order_by(value).limit(most),
        select(profiles.content, value)
        .where(value.between(max(low, -(2**63)), own - 1))
        .order_by(value.desc())
        .limit(most),
    ]
    rows = [row for walk in walks for row in connection.execute(walk)] if low <= own <= high else []
    return [row[0] for row in sorted(rows, key=lambda row: (abs(row[1] - own), row[0]))[:most]]


def _stored(connection: Connection, numbers: I64, query: Query) -> tuple[I64, I64, Bool]:
    """Of each content: the bits in which its signature differs, its characters, and whether any document has it now."""
    contents, documents = schema.contents.c, schema.documents.c
    rows, current = list[Row[int, bytes | None, int]](), set[int]()
    for some in named(numbers.tolist()):
        wanted = select(contents.content, contents.signature, contents.n_characters).where(contents.content.in_(some))
        rows += connection.execute(wanted.order_by(contents.content)).all()
        has_one = select(documents.content).where(documents.content.in_(some), documents.is_current)
        current.update(connection.execute(has_one).scalars())
    width = 0 if query.signature is None else len(query.signature)
    n_bits = np.full(len(rows), 8 * width + 1, np.int64)
    signed = [i for i, row in enumerate(rows) if width and row[1] is not None and len(row[1]) == width]
    if signed and query.signature is not None:
        packed = np.frombuffer(b"".join(rows[i][1] or b"" for i in signed), np.uint8).reshape(len(signed), width)
        n_bits[signed] = np.bitwise_count(packed ^ query.signature).sum(axis=1)
    n_characters = np.array([row[2] for row in rows], np.int64)
    return n_bits, n_characters, np.isin(numbers, np.fromiter(current, np.int64, len(current)))


def _alike(connection: Connection, query: Query, numbers: Sequence[int], options: CheckOptions) -> list[_Likeness]:
    """Those of some contents that are like the text, compared word by word."""
    own = np.sort(query.shingles)
    normalised = NORMALISE.apply(strings([query.text]))[0].as_py()
    found = list[_Likeness]()
    for some in _some_at_a_time(connection, numbers):
        stored = list(contents_of(connection, some).values())
        keys = keys_of([one.text for one in stored]).sets
        for i, one in enumerate(stored):
            other = keys.hashes[keys.offsets[i] : keys.offsets[i + 1]]
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


def _some_at_a_time(connection: Connection, numbers: Sequence[int]) -> list[list[int]]:
    """The contents, as many at a time as memory may hold the texts of."""
    contents, batches, n_bytes = schema.contents.c, list[list[int]](), _TEXT_BYTES_AT_A_TIME
    for some in named(numbers):
        query = select(contents.content, contents.n_bytes).where(contents.content.in_(some))
        for number, length in connection.execute(query):
            if n_bytes >= _TEXT_BYTES_AT_A_TIME:
                batches.append([])
                n_bytes = 0
            batches[-1].append(number)
            n_bytes += length if isinstance(length, int) else 0
    return batches


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
    if not documents or documents[0].is_same_text:
        return ()
    text = next(one.text for one in alike if one.content == documents[0].document.content)
    return first_difference(compare_texts(text, query.text, context_lines=0))
