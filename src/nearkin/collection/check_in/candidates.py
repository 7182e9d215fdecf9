"""Candidates of a check-in: stored texts that may be similar, found by keys or by the similarity index."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from sqlalchemy import Connection, exists, select, union_all

from nearkin.collection.check_in.results import MIN_COMMON, CheckOptions
from nearkin.collection.check_in.shared_keys import AskedKeys, KnownContents, Searched, Shared, shared_with
from nearkin.collection.counting import TextCounting
from nearkin.collection.loads.known_texts import numbers_of
from nearkin.collection.stored.reach import EXACT, SAMPLE, SAMPLING, Keys, keys_of
from nearkin.errors import ParameterError
from nearkin.kernels.buffers import strings
from nearkin.planning.neighbour_recall import distance_for
from nearkin.planning.part_recall import PartRecall, SampledSearch
from nearkin.records import I64, U8, U64
from nearkin.stages.signatures.similarity_index import interval
from nearkin.store import schema
from nearkin.store.bulk import in_slices

MAX_SAMPLES = 4_096
"""Maximum number of sampled shingles to look up: all of a text of 130,000 words; every 2nd, 3rd, … of a longer text."""
PARTS_JACCARD = 0.5
"""Jaccard similarity whose signatures bound the candidates with a common band, if parts are looked for, too."""
_MAX_COUNTED = 1_024
_MISSED = 0.01


@dataclass(frozen=True, slots=True)
class Query:
    """A text that is checked in, with its keys, signature and similarity index.

    Parameters
    ----------
    text : str
    digest : bytes
        SHA-256 of the unchanged text.
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
    def of(cls, counting: TextCounting, text: str, *, with_index: bool = False) -> Query:
        """Count, sign and, if asked for, index a text.

        Raises
        ------
        ParameterError
            The text is not a str, or cannot be encoded as UTF-8.
        """
        if not isinstance(text, str):
            raise ParameterError.of("text", "a str", text)
        try:
            digest = hashlib.sha256(text.encode("utf-8")).digest()
        except UnicodeEncodeError as error:
            raise ParameterError.of("text", "text that can be encoded as UTF-8", text[error.start]) from error
        texts = strings([text])
        signed, indexed = counting.sign(texts), counting.index(texts) if with_index else None
        signature: U8 | None = signed.packed[0] if signed.has_features[0] else None
        own = int(indexed.values[0]) if indexed is not None and indexed.has_value[0] else None
        return cls(text, digest, keys_of([text], counting.ignored), signature, own)

    @property
    def shingles(self) -> U64:
        """Set of word 5-grams."""
        return self.keys.sets.hashes


@dataclass(frozen=True, slots=True)
class CheckCandidates:
    """Contents that may be similar to a text.

    Parameters
    ----------
    contents, sizes_bytes : list of int
        The most promising first.
    n_skewed : int
        Number of keys that occur in too many texts.
    lost : list of int
        Contents that cannot be compared: they have no keys, because their stored texts are damaged.
    part_recall : PartRecall or None
        Expected recall of texts that contain the text, and of its parts. None if it was not asked for, or is unknown:
        without a search for parts, or if a key occurs in too many texts.
    """

    contents: list[int]
    sizes_bytes: list[int]
    n_skewed: int
    lost: list[int]
    part_recall: PartRecall | None = None


def candidates_of(searched: Searched, query: Query, options: CheckOptions) -> CheckCandidates:
    """Return the contents that may be similar to a text; a content with the same digest is always included."""
    if options.method == "minhash":
        return _by_keys(searched, query, options)
    return _by_index(searched, query, options)


def _by_keys(searched: Searched, query: Query, options: CheckOptions) -> CheckCandidates:
    """Return the contents that share the key of the whole text, a band, or enough sampled shingles."""
    kinds = query.keys.kinds
    samples = np.flatnonzero(kinds == SAMPLE)
    step = max(1, -(-len(samples) // MAX_SAMPLES))
    chosen = np.concatenate([np.flatnonzero(kinds != SAMPLE), samples[::step]])
    # only every ``step``-th sampled shingle is looked up
    least = least_shared(_min_containment(options) / step, _power_of_two(len(samples)))
    asked = AskedKeys(query.keys.values[chosen], kinds[chosen], len(samples), least, query.digest)
    kinds = asked.kinds
    shared = shared_with(searched, asked)
    marks, (n_exact, n_bands, n_samples) = shared.marks, shared.n_shared
    n_bits = np.full(len(marks), 8 * marks.signatures.shape[1] + 1)
    reach, reach_of_parts = 0, 0
    if query.signature is not None:
        differs = np.bitwise_count(marks.signatures ^ query.signature).sum(axis=1)
        n_bits[marks.is_signed] = differs[marks.is_signed]
        reach, reach_of_parts = (distance_for(one, 8 * len(query.signature)) for one in _least_jaccard(options))
    is_promising = (n_exact > 0) | ((n_bands > 0) & (n_bits <= reach)) | (n_samples >= asked.min_of(marks))
    is_kept = is_promising | ((n_bands > 0) & (n_bits <= reach_of_parts))
    order = np.lexsort((marks.contents, -n_samples, n_bits, ~is_promising, n_exact == 0))
    found = _of_documents(searched.connection, query, marks.contents[order[is_kept[order]]], shared)
    if options.containment is None or found.n_skewed:
        return found
    search = SampledSearch(
        n_shingles=len(query.shingles),
        n_samples=len(samples),
        n_asked=len(samples[::step]),
        rate=SAMPLING.rate,
        least=least,
        min_common=MIN_COMMON,
    )
    return replace(found, part_recall=search.recall(options.containment))


def _least_jaccard(options: CheckOptions) -> tuple[float, float]:
    """Return the Jaccard similarities that texts with a common band must reach: to be near, and to be parts."""
    near = options.threshold
    return near, near if options.containment is None else min(near, PARTS_JACCARD)


def _min_containment(options: CheckOptions) -> float:
    """Return the smallest containment to search for; without a search for parts, that of a near-duplicate."""
    if options.containment is None:
        return 2 * options.threshold / (1 + options.threshold)
    return options.containment


def _power_of_two(n_samples: int) -> int:
    """Round a size, so that texts of about the same size share a table and a stream needs few tables."""
    return min(1 << n_samples.bit_length(), _MAX_COUNTED)


@lru_cache(maxsize=64)  # the containment of a question may be any number
def least_shared(chance: float, n_counted: int) -> I64:
    """Return the minimum number of shared sampled shingles for a contained text, indexed by their total number.

    A text that is contained to a share of ``containment`` shares each sampled shingle that is looked up with that
    probability; 1% of such texts share fewer than this. The last number, that of ``n_counted``, also serves for all
    larger totals.

    Examples
    --------
    >>> least_shared(0.9, 20)[[1, 3, 5, 20]].tolist()
    [1, 1, 3, 14]
    """
    chances, least = np.array([1.0]), np.ones(n_counted + 1, np.int64)
    for n in range(1, n_counted + 1):
        chances = np.append(chances, 0) * (1 - chance) + np.append(0, chances) * chance
        least[n] = max(1, int(np.searchsorted(np.cumsum(chances), _MISSED, side="right")))
    least.flags.writeable = False
    return least


def _of_documents(connection: Connection, query: Query, numbers: I64, shared: Shared) -> CheckCandidates:
    """Return the contents of current documents, with the lengths of their texts."""
    known = shared.known or _looked_up(connection, query, numbers)
    wanted = list(dict.fromkeys([*known.same, *numbers.tolist()]))
    if unknown := [number for number in wanted if number not in known.seen]:
        known = known.joined(_looked_up(connection, query, np.array(unknown, np.int64)))
    sizes = {number: known.sizes[number] for number in wanted if number in known.sizes}
    lost = _sizes_of_current(connection, list(shared.lost)).keys() - sizes.keys()
    return CheckCandidates(list(sizes), list(sizes.values()), shared.n_skewed, sorted(lost))


def _looked_up(connection: Connection, query: Query, numbers: I64) -> KnownContents:
    """Look up lengths and documents of contents that the search for keys did not return."""
    same = list(numbers_of(connection, [query.digest]).values())
    wanted = list(dict.fromkeys([*same, *numbers.tolist()]))
    sizes = _sizes_of_current(connection, wanted)
    return KnownContents(same, sizes, frozenset(wanted))


def _sizes_of_current(connection: Connection, numbers: Sequence[int]) -> dict[int, int]:
    """Return the contents of current documents, in order, with the lengths of their texts."""
    contents, documents, sizes = schema.contents.c, schema.documents.c, dict[int, int]()
    has_one = exists().where(documents.content == contents.content, documents.is_current)
    for some in in_slices(numbers):
        rows = connection.execute(
            select(contents.content, contents.n_bytes).where(contents.content.in_(some), has_one)
        ).all()
        sizes |= dict(rows)
    return {number: sizes[number] for number in numbers if number in sizes}


def _by_index(searched: Searched, query: Query, options: CheckOptions) -> CheckCandidates:
    """Return the contents with the nearest similarity indexes, and those that share the key of the whole text."""
    is_exact = query.keys.kinds == EXACT
    least = least_shared(_min_containment(options), 1)
    asked = AskedKeys(query.keys.values[is_exact], query.keys.kinds[is_exact], 0, least, query.digest)
    shared = shared_with(searched, asked)
    numbers = shared.marks.contents.tolist()
    if query.similarity_index is not None:
        numbers += _nearest(searched.connection, query.similarity_index, options)
    found = _of_documents(searched.connection, query, np.array(list(dict.fromkeys(numbers)), np.int64), shared)
    return replace(found, n_skewed=0)


def _nearest(connection: Connection, own: int, options: CheckOptions) -> list[int]:
    """Search the indexed column upwards and downwards from the index of the query, until enough contents are found."""
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
