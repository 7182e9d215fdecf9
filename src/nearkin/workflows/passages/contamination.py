"""Items of an evaluation set in documents: how much of each item stands where, question and answer apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.kernels.passages import REPEATED
from nearkin.records import F64, I64
from nearkin.runs.spool import Chunk
from nearkin.runs.tables import published_table
from nearkin.stages.documents.values import BETWEEN_COLUMNS
from nearkin.stages.passages.windows import Spans, Windows
from nearkin.workflows.dedup.kept_corpus import carried_columns
from nearkin.workflows.dedup.row_places import Places
from nearkin.workflows.passages.tables import OriginalTexts

_PAIRS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """Words of the items of the other set.

    Parameters
    ----------
    sums : float64 array, shape (n_words + 1, n_fields)
        Sums of the weights of the words before each word. A word weighs log(1 + items / items with it).
    """

    fields: Sequence[str]
    sums: F64

    @classmethod
    def of(cls, texts: OriginalTexts, fields: Sequence[str]) -> Items:
        """Weigh the words of items."""
        n, starts = texts.n_others, texts.words.starts[: texts.n_others + 1]
        hashes = texts.words.hashes[: starts[-1]]
        item = np.repeat(np.arange(n), np.diff(starts))
        _, word = np.unique(hashes, return_inverse=True)
        _, first = np.unique(np.stack([word, item]), axis=1, return_index=True)
        weights = np.log1p(n / np.bincount(word[first]))[word]
        begins = _begins([chunk for chunk in texts.chunks if chunk.start >= texts.n_inputs], fields)[item]
        field = (texts.words.bounds[: starts[-1], :1] >= begins).sum(axis=1) - 1
        of_fields = np.where(field[:, None] == np.arange(len(fields)), weights[:, None], 0)
        return cls(fields=fields, sums=np.concatenate([np.zeros((1, len(fields))), np.cumsum(of_fields, axis=0)]))


def _begins(chunks: Sequence[Chunk], fields: Sequence[str]) -> F64:
    """Return the byte at which each field of each item begins; a missing one begins nowhere."""
    columns = carried_columns(fields, chunks, np.iinfo(np.int64).max).values()
    begins, at = list[F64](), np.zeros(sum(chunk.n_documents for chunk in chunks))
    for column in columns:
        size = pc.binary_length(column.cast(pa.large_string())).fill_null(0).to_numpy(zero_copy_only=False)
        begins.append(np.where(size > 0, at, np.inf))
        at = at + np.where(size > 0, size + len(BETWEEN_COLUMNS), 0)
    begins[0][np.isinf(begins).all(axis=0)] = 0
    return np.column_stack(begins)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contaminations:
    """Pairs of a document and an item that share windows, by document, then item.

    Parameters
    ----------
    document, item : int64 arrays, shape (n_pairs,)
        In the order of words: items come first.
    score : float64 array, shape (n_pairs, n_fields + 1)
        Weighted share of the words of the item, and of each field, that stand in passages of the document.
    start, end : int64 arrays, shape (n_pairs,)
        From the first to after the last word of these passages.
    """

    document: I64
    item: I64
    score: F64
    start: I64
    end: I64


def contaminations(texts: OriginalTexts, windows: Windows, flags: np.ndarray, items: Items) -> Iterator[Contaminations]:
    """Yield all pairs in lots; a window of the item and one of the document are the same words."""
    starts, length = windows.starts, windows.length
    repeated = np.flatnonzero(flags & REPEATED)
    n_of_items = int(np.searchsorted(windows.places[repeated], starts[texts.n_others]))
    of_items, rows = repeated[:n_of_items], repeated[n_of_items:]
    of_items = of_items[np.argsort(windows.first[of_items], kind="stable")]
    classes = windows.first[of_items]
    low, high = (np.searchsorted(classes, windows.first[rows], side=side) for side in ("left", "right"))
    document = np.searchsorted(starts, windows.places[rows], side="right") - 1
    lots = np.cumsum(high - low) // _PAIRS_AT_ONCE
    edges = np.searchsorted(document, document[np.flatnonzero(np.diff(lots)) + 1]).tolist()
    for begin, end in zip([0, *edges], [*edges, len(rows)], strict=True):
        n = (high - low)[begin:end]
        if not n.sum():
            continue
        which = np.repeat(np.arange(begin, end), n)
        within = np.arange(len(which)) - np.repeat(np.cumsum(n) - n, n)
        place, position = windows.places[of_items[low[which] + within]], windows.places[rows[which]]
        item = np.searchsorted(starts, place, side="right") - 1
        order = np.lexsort((place, document[which]))
        place, position, item, of_document = place[order], position[order], item[order], document[which][order]
        is_new = np.append(True, (np.diff(of_document) != 0) | (np.diff(item) != 0))
        first = np.flatnonzero(is_new)
        from_word = np.where(is_new, place, np.maximum(place, np.append(0, place[:-1] + length)))
        covered = np.add.reduceat(items.sums[place + length] - items.sums[np.minimum(from_word, place + length)], first)
        whole = items.sums[starts[item[first] + 1]] - items.sums[starts[item[first]]]
        parts = [np.column_stack([column.sum(axis=1), column]) for column in (covered, whole)]
        yield Contaminations(
            document=of_document[first], item=item[first], score=parts[0] / np.maximum(parts[1], 1e-300),
            start=np.minimum.reduceat(position, first), end=np.maximum.reduceat(position, first) + length,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundItem:
    """An item that stands in documents, and the document with the most of it."""

    item_row: int
    row: int
    scores: tuple[float, ...]


def write_contaminations(
    path: Path, texts: OriginalTexts, windows: Windows, flags: np.ndarray, places: Places, fields: Sequence[str]
) -> list[FoundItem]:
    """Write ``contamination.parquet``; return the items found, the best score first."""
    names = score_names(fields)
    schema = pa.schema(
        [pa.field("id", places.ids.type), pa.field("item", places.ids.type),
         *(pa.field(name, pa.int64(), nullable=False) for name in ("row", "item_row", "start", "end")),
         *(pa.field(name, pa.float64(), nullable=False) for name in names)]
    )  # fmt: skip
    best = dict[int, FoundItem]()
    with published_table(path, schema) as writer:
        for lot in contaminations(texts, windows, flags, Items.of(texts, fields)):
            parts = texts.parts(Spans(lot.start, lot.end, lot.document))
            item_row = texts.rows[lot.item]
            columns: list[Any] = [
                places.ids.take(pa.array(parts.row)), places.ids.take(pa.array(item_row)), parts.row, item_row,
                parts.start, parts.end, *(lot.score[:, i] for i in range(len(names))),
            ]  # fmt: skip
            writer.write_table(pa.table([pa.array(column) for column in columns], schema=schema))
            for item, row, scores in zip(item_row.tolist(), parts.row.tolist(), lot.score.tolist(), strict=True):
                if item not in best or scores[0] > best[item].scores[0]:
                    best[item] = FoundItem(item_row=item, row=row, scores=tuple(scores[: len(names)]))
    return sorted(best.values(), key=lambda contamination: (-contamination.scores[0], contamination.item_row))


def score_names(fields: Sequence[str]) -> list[str]:
    """Return the names of the scores: of the item, and of each field if there are several."""
    return ["score", *(f"score_{name}" for name in fields if len(fields) > 1)]
