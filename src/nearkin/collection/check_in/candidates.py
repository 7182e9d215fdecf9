"""Candidates of a check-in: stored texts that share keys with a text, or have a similar similarity index."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sqlalchemy import Connection, exists, select, text, union_all

from nearkin.collection.check_in.results import MIN_COMMON, CheckOptions
from nearkin.collection.counting import SIGNATURE, TextCounting
from nearkin.collection.stored.contents import digest_of_text, texts_from
from nearkin.collection.stored.key_table import (
    BAND,
    EXACT,
    SAMPLE,
    SAMPLING,
    Keys,
    Marks,
    array_of,
    keys_of,
    numbers_in,
    sent,
    stored_marks,
)
from nearkin.collection.stored.word_sets import in_lots
from nearkin.errors import CollectionError
from nearkin.kernels.buffers import strings
from nearkin.planning.neighbour_recall import distance_for
from nearkin.planning.part_recall import PartRecall, SampledSearch
from nearkin.records import I64, U8, U64
from nearkin.runs.progress import Silent
from nearkin.stages.signatures.similarity_index import interval
from nearkin.store import schema

MAX_SAMPLES = 4_096
"""Maximum number of sampled shingles to look up: all of a text of 130,000 words; every 2nd, 3rd, … of a longer text."""
MAX_OF_A_KEY = 256
"""Maximum number of texts examined for the key of a whole text or of a band."""
MAX_OF_A_SAMPLE = 64
"""Maximum number of texts examined for a sampled shingle: a shingle in more texts is common wording."""
PARTS_JACCARD = 0.5
"""Jaccard similarity whose signatures bound the candidates with a common band, if parts are looked for, too."""
_MAX_COUNTED = 1_024
_MISSED = 0.01
_KINDS = EXACT, BAND, SAMPLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A text that is checked in, with its keys, signature and similarity index."""

    text: str
    digest: bytes
    keys: Keys
    words: U64
    signature: U8 | None
    similarity_index: int | None

    @classmethod
    def of(cls, counting: TextCounting, text: str, *, with_index: bool = False) -> Query:
        """Count, sign and, if asked for, index a text; ParameterError if it is no str in UTF-8."""
        digest = digest_of_text(text)
        texts = strings([text])
        signed, indexed = counting.sign(texts), counting.index(texts) if with_index else None
        signature: U8 | None = signed.packed[0] if signed.has_features[0] else None
        similarity_index = int(indexed.values[0]) if indexed is not None and indexed.has_value[0] else None
        keys = keys_of([text], counting.ignored)
        words: U64 = np.sort(keys.sets.hashes)
        return cls(
            text=text, digest=digest, keys=keys, words=words, signature=signature, similarity_index=similarity_index
        )

    def made(self) -> tuple[Keys, Marks]:
        """Return the keys and the marks to store with the text, whose number is not known yet."""
        signature = np.zeros(SIGNATURE.bits // 8, np.uint8) if self.signature is None else self.signature
        marks = Marks(
            contents=np.zeros(1, np.int64),
            n_samples=np.array([np.count_nonzero(self.keys.kinds == SAMPLE)], np.int64),
            signatures=signature[np.newaxis],
            is_signed=np.array([self.signature is not None]),
        )
        return self.keys, marks


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCandidates:
    """Contents that may be similar to a text."""

    contents: list[int]
    sizes: dict[int, int]
    is_purged: bool
    n_hot_keys: int = 0
    part_recall: PartRecall | None = None

    def lots(self, most: int, known: Container[int] = ()) -> Iterator[list[int]]:
        """Yield the most promising unknown contents, in lots whose texts fit in memory."""
        return in_lots(
            (content, self.sizes[content]) for content in sorted(self.contents[:most]) if content not in known
        )


def candidates_by_keys(
    connection: Connection, counting: TextCounting, query: Query, options: CheckOptions, first_missing: int | None
) -> CheckCandidates:
    """Return the contents that share the key of the whole text, a band, or enough sampled shingles."""
    kinds = query.keys.kinds
    samples = np.flatnonzero(kinds == SAMPLE)
    step = max(1, -(-len(samples) // MAX_SAMPLES))  # of more samples, only every ``step``-th is looked up
    looked_up = np.concatenate([np.flatnonzero(kinds != SAMPLE), samples[::step]])
    least = least_shared(_min_containment(options) / step, _power_of_two(len(samples)))
    shared = _shared(connection, counting, query, looked_up, first_missing)
    marks, n_hot = shared.marks, shared.n_hot_keys
    n_exact, n_bands, n_samples = shared.n_keys
    min_samples = least[np.minimum(np.minimum(marks.n_samples, len(samples)), len(least) - 1)]
    n_bits = np.full(len(marks.contents), 8 * marks.signatures.shape[1] + 1)
    reach, reach_of_parts = 0, 0
    if query.signature is not None:
        differs = np.bitwise_count(marks.signatures ^ query.signature).sum(axis=1)
        n_bits[marks.is_signed] = differs[marks.is_signed]
        reach, reach_of_parts = (distance_for(limit, 8 * len(query.signature)) for limit in _least_jaccard(options))
    is_promising = (n_exact > 0) | ((n_bands > 0) & (n_bits <= reach)) | (n_samples >= min_samples)
    is_kept = is_promising | ((n_bands > 0) & (n_bits <= reach_of_parts))
    order = np.lexsort((marks.contents, -n_samples, n_bits, ~is_promising, n_exact == 0))
    contents = marks.contents[order[is_kept[order]]].tolist()
    recall = None
    if options.containment is not None and not n_hot:
        search = SampledSearch(
            n_shingles=len(query.words),
            n_samples=len(samples),
            n_asked=len(samples[::step]),
            rate=SAMPLING.rate,
            least=least,
            min_common=MIN_COMMON,
        )
        recall = search.recall(options.containment)
    return _of_documents(connection, shared, contents, recall)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared:
    """Contents that share keys with a text, with the numbers of keys by kind, shape (3, n_contents), and equal ones."""

    marks: Marks
    n_keys: I64
    n_hot_keys: int
    same: list[int]
    is_purged: bool


def _shared(
    connection: Connection, counting: TextCounting, query: Query, places: I64, first_missing: int | None
) -> _Shared:
    keys = query.keys.values[places]
    if first_missing == 0:  # the table has no keys of today's method
        places = places[:0]
    numbers, of_kind, n_hot, same, is_purged = _in_table(connection, query, places)
    contents, owners = np.unique(numbers, return_inverse=True)
    marks = stored_marks(connection, contents)
    if len(marks.contents) != len(contents):
        raise CollectionError("Data stored with the keys of check-ins is damaged; nearkin fsck COLLECTION rebuilds it.")
    parts = [(marks, _counts(owners, of_kind, len(contents)))]
    if first_missing is not None:
        for numbers, texts, _ in texts_from(connection, first_missing, Silent()):
            made = keys_of(texts, counting.ignored)
            is_shared = np.isin(made.values, keys)
            n_shared = _counts(made.texts[is_shared], made.kinds[is_shared], len(texts))
            is_some = np.flatnonzero(n_shared.any(axis=0))
            parts.append((Marks.of(counting, numbers, texts, made).where(is_some), n_shared[:, is_some]))
    n_keys = np.concatenate([n for _, n in parts], axis=1)
    joined = Marks.joined([marks for marks, _ in parts])
    return _Shared(marks=joined, n_keys=n_keys, n_hot_keys=n_hot, same=same, is_purged=is_purged)


def _in_table(connection: Connection, query: Query, places: I64) -> tuple[I64, U8, int, list[int], bool]:
    kind_of = dict(zip(query.keys.values[places].tolist(), query.keys.kinds[places].tolist(), strict=True))
    most = {key: MAX_OF_A_SAMPLE if kind == SAMPLE else MAX_OF_A_KEY for key, kind in kind_of.items()}
    rows = _rows_with(connection, kind_of, query.digest)
    with_key = {key: contents for _, key, contents in rows[1:]}
    hot = {key: kind_of[key] for key, contents in with_key.items() if len(contents) > most[key]}
    if hot:  # old versions and removed documents must not count
        with_key |= {key: contents for _, key, contents in _rows_with(connection, hot, query.digest, current=True)[1:]}
    contents = [content for key, there in with_key.items() for content in there[: most[key]]]
    of_kind = [kind_of[key] for key, there in with_key.items() for _ in there[: most[key]]]
    n_hot = sum(len(there) > most[key] for key, there in with_key.items())
    _, n_bytes, same = rows[0]
    return np.array(contents, np.int64), np.array(of_kind, np.uint8), n_hot, same, bool(same) and not n_bytes


_IS_CURRENT = "EXISTS (SELECT 1 FROM documents WHERE documents.content = check_keys.content AND documents.is_current)"


def _rows_with(
    connection: Connection, kind_of: dict[int, int], digest: bytes, *, current: bool = False
) -> list[tuple[int, int, list[int]]]:
    """Return the content with a digest and its stored text; and contents with each key, one more than are examined."""
    condition = f" AND {_IS_CURRENT}" if current else ""
    of_key = f"SELECT content FROM check_keys WHERE check_keys.key = asked.number{condition} ORDER BY content LIMIT"
    parts = [
        f"SELECT {kind} AS kind, asked.number, {array_of(connection, f'{of_key} {most + 1}')} AS contents "
        f"FROM {numbers_in(connection, name)} AS asked"
        for kind, name, most in ((1, "whole", MAX_OF_A_KEY), (2, "samples", MAX_OF_A_SAMPLE))
    ]
    same = array_of(connection, "SELECT content FROM contents WHERE digest = :digest")
    length = "(SELECT length(text) FROM contents WHERE digest = :digest)"
    statement = f"SELECT 0 AS kind, {length} AS number, {same} AS contents UNION ALL {' UNION ALL '.join(parts)}"
    samples = [key for key, kind in kind_of.items() if kind == SAMPLE]
    whole = [key for key, kind in kind_of.items() if kind != SAMPLE]
    values = {"digest": digest, "whole": sent(connection, whole), "samples": sent(connection, samples)}
    rows = connection.execute(text(f"{statement} ORDER BY kind"), values)
    is_json = connection.dialect.name == "sqlite"
    return [(kind, number, json.loads(contents) if is_json else contents) for kind, number, contents in rows]


def _counts(places: I64, kinds: U8, n: int) -> I64:
    """Count the keys of each kind by the place of their text, shape (3, n)."""
    return np.stack([np.bincount(places[kinds == kind], minlength=n) for kind in _KINDS])


def _least_jaccard(options: CheckOptions) -> tuple[float, float]:
    near = options.threshold
    return near, near if options.containment is None else min(near, PARTS_JACCARD)


def _min_containment(options: CheckOptions) -> float:
    if options.containment is None:
        return 2 * options.threshold / (1 + options.threshold)
    return options.containment


def _power_of_two(n_samples: int) -> int:
    """Round a size, so that texts of about the same size share a table and a stream needs few tables."""
    return min(1 << n_samples.bit_length(), _MAX_COUNTED)


@lru_cache(maxsize=64)  # the containment of a question may be any number
def least_shared(chance: float, n_counted: int) -> I64:
    """Return the minimum number of shared sampled shingles for a contained text, by their total number."""
    chances, least = np.array([1.0]), np.ones(n_counted + 1, np.int64)
    for n in range(1, n_counted + 1):
        chances = np.append(chances, 0) * (1 - chance) + np.append(0, chances) * chance
        least[n] = max(1, int(np.searchsorted(np.cumsum(chances), _MISSED, side="right")))
    least.flags.writeable = False
    return least


def candidates_by_index(
    connection: Connection, counting: TextCounting, query: Query, options: CheckOptions, first_missing: int | None
) -> CheckCandidates:
    """Return the contents with the nearest similarity indexes, and those that share the key of the whole text."""
    shared = _shared(connection, counting, query, np.flatnonzero(query.keys.kinds == EXACT), first_missing)
    numbers = shared.marks.contents.tolist()
    if query.similarity_index is not None:
        numbers += _nearest(connection, query.similarity_index, options)
    return _of_documents(connection, shared, numbers)


def _nearest(connection: Connection, query_index: int, options: CheckOptions) -> list[int]:
    low, high = interval(query_index, options.tolerance)
    contents = schema.contents.c
    value = contents.similarity_index
    most = max(options.limit, 10)
    has_one = exists().where(schema.documents.c.content == contents.content, schema.documents.c.is_current)
    up = select(contents.content, value).where(value.between(query_index, min(high, 2**63 - 1)), has_one)
    down = select(contents.content, value).where(value.between(max(low, -(2**63)), query_index - 1), has_one)
    walks = (up.order_by(value).limit(most).subquery(), down.order_by(value.desc()).limit(most).subquery())
    rows = connection.execute(union_all(*map(select, walks))).all() if low <= query_index <= high else []
    return [row[0] for row in sorted(rows, key=lambda row: (abs(row[1] - query_index), row[0]))[:most]]


def _of_documents(
    connection: Connection, shared: _Shared, numbers: Sequence[int], recall: PartRecall | None = None
) -> CheckCandidates:
    wanted, sizes = list(dict.fromkeys([*shared.same, *numbers])), dict[int, int]()
    if wanted:
        current = text(
            f"SELECT content, n_bytes FROM contents WHERE content IN (SELECT number FROM "
            f"{numbers_in(connection, 'numbers')} AS asked) AND EXISTS (SELECT 1 FROM documents "
            "WHERE documents.content = contents.content AND documents.is_current)"
        )
        sizes = dict(connection.execute(current, {"numbers": sent(connection, wanted)}).all())
    return CheckCandidates(
        contents=[number for number in wanted if number in sizes],
        sizes=sizes,
        is_purged=shared.is_purged,
        n_hot_keys=shared.n_hot_keys,
        part_recall=recall,
    )
