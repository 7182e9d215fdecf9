"""Spool of texts → words on disk → windows that stand in several places."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.engines.local import map_ordered
from nearkin.errors import SourceError
from nearkin.kernels.buffers import large_strings, text_buffers
from nearkin.kernels.hashing import hash_strings
from nearkin.kernels.linking import sort_by_key
from nearkin.kernels.passages import NONE, hash_windows, mark_windows, winnow
from nearkin.kernels.words import locate_words
from nearkin.options.families import PassageOptions
from nearkin.records import I64, U8, U32, U64, Bool
from nearkin.reports.quantities import size_text
from nearkin.runs.progress import Meter
from nearkin.runs.spool import Chunk, GrowingArray
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.documents.rows import IdKind
from nearkin.stages.passages.windows import Windows
from nearkin.workflows.resources import Resources

FORMS = Normalisation.parse("nfkc,case,arabic")
"""Differences between words that do not count; what stands between words never counts."""
_BYTES_AN_ENTRY = 48
"""Memory of an entry while its partition is sorted."""
_MAX_PARTITIONS = 128
"""Each has two open files."""
_WORDS_AT_ONCE = 1 << 22
_MAX_DOCUMENT = (1 << 32) - 1
_DISK = 8
"""Bytes of words with hashes and bounds, and of windows, for each byte of text."""
_SPACE, _LINE_END = np.uint8(ord(" ")), np.uint8(ord("\n"))
Split = tuple[U8, I64, I64, U32]
_BYTES_A_WORD = 5
"""Assumed for the number of partitions only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledTexts:
    """Texts that were read, in the order of the inputs, and a function that returns the words of a chunk.

    Parameters
    ----------
    id_kinds
        Kind of the ids of each input.
    engine
        Record of the cluster that read them.
    """

    chunks: tuple[Chunk, ...]
    n_inputs: int
    id_kinds: Sequence[IdKind]
    tokens_of: Callable[[Chunk], Tokens]
    engine: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusWords:
    """Words of a corpus, mapped from disk; the documents of the other set come first.

    Parameters
    ----------
    starts : int64 array, shape (n_documents + 1,)
        Number of the first word of each document.
    data, offsets : uint8 array, int64 array of shape (n_words + 1,)
        Normalised words.
    bounds : uint32 array, shape (n_words, 2)
        Bytes of each word, from the beginning of its original text.
    """

    starts: I64
    hashes: U64
    data: U8
    offsets: I64
    bounds: U32


class Tokens(NamedTuple):
    """Words of a chunk, and its fingerprints."""

    starts: I64
    hashes: U64
    data: U8
    offsets: I64
    bounds: U32
    keys: U64
    places: I64

    @classmethod
    def of(cls, chunk: Chunk, options: PassageOptions) -> Tokens:
        """Split the texts of a chunk, and winnow their words with ``w + k - 1`` = minimum length.

        So any run of so many words that stands in two places has the same fingerprint in both; see
        `nearkin.kernels.passages.winnow`.
        """
        texts, text_offsets = text_buffers(chunk.column("text"))
        if np.diff(text_offsets).max(initial=0) > _MAX_DOCUMENT:
            raise SourceError(f"A document has at most {_MAX_DOCUMENT:,} bytes; a longer one was read.")
        split = split_folded if options.min_lines is None else split_lines
        data, offsets, starts, bounds = split(texts, text_offsets)
        hashes = hash_strings(data, offsets)
        k = (options.length + 1) // 2
        return cls(starts, hashes, data, offsets, bounds, *winnow(hashes, starts, k, options.length + 1 - k))


class KeyPartitions:
    """Keys with their places, divided by key so that each part can be sorted in memory."""

    def __init__(self, folder: Path, n_entries: int, memory_bytes: int) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        n_bits = max(0, int(n_entries * _BYTES_AN_ENTRY // memory_bytes).bit_length())
        self._bits = min(n_bits, _MAX_PARTITIONS.bit_length() - 1)
        self._folder = folder
        self._parts = [
            tuple(
                GrowingArray(folder / f"{part}.{name}", kind, is_sealed=False)
                for name, kind in (("keys", np.uint64), ("places", np.int64))
            )
            for part in range(1 << self._bits)
        ]

    def add(self, keys: U64, places: I64) -> None:
        """Add entries; places ascend over all calls."""
        part = keys >> np.uint64(64 - self._bits) if self._bits else np.zeros(len(keys), np.uint64)
        order = np.argsort(part, kind="stable")
        ends = np.searchsorted(part[order], np.arange(len(self._parts) + 1))
        for number, (of_keys, of_places) in enumerate(self._parts):
            rows = order[ends[number] : ends[number + 1]]
            of_keys.add(keys[rows])
            of_places.add(places[rows])

    def repeated(self) -> Iterator[tuple[I64, Bool]]:
        """Yield the places of keys that stand at several, those of a key together; and where one begins."""
        for of_keys, of_places in self._parts:
            stored, places = cast("U64", of_keys.mapped()), cast("I64", of_places.mapped())
            keys, rows = sort_by_key(stored, np.arange(len(stored), dtype=np.uint32))
            begins = np.ones(len(keys), np.bool_)
            begins[1:] = keys[1:] != keys[:-1]
            is_repeated = ~begins
            is_repeated[:-1] |= ~begins[1:]
            yield places[rows[is_repeated]], begins[is_repeated]
        shutil.rmtree(self._folder)


def read_words(
    chunks: Sequence[Chunk],
    tokens_of: Callable[[Chunk], Tokens],
    work: Path,
    length: int,
    resources: Resources,
    meter: Meter,
) -> tuple[CorpusWords, KeyPartitions]:
    """Write the words of texts, or their lines in place of words, and their fingerprints, to disk."""
    w = length + 1 - (length + 1) // 2
    n_bytes = sum(chunk.column("text").nbytes for chunk in chunks)
    meter.progress.say(f"space on disk: about {size_text(_DISK * n_bytes)}")
    n_fingerprints = 2 * n_bytes // (_BYTES_A_WORD * (w + 1))
    fingerprints = KeyPartitions(work / "fingerprints", n_fingerprints, resources.memory_bytes // 2)
    columns = {
        name: GrowingArray(work / name, kind, is_sealed=False)
        for name, kind in (("hashes", np.uint64), ("data", np.uint8), ("offsets", np.int64), ("bounds", np.uint32))
    }
    starts, n_words, n_data = [np.zeros(1, np.int64)], 0, 0
    columns["offsets"].add(np.zeros(1, np.int64))
    with meter.stage("words", n_bytes, "bytes") as progress:
        tokens = map_ordered(tokens_of, chunks, threads=resources.n_threads)
        for chunk, part in zip(chunks, tokens, strict=True):
            starts.append(part.starts[1:] + n_words)
            fingerprints.add(part.keys, part.places + n_words)
            for name in ("hashes", "data", "bounds"):
                columns[name].add(getattr(part, name).reshape(-1))
            columns["offsets"].add(part.offsets[1:] + n_data)
            n_words, n_data = n_words + len(part.hashes), n_data + len(part.data)
            progress.advance(chunk.column("text").nbytes)
    mapped: Any = {name: column.mapped() for name, column in columns.items()}
    words = CorpusWords(
        starts=np.concatenate(starts), hashes=mapped["hashes"], data=mapped["data"], offsets=mapped["offsets"],
        bounds=mapped["bounds"].reshape(-1, 2),
    )  # fmt: skip
    return words, fingerprints


def split_folded(texts: U8, text_offsets: I64) -> Split:
    """Return the normalised words: bytes, their offsets, first word of each text, and bounds in the texts."""
    (spelled, ends, starts), bounds = locate_words(texts, text_offsets)
    return *_folded(spelled, ends), starts, bounds


def split_lines(texts: U8, text_offsets: I64) -> Split:
    """Return the lines without white space in the same way; blank lines are none."""
    starts = text_offsets - text_offsets[0]
    texts = texts[text_offsets[0] : text_offsets[-1]]
    visible = np.flatnonzero(texts > _SPACE)
    document = np.searchsorted(starts, visible, side="right") - 1
    line = np.cumsum(texts == _LINE_END)[visible]
    offsets = np.flatnonzero(np.append(np.diff(line, prepend=-1) + np.diff(document, prepend=-1) > 0, True))
    first, last = visible[offsets[:-1]], visible[offsets[1:] - 1] + 1
    bounds = np.column_stack([first, last]) - starts[document[offsets[:-1]]][:, None]
    return texts[visible], offsets, np.searchsorted(first, starts), bounds.astype(np.uint32)


def _folded(spelled: U8, ends: I64) -> tuple[U8, I64]:
    """Return the normalised words and their offsets; ASCII, most of it, without a loop over words."""
    is_upper = spelled - np.uint8(65) < 26  # bytes below 65 wrap around
    data = spelled | (is_upper.view(np.uint8) << np.uint8(5))
    beyond = np.flatnonzero(spelled >= 128)
    if not len(beyond):
        return data, ends
    words = np.unique(np.searchsorted(ends, beyond, side="right") - 1)
    edges = np.concatenate([[0], np.stack([ends[words], ends[words + 1]], axis=1).reshape(-1), [ends[-1]]])
    is_beyond = pa.array(np.arange(len(edges) - 1) % 2 == 1)  # each such word stands between two runs of others
    forms = FORMS.apply(large_strings(spelled, edges).filter(is_beyond))
    sizes = np.diff(ends)
    sizes[words] = np.diff(text_buffers(forms)[1])
    data, _ = text_buffers(pc.replace_with_mask(large_strings(data, edges), is_beyond, forms))
    offsets = np.append(0, np.cumsum(sizes))
    return data[: offsets[-1]], offsets


def find_windows(
    words: CorpusWords, fingerprints: KeyPartitions, work: Path, length: int, resources: Resources, meter: Meter
) -> Windows:
    """Return the windows that stand in several places, verified word by word.

    A window can stand in two places only if it has a fingerprint that does.
    """
    k = (length + 1) // 2
    n_words = len(words.hashes)
    with meter.stage("fingerprints", 0, "steps"):
        marks = np.memmap(work / "marks", np.uint8, "w+", shape=(max(n_words, 1),))
        for places, _ in fingerprints.repeated():
            mark_windows(places, length - k, marks)
    with meter.stage("windows", 0, "steps"):
        n_marked = sum(
            int(np.count_nonzero(marks[at : at + _WORDS_AT_ONCE])) for at in range(0, n_words, _WORDS_AT_ONCE)
        )
        if n_marked >= int(NONE):
            raise SourceError(f"A run finds at most {int(NONE):,} repeated words. Got up to {n_marked:,} instead.")
        partitions = KeyPartitions(work / "windows", n_marked, resources.memory_bytes // 2)
        mapped_places, n_windows = GrowingArray(work / "places", np.int64, is_sealed=False), 0
        for keys, places in _hashed(words, marks, length):
            partitions.add(keys, np.arange(n_windows, n_windows + len(keys)))
            mapped_places.add(places)
            n_windows += len(keys)
        first, counts = (
            np.memmap(work / name, np.uint32, "w+", shape=(max(n_windows, 1),))[:n_windows]
            for name in ("first", "counts")
        )
        for start in range(0, n_windows, _WORDS_AT_ONCE):
            end = min(start + _WORDS_AT_ONCE, n_windows)
            first[start:end], counts[start:end] = np.arange(start, end), 1
        for numbers, begins in partitions.repeated():
            at = np.flatnonzero(begins)
            sizes = np.diff(np.append(at, len(numbers)))
            first[numbers], counts[numbers] = np.repeat(numbers[at], sizes), 0
            counts[numbers[at]] = sizes
        windows = Windows(
            length=length, starts=words.starts, places=cast("I64", mapped_places.mapped()), first=first, counts=counts
        )
    with meter.stage("verify", 0, "steps"):
        return windows.verified(words.data, words.offsets)


def _hashed(words: CorpusWords, marks: U8, length: int) -> Iterator[tuple[U64, I64]]:
    document, starts = 0, words.starts
    while document < len(starts) - 1:
        end = int(np.searchsorted(starts, starts[document] + _WORDS_AT_ONCE, side="right")) - 1
        end = max(end, document + 1)
        block = slice(int(starts[document]), int(starts[end]))
        keys, places = hash_windows(
            words.hashes[block], starts[document : end + 1] - starts[document], marks[block], length
        )
        yield keys, places + starts[document]
        document = end
