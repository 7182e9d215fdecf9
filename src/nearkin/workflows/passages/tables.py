"""Windows → tables of passages, documents and cuts, and the written corpora."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.passages import COPIED, OWN, REPEATED
from nearkin.records import F64, I64, Bool
from nearkin.runs.spool import Chunk, texts_of
from nearkin.runs.tables import published_table
from nearkin.stages.documents.ignoring import MAX_FILE_BYTES
from nearkin.stages.passages.windows import Spans, Windows
from nearkin.workflows.dedup.corpus import Corpus
from nearkin.workflows.dedup.row_places import Places
from nearkin.workflows.passages.searching import CorpusWords

ROWS_PER_GROUP = 1 << 17
_MAX_PROPOSED = 500
_BYTES_BESIDE = 256
"""At most so many stand beside the text of a passage in the file, and above all."""
_MIN_DOCUMENTS = 3
"""Documents of a group in which boilerplate stands at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextParts:
    """TextParts of documents, in the order of their documents and in the documents.

    Parameters
    ----------
    start, end : int64 array, shape (n_parts,)
        In characters of the original text.
    start_byte, end_byte : int64 array, shape (n_parts,)
        In bytes of its UTF-8.
    """

    row: I64
    start: I64
    end: I64
    start_byte: I64
    end_byte: I64

    def __len__(self) -> int:
        return len(self.row)

    def characters(self, n_documents: int) -> I64:
        """Return the sum for each document."""
        return np.bincount(self.row, (self.end - self.start).astype(np.float64), n_documents).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalTexts:
    """Original texts of a run with their words; the documents of the other set come first."""

    chunks: Sequence[Chunk]
    words: CorpusWords
    n_inputs: int
    n_others: int

    @property
    def rows(self) -> I64:
        """Row of each document."""
        return np.roll(np.arange(self.n_inputs + self.n_others), self.n_others)

    def parts(self, spans: Spans) -> TextParts:
        """Return the parts of the original texts from the first to the last word of spans."""
        start, end = self.words.bounds[spans.start, 0], self.words.bounds[spans.end - 1, 1]
        return self.at_bytes(spans.document, start.astype(np.int64), end.astype(np.int64))

    def at_bytes(self, document: I64, start: I64, end: I64) -> TextParts:
        """Return parts of original texts by their bytes."""
        at = np.stack([start, end], axis=1)
        characters = at.copy()
        for first, data, offsets in self._buffers():
            block = slice(*np.searchsorted(document, [first, first + len(offsets) - 1]))
            if block.start == block.stop:
                continue
            base = offsets[document[block] - first]
            follows = np.flatnonzero((data & 0xC0) == 0x80)  # bytes of a character after its first
            before = np.searchsorted(follows, np.column_stack([base, base[:, None] + at[block]]))
            characters[block] -= before[:, 1:] - before[:, :1]
        return TextParts(
            row=self.rows[document], start=characters[:, 0], end=characters[:, 1], start_byte=start, end_byte=end
        )

    def _buffers(self) -> Iterator[tuple[int, np.ndarray, I64]]:
        first = 0
        for chunk in self.chunks:
            data, offsets = text_buffers(chunk.column("text"))
            yield first, data, offsets
            first += chunk.n_documents

    def cuts(self, spans: Spans) -> tuple[TextParts, Bool]:
        """Return what is cut from documents so that no word of the spans stays, and which documents have no word left.

        Where nothing but signs stands between a span and the edge of its line, the cut goes to this edge.
        """
        starts, bounds = self.words.starts, self.words.bounds
        n_left = np.diff(starts) - np.bincount(
            spans.document, (spans.end - spans.start).astype(np.float64), len(starts) - 1
        ).astype(np.int64)
        is_emptied = (n_left == 0) & (np.diff(starts) > 0)
        cuts = dict[tuple[int, int], int]()
        for first, data, offsets in self._buffers():
            for i in range(*np.searchsorted(spans.document, [first, first + len(offsets) - 1])):
                number, a, b = int(spans.document[i]), int(spans.start[i]), int(spans.end[i])
                text = data[offsets[number - first] : offsets[number - first + 1]]
                if is_emptied[number]:
                    cuts[number, 0] = len(text)
                    continue
                before = int(bounds[a - 1, 1]) if a > starts[number] else 0
                after = int(bounds[b, 0]) if b < starts[number + 1] else len(text)
                start = _line_start(text[before : bounds[a, 0]].tobytes(), before)
                cuts[number, start] = _line_end(
                    text[bounds[b - 1, 1] : after].tobytes(), int(bounds[b - 1, 1]), len(text)
                )
        document, start_byte = np.array(list(cuts), np.int64).reshape(-1, 2).T
        end_byte = np.fromiter(cuts.values(), np.int64, len(cuts))
        return self.at_bytes(document, start_byte, end_byte), is_emptied[np.argsort(self.rows)]


def _line_start(gap: bytes, at: int) -> int:
    """Return where the line begins that ends with the gap, or the end of the gap if the line has a word before it."""
    line = gap.rfind(b"\n")
    return at + line + 1 if line >= 0 else 0 if at == 0 else at + len(gap)


def _line_end(gap: bytes, at: int, end: int) -> int:
    """Return where the line ends that begins with the gap, or the start of the gap if the line has a word after it."""
    line = gap.find(b"\n")
    return at + line + 1 if line >= 0 else end if at + len(gap) == end else at


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """Passages with their occurrences, those of a passage together and in reading order.

    Parameters
    ----------
    passage : int64 array, shape (n_occurrences,)
        Number of the passage of each occurrence, from 0.
    occurrences, documents : int64 array, shape (n_passages,)
        Number of occurrences, and of documents in which they stand.
    is_first, is_own : bool array, shape (n_occurrences,)
        Whether it is the first occurrence; whether an earlier one stands in the same document.
    """

    passage: I64
    parts: TextParts
    words: I64
    occurrences: I64
    documents: I64
    is_first: Bool
    is_own: Bool
    usual: I64

    @classmethod
    def of(cls, texts: OriginalTexts, windows: Windows, flags: np.ndarray) -> Passages:
        """Make the passages of windows."""
        spans, passage, classes = windows.occurrences(flags)
        parts = texts.parts(spans)
        order = np.argsort(passage, kind="stable")
        parts = TextParts(**{name: getattr(parts, name)[order] for name in TextParts.__dataclass_fields__})
        passage, words, classes = passage[order], (spans.end - spans.start)[order], classes[order]
        is_first = np.ones(len(passage), np.bool_)
        is_first[1:] = np.diff(passage) > 0
        is_new = is_first.copy()
        is_new[1:] |= np.diff(parts.row) != 0
        n = int(is_first.sum())
        return cls(
            passage=passage, parts=parts, words=words, occurrences=np.bincount(passage, minlength=n),
            documents=np.bincount(passage[is_new], minlength=n), is_first=is_first, is_own=~is_new,
            usual=_usual(passage, classes, words),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.occurrences)


def _usual(passage: I64, classes: np.ndarray, words: I64) -> I64:
    order = np.lexsort((words, classes, passage))
    begins = np.ones(len(order), np.bool_)
    keys = [column[order] for column in (passage, classes, words)]
    begins[1:] = np.logical_or.reduce([np.diff(column.astype(np.int64)) != 0 for column in keys])
    at = np.flatnonzero(begins)
    sizes = np.diff(np.append(at, len(order)))
    rows = order[at]  # lexsort is stable: the first occurrence of its variant
    best = np.lexsort((rows, -words[rows], -sizes, passage[rows]))
    _, first = np.unique(passage[rows][best], return_index=True)
    return rows[best][first]


def told_apart(found_passages: Passages, numbers: I64, n: int) -> list[int]:
    """Return the first ``n`` passages without those that mostly lie inside earlier ones, where they first stand."""
    chosen, covered = list[int](), defaultdict[int, list[tuple[int, int]]](list)
    bounds = np.searchsorted(found_passages.passage, np.stack([numbers, numbers + 1]))
    for number, first, last in zip(numbers.tolist(), *bounds.tolist(), strict=True):
        at = int(found_passages.usual[number])
        start, end = int(found_passages.parts.start[at]), int(found_passages.parts.end[at])
        others = covered[int(found_passages.parts.row[at])]
        n_inside = max((min(end, other_end) - max(start, other_start) for other_start, other_end in others), default=0)
        if 2 * n_inside <= end - start:
            chosen.append(number)
            if len(chosen) == n:
                break
            rows, starts, ends = (
                getattr(found_passages.parts, name)[first:last].tolist() for name in ("row", "start", "end")
            )
            for row, *edges in zip(rows, starts, ends, strict=True):
                covered[row].append((edges[0], edges[1]))
    return chosen


def write_passages(path: Path, passages: Passages, places: Places, n_inputs: int, *, is_against: bool) -> None:
    """Write ``passages.parquet``: a row for each occurrence."""
    whole, truth = pa.int64(), pa.bool_()
    schema = pa.schema(
        [
            pa.field("passage", whole, nullable=False), pa.field("id", places.ids.type),
            *(pa.field(name, whole, nullable=False) for name in ("row", *_BOUNDS, "words", "occurrences", "documents")),
            pa.field("is_first", truth, nullable=False), pa.field("is_own_repetition", truth, nullable=False),
            *([pa.field("is_of_other_set", truth, nullable=False)] if is_against else []),
        ]
    )  # fmt: skip
    parts = passages.parts
    with published_table(path, schema) as writer:
        for at in range(0, len(parts), ROWS_PER_GROUP):
            rows = slice(at, at + ROWS_PER_GROUP)
            columns = [
                passages.passage[rows], places.ids.take(pa.array(parts.row[rows])), parts.row[rows],
                *(getattr(parts, name)[rows] for name in _BOUNDS), passages.words[rows],
                passages.occurrences[passages.passage[rows]], passages.documents[passages.passage[rows]],
                passages.is_first[rows], passages.is_own[rows], *([parts.row[rows] >= n_inputs] if is_against else []),
            ]  # fmt: skip
            writer.write_table(pa.table([pa.array(column) for column in columns], schema=schema))


_BOUNDS = ("start", "end", "start_byte", "end_byte")


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedCharacters:
    """Characters of each document of the input that stand in passages.

    Parameters
    ----------
    n_words, characters, repeated, copied, own, n_passages : int64 array, shape (n_inputs,)
        Words; characters; of these in any passage; in one that stands in an earlier document; repeated inside the
        document; passages.
    """

    n_words: I64
    characters: I64
    repeated: I64
    copied: I64
    own: I64
    n_passages: I64

    @classmethod
    def of(
        cls, texts: OriginalTexts, corpus: Corpus, windows: Windows, flags: np.ndarray, passages: Passages
    ) -> RepeatedCharacters:
        """Count the characters."""
        n = texts.n_inputs
        repeated, copied, own = (
            texts.parts(windows.spans((flags & flag) > 0)).characters(len(corpus))[:n]
            for flag in (REPEATED, COPIED, OWN)
        )
        n_words = np.diff(texts.words.starts)[np.argsort(texts.rows)][:n]
        n_passages = np.bincount(passages.parts.row[~passages.is_own], minlength=len(corpus))[:n]
        return cls(
            n_words=n_words, characters=corpus.n_characters[:n], repeated=repeated, copied=copied, own=own,
            n_passages=n_passages,
        )  # fmt: skip

    def share(self, part: I64) -> F64:
        """Return a part of the characters of each document; 0 of an empty one."""
        return part / np.maximum(self.characters, 1)


def write_documents(
    path: Path, shares: RepeatedCharacters, places: Places, *, is_emptied: Bool | None, keep: Bool | None
) -> None:
    """Write ``documents.parquet``: a row for each document of the input, in reading order."""
    n = len(shares.characters)
    names = pa.array(list(places.source_names), pa.string())
    columns = {
        "id": places.own_ids, "name": places.names.slice(0, n), "row": pa.array(np.arange(n)),
        "n_characters": pa.array(shares.characters), "n_words": pa.array(shares.n_words),
        "n_passages": pa.array(shares.n_passages), "repeated_share": pa.array(shares.share(shares.repeated)),
        "copied_share": pa.array(shares.share(shares.copied)), "own_share": pa.array(shares.share(shares.own)),
        **({} if is_emptied is None else {"is_emptied": pa.array(is_emptied[:n])}),
        **({} if keep is None else {"keep": pa.array(keep)}),
        "source": names.take(pa.array(places.source[:n])), "line": pa.array(places.line[:n]),
        "problem": pa.array([places.problems.get(row) for row in range(n)], pa.large_string()),
        **places.carried,
    }  # fmt: skip
    table = pa.table(columns)
    with published_table(path, table.schema) as writer:
        writer.write_table(table, row_group_size=ROWS_PER_GROUP)


def write_cuts(path: Path, cuts: TextParts, places: Places, texts: Sequence[Chunk]) -> None:
    """Write ``cut.parquet``: what was cut, so that it can be put back."""
    schema = pa.schema(
        [pa.field("id", places.ids.type), *(pa.field(name, pa.int64(), nullable=False) for name in ("row", *_BOUNDS)),
         pa.field("text", pa.large_string(), nullable=False)]
    )  # fmt: skip
    with published_table(path, schema) as writer:
        for at in range(0, len(cuts), _CUTS_AT_ONCE):
            rows = slice(at, at + _CUTS_AT_ONCE)
            originals = texts_of(texts, cuts.row[rows])
            bounds = zip(originals, cuts.start[rows].tolist(), cuts.end[rows].tolist(), strict=True)
            columns = [
                places.ids.take(pa.array(cuts.row[rows])), cuts.row[rows],
                *(getattr(cuts, name)[rows] for name in _BOUNDS), [text[a:b] for text, a, b in bounds],
            ]  # fmt: skip
            writer.write_table(
                pa.table([pa.array(column, field.type) for column, field in zip(columns, schema)], schema=schema)
            )


_CUTS_AT_ONCE = 1 << 12


def cuts_by_line(cuts: TextParts, lines: I64, first_row: int) -> dict[int, list[tuple[int, int]]]:
    """Return the cuts of the documents of a source by their lines."""
    by_line = defaultdict[int, list[tuple[int, int]]](list)
    block = slice(*np.searchsorted(cuts.row, [first_row, first_row + len(lines)]))
    for row, start, end in zip(
        cuts.row[block].tolist(), cuts.start[block].tolist(), cuts.end[block].tolist(), strict=True
    ):
        by_line[int(lines[row - first_row])].append((start, end))
    return by_line


def annotation_columns(passages: Passages, shares: RepeatedCharacters, is_readable: Bool) -> pa.Table:
    """Return the columns of ``--annotate``: each passage as its bounds and its number, and shares of characters."""
    n = len(shares.characters)
    mine = np.flatnonzero(passages.parts.row < n)
    mine = mine[np.lexsort((passages.parts.start[mine], passages.parts.row[mine]))]
    values = np.column_stack([passages.parts.start[mine], passages.parts.end[mine], passages.passage[mine]]).reshape(-1)
    spans = pa.ListArray.from_arrays(pa.array(np.arange(0, len(values) + 1, 3), pa.int32()), pa.array(values))
    ends = np.searchsorted(passages.parts.row[mine], np.arange(n + 1))
    own_share, repeated = shares.share(shares.own), shares.share(shares.repeated)
    return pa.table(
        {
            "nearkin_passages": pa.ListArray.from_arrays(pa.array(ends, pa.int32()), spans),
            "nearkin_own_share": pa.array(own_share, mask=~is_readable),
            "nearkin_repeated_share": pa.array(repeated, mask=~is_readable),
        }
    )


def boilerplate(passages: Passages, group: I64, share: float) -> dict[int, float]:
    """Return passages in more than a share of the documents of a group, the most frequent first, with their shares.

    Parameters
    ----------
    group : int64 array, shape (n_inputs,)
        Group of each document; -1 if it is in none.
    """
    rows = passages.parts.row
    is_counted = ~passages.is_own & (rows < len(group))
    is_counted[is_counted] = group[rows[is_counted]] >= 0
    n_groups = int(group.max(initial=0)) + 1
    cells, n_documents = np.unique(
        passages.passage[is_counted] * n_groups + group[rows[is_counted]], return_counts=True
    )
    sizes = np.bincount(group[group >= 0], minlength=n_groups)
    shares = n_documents / sizes[cells % n_groups]
    best = np.zeros(len(passages))
    is_frequent = (shares > share) & (n_documents >= _MIN_DOCUMENTS)
    np.maximum.at(best, (cells // n_groups)[is_frequent], shares[is_frequent])
    chosen = np.flatnonzero(best)
    order = np.lexsort((chosen, -best[chosen], -passages.documents[chosen]))
    proposed, left = dict[int, float](), MAX_FILE_BYTES - _BYTES_BESIDE
    for number in told_apart(passages, chosen[order], _MAX_PROPOSED):
        usual = passages.usual[number]
        size = int(passages.parts.end_byte[usual] - passages.parts.start_byte[usual]) + _BYTES_BESIDE
        if size <= left:
            proposed[number] = float(best[number])
            left -= size
    return proposed
