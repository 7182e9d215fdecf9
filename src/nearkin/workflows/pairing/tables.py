"""Search results → tables: pairs with their matching terms, and the result for each document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.formats.delimited import safe_column
from nearkin.kernels.terms import best_sources, best_terms
from nearkin.records import F64, I32, I64, U64
from nearkin.runs.files import published
from nearkin.runs.tables import published_table
from nearkin.stages.search.stretches import keys_of, rows_of
from nearkin.stages.translation.projection import WordProjection
from nearkin.workflows.pairing.collecting import Collected
from nearkin.workflows.pairing.searching import FoundPairs
from nearkin.workflows.pairing.translating import SideTranslation
from nearkin.workflows.pairing.vectors import PairVectors

_PART = 1 << 16
_TERM = pa.struct(
    [
        pa.field("term", pa.large_string(), nullable=False),  # as in the right document
        pa.field("left_term", pa.large_string()),  # as in the left document; null: the same word
        pa.field("share", pa.float32(), nullable=False),  # of the cosine
    ]
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Reported pairs, by document on the left, the most similar first.

    Parameters
    ----------
    rank : int32 array, shape (n_pairs,)
        From 1; of equal cosines the pair read first comes first.
    """

    left: I64
    right: I64
    cosine: F64
    rank: I32

    def __len__(self) -> int:
        return len(self.left)

    @classmethod
    def of(cls, found_pairs: FoundPairs) -> Ranked:
        """Rank all pairs that were found."""
        order = np.lexsort((found_pairs.right, -found_pairs.cosine, found_pairs.left))
        left = found_pairs.left[order]
        rank = np.arange(len(left)) - np.searchsorted(left, left) + 1
        return cls(left, found_pairs.right[order], found_pairs.cosine[order], rank.astype(np.int32))


@dataclass(frozen=True, slots=True)
class KnownPairs:
    """Known pairs, with their results.

    Parameters
    ----------
    cosines : float64 array, shape (n_pairs,)
        NaN if a document has no vector.
    ranks : int64 array, shape (n_pairs,)
        Among the reported pairs of the left document; 0: not reported.
    """

    keys: U64
    cosines: F64
    ranks: I64


@dataclass(frozen=True, slots=True)
class Terms:
    """Lookup of the matching terms of pairs."""

    vectors: PairVectors
    sides: tuple[Collected, Collected]
    translation: SideTranslation | None
    n_terms: int

    def of(self, pairs: Ranked, part: slice) -> pa.Array:
        """Return the matching terms of each of some pairs, by descending contribution."""
        rows, vectors = (pairs.left[part], pairs.right[part]), self.vectors
        terms, shares = best_terms(vectors.left.sparse, vectors.right.sparse, rows, vectors.n_terms, most=self.n_terms)
        is_there = terms >= 0
        sizes = is_there.sum(axis=1)
        words = vectors.words.take(pa.array(terms[is_there]))
        left_words, right_words = words, words
        if self.translation is not None:
            is_right = self.translation.side == "right"
            translated = self.sides[is_right]
            found = _sources(self.translation.projection, translated, rows[is_right], terms)[is_there]
            own = pc.coalesce(translated.vocabulary.words.take(pa.array(found, pa.int64(), mask=found < 0)), words)
            left_words, right_words = (words, own) if is_right else (own, words)
        named = pc.if_else(pc.equal(left_words, right_words), pa.scalar(None, pa.large_string()), left_words)
        relative = shares[is_there] / np.repeat(np.maximum(pairs.cosine[part], 1e-12), sizes)
        items = pa.StructArray.from_arrays(
            [right_words, named, pa.array(relative.astype(np.float32))], fields=list(_TERM)
        )
        return pa.ListArray.from_arrays(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32), items)


def _sources(projection: WordProjection, translated: Collected, rows: I64, terms: I32) -> I32:
    counts = translated.counts
    return best_sources(
        (counts.terms, counts.counts, counts.offsets),
        (projection.starts, projection.targets, projection.shares),
        rows,
        terms,
        projection.n_targets,
    )


def write_pairs(
    folder: Path, pairs: Ranked, sides: tuple[Collected, Collected], terms: Terms, known: U64 | None = None
) -> None:
    """Write ``pairs.parquet`` and ``pairs.tsv``; ``known`` are the keys of known pairs, ascending."""
    ids, names = columns_of(sides, "id"), columns_of(sides, "name")
    with (
        published_table(folder / "pairs.parquet", pairs_schema(ids)) as writer,
        published(folder / "pairs.tsv") as tsv,
        open(tsv, "wb") as lines,
    ):
        lines.write(b"cosine\tleft_id\tright_id\tterms\n")
        for table in pair_tables(pairs, ids, terms, known):
            writer.write_table(table)
            lines.write(pair_lines(table, names))


def pair_tables(
    pairs: Ranked, ids: tuple[pa.Array, pa.Array], terms: Terms, known: U64 | None = None
) -> Iterator[pa.Table]:
    """Yield all pairs, some at a time."""
    schema = pairs_schema(ids)
    for part in _parts(len(pairs)):
        columns = [
            ids[0].take(pa.array(pairs.left[part])),
            ids[1].take(pa.array(pairs.right[part])),
            pa.array(pairs.left[part]),
            pa.array(pairs.right[part]),
            pa.array(pairs.cosine[part]),
            pa.array(pairs.rank[part]),
            _known(pairs, part, known),
            terms.of(pairs, part),
        ]
        yield pa.Table.from_arrays(columns, schema=schema)


def pairs_schema(ids: tuple[pa.Array, pa.Array]) -> pa.Schema:
    """Return the schema of ``pairs.parquet``."""
    return pa.schema(
        [
            pa.field("left_id", ids[0].type),  # null: the document has none
            pa.field("right_id", ids[1].type),
            pa.field("left_row", pa.int64(), nullable=False),  # as in documents.parquet
            pa.field("right_row", pa.int64(), nullable=False),
            pa.field("cosine", pa.float64(), nullable=False),
            pa.field("rank", pa.int32(), nullable=False),
            pa.field("known", pa.bool_()),  # null: no known pairs were given
            pa.field("terms", pa.list_(_TERM), nullable=False),
        ]
    )


def _known(pairs: Ranked, part: slice, known: U64 | None) -> pa.Array:
    if known is None:
        return pa.nulls(part.stop - part.start, pa.bool_())
    return pa.array(np.isin(keys_of(pairs.left[part], pairs.right[part]), known))


def write_known(path: Path, known_pairs: KnownPairs, sides: tuple[Collected, Collected]) -> None:
    """Write ``known.tsv``: each known pair with its cosine and rank; the least similar first."""
    order = np.lexsort((known_pairs.keys, known_pairs.cosines))
    left, right = rows_of(known_pairs.keys[order])
    cosines, ranks = known_pairs.cosines[order], known_pairs.ranks[order]
    names = columns_of(sides, "name")
    columns = (
        pc.if_else(pa.array(np.isnan(cosines)), "", six_digits(np.nan_to_num(cosines))),
        escaped(names[0].take(pa.array(left))),
        escaped(names[1].take(pa.array(right))),
        pc.if_else(pa.array(ranks == 0), "", pa.array(ranks).cast(pa.large_string())),
    )
    with published(path) as aside, open(aside, "wb") as lines:
        lines.write(b"cosine\tleft_id\tright_id\trank\n")
        lines.write(joined_lines(*columns))


def write_documents(path: Path, pairs: Ranked, sides: tuple[Collected, Collected], vectors: PairVectors) -> None:
    """Write ``documents.parquet``: a row for each document of both sides, and why it has no pair."""
    text, whole = pa.large_string(), pa.int64()
    schema = pa.schema(
        [
            pa.field("side", pa.string(), nullable=False), pa.field("id", text),
            pa.field("name", text, nullable=False), pa.field("row", whole, nullable=False),
            pa.field("source", text, nullable=False), pa.field("line", whole, nullable=False),
            pa.field("problem", text), pa.field("n_terms", whole, nullable=False),
            pa.field("n_pairs", whole, nullable=False), pa.field("best", text), pa.field("best_row", whole),
            pa.field("best_cosine", pa.float64()),
        ]
    )  # fmt: skip
    tables = []
    for number, (name, collected) in enumerate(zip(("left", "right"), sides)):
        own, other = (pairs.left, pairs.right) if number == 0 else (pairs.right, pairs.left)
        sizes = (vectors.left, vectors.right)[number].sizes
        n_pairs = np.bincount(own, minlength=len(collected))
        best = _best(own, pairs.cosine, len(collected))
        names = sides[1 - number].documents["name"].combine_chunks()
        rows = np.where(best >= 0, other[best] if len(other) else -1, -1)
        best_row = pa.array(rows, pa.int64(), mask=rows < 0)
        cosines = np.where(best >= 0, pairs.cosine[best] if len(other) else 0.0, np.nan)
        documents = collected.documents
        columns = {
            "side": pa.array([name] * len(collected), pa.string()),
            "id": documents["id"].combine_chunks().cast(pa.large_string()),
            "name": documents["name"],
            "row": pa.array(np.arange(len(collected))),
            "source": documents["source"],
            "line": documents["line"],
            "problem": documents["problem"],
            "n_terms": pa.array(sizes),
            "n_pairs": pa.array(n_pairs),
            "best": names.take(best_row),
            "best_row": best_row,
            "best_cosine": pa.array(cosines, pa.float64(), mask=best < 0),
        }
        tables.append(pa.table(columns, schema=schema))
    with published_table(path, schema) as writer:
        writer.write_table(pa.concat_tables(tables))


def _best(rows: I64, cosines: F64, n: int) -> I64:
    best = np.full(n, -1, np.int64)
    order = np.argsort(cosines, kind="stable")
    best[rows[order]] = order  # of equal rows the last one remains
    return best


def _parts(n: int) -> Iterator[slice]:
    return (slice(first, min(first + _PART, n)) for first in range(0, n, _PART))


def columns_of(sides: tuple[Collected, Collected], name: str) -> tuple[pa.Array, pa.Array]:
    """Return a column of the documents of both sides."""
    left, right = (side.documents[name].combine_chunks() for side in sides)
    return left, right


_UNSAFE = "[\\\\\x00-\x1f\x7f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
"""Characters that would break a line or control a terminal."""
_TO_ESCAPE = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def pair_lines(table: pa.Table, names: tuple[pa.Array, pa.Array]) -> bytes:
    r"""Return ``cosine<TAB>left<TAB>right<TAB>terms``: the format of translation mining tools, with terms."""
    left, right = (
        of.take(table[column].combine_chunks()) for of, column in zip(names, ("left_row", "right_row"), strict=True)
    )
    terms = table["terms"].combine_chunks()
    items = terms.flatten()
    words, left_words = items.field("term"), items.field("left_term")
    both = pc.binary_join_element_wise(
        left_words, words, pa.scalar("=", pa.large_string())
    )  # null if both have the same word
    terms_of_pairs = pa.LargeListArray.from_arrays(_offsets(terms), pc.coalesce(both, words))
    return joined_lines(
        six_digits(table["cosine"].to_numpy()),
        escaped(left),
        escaped(right),
        pc.binary_join(terms_of_pairs, pa.scalar(" ", pa.large_string())),
    )


def joined_lines(*columns: pa.Array) -> bytes:
    """Join columns with tabs, one line per row."""
    if not len(columns[0]):
        return b""
    lines = pc.binary_join_element_wise(*columns, pa.scalar("\t", pa.large_string()))
    ended = pc.binary_join_element_wise(lines, pa.scalar("", pa.large_string()), pa.scalar("\n", pa.large_string()))
    return b"".join(chunk.cast(pa.large_binary()).buffers()[2][: _n_bytes(chunk)] for chunk in _chunks(ended))


def escaped(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Escape names for lines and spreadsheets: those that begin like a formula become text."""
    unsafe = pc.match_substring_regex(texts, _UNSAFE)
    if not pc.any(unsafe).as_py():
        return safe_column(texts)
    places = np.flatnonzero(unsafe.to_numpy(zero_copy_only=False))
    mended = [_escaped(text) for text in texts.take(pa.array(places)).to_pylist()]
    return safe_column(pc.replace_with_mask(texts, unsafe, pa.array(mended, pa.large_string())))


def _escaped(text: str) -> str:
    return re.sub(_UNSAFE, lambda character: _TO_ESCAPE.get(character[0], f"\\u{ord(character[0]):04x}"), text)


def six_digits(cosines: F64) -> pa.LargeStringArray:
    """Format nonnegative numbers with six decimal digits."""
    whole, rest = np.divmod(np.rint(cosines * 1e6).astype(np.int64), 1_000_000)
    digits = pc.utf8_lpad(pa.array(rest).cast(pa.large_string()), 6, "0")
    return pc.binary_join_element_wise(
        pa.array(whole).cast(pa.large_string()), digits, pa.scalar(".", pa.large_string())
    )


def _offsets(lists: pa.ListArray) -> pa.Array:
    return pc.subtract(lists.offsets, lists.offsets[0]).cast(pa.int64())


def _chunks(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def _n_bytes(chunk: pa.Array) -> int:
    return int(np.frombuffer(chunk.buffers()[1], np.int64)[len(chunk)])
