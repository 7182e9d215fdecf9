"""Translation table: the translations of each word of two languages, and their probabilities."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import FingerprintError, ParameterError, SourceError
from nearkin.formats import parquet
from nearkin.kernels.buffers import text_buffers
from nearkin.records import F64, I32, I64
from nearkin.stages.translation.rows import Pruning, TranslationRows, merged

FORMAT_VERSION = 1
_FACTS = ("source", "target", "words", "aligner", "n_pairs")
_KEY = b"nearkin.translation_table"
SCHEMA = pa.schema(
    [
        pa.field("source", pa.large_string(), nullable=False),
        pa.field("target", pa.large_string(), nullable=False),
        pa.field("p_target_given_source", pa.float32(), nullable=False),  # 0: pruned in this direction
        pa.field("p_source_given_target", pa.float32(), nullable=False),
        pa.field("count", pa.float32(), nullable=False),  # expected number of times that they translate each other
    ]
)


@dataclass(frozen=True, slots=True)
class TableOrigin:
    """Origin of a translation table.

    Parameters
    ----------
    words
        Fingerprint of the method that splits texts into words. Words to look up must be split by the same method.
    n_pairs
        Pairs of sentences, or dictionary entries, from which the table was made.
    """

    source: str
    target: str
    words: str
    aligner: str
    n_pairs: int

    def __post_init__(self) -> None:
        for parameter, language in (("source", self.source), ("target", self.target)):
            if not language.strip():
                raise ParameterError.of(parameter, "the code of a language", language)
        if self.source == self.target:
            raise ParameterError.of("target", f"a language other than {self.source}", self.target)


@dataclass(frozen=True, slots=True)
class Translation:
    """One translation of a word.

    Parameters
    ----------
    probability, back_probability
        p(this | the given word), and the reverse.
    count
        Expected number of times that the two words translate each other in the training data.
    """

    word: str
    probability: float
    back_probability: float
    count: float


@dataclass(frozen=True, slots=True)
class Direction:
    """Translations of all words of one language, the likeliest first.

    Parameters
    ----------
    offsets, words : int64 array of shape (n_words + 1,), int32 array of shape (n_translations,)
        Word ``i`` has the translations from ``offsets[i]`` to ``offsets[i + 1]``: words of the other language.
    """

    offsets: I64
    words: I32
    probabilities: F64
    rows: I64


@dataclass(frozen=True)
class TranslationTable:
    """Words of two languages that translate each other.

    Parameters
    ----------
    rows
        Words sorted by their bytes; rows sorted by source word, the likeliest first. To make a table, use `of_rows`.

    Examples
    --------
    >>> pairs = [("haus", "house"), ("haus", "home"), ("heim", "home")]
    >>> table = TranslationTable.of_pairs(pairs, source="de", target="en", words="as given")
    >>> [(one.word, one.probability) for one in table.lookup("haus")]
    [('home', 0.5), ('house', 0.5)]
    >>> [(one.word, one.probability) for one in table.lookup("house", is_reverse=True)]
    [('haus', 1.0)]
    """

    origin: TableOrigin
    rows: TranslationRows

    @classmethod
    def of_rows(cls, rows: TranslationRows, origin: TableOrigin) -> TranslationTable:
        """Make a table from rows in any order; each pair of words occurs once."""
        return cls(origin, rows.in_order())

    @classmethod
    def of_pairs(
        cls, pairs: Iterable[tuple[str, str]], *, source: str, target: str, words: str, aligner: str = "pairs"
    ) -> TranslationTable:
        """Make a table from pairs of words; all translations of a word are equally likely.

        Parameters
        ----------
        pairs
            A word of the source language and one of the target language; repetitions count once.
        source, target, words, aligner
            See `TableOrigin`.
        """
        distinct = list(dict.fromkeys(pairs))
        encoded = [pa.array(side, pa.large_string()).dictionary_encode() for side in _columns(distinct)]
        numbers = [column.indices.to_numpy(zero_copy_only=False).astype(np.int32) for column in encoded]
        rows = TranslationRows.of_counts(
            (encoded[0].dictionary, encoded[1].dictionary), numbers[0], numbers[1], np.ones(len(distinct))
        )
        return cls.of_rows(rows, TableOrigin(source, target, words, aligner, len(distinct)))

    def __len__(self) -> int:
        return len(self.rows.source)

    @property
    def source_words(self) -> pa.LargeStringArray:
        """Words of the source language, sorted by their bytes."""
        return self.rows.source_words

    @property
    def target_words(self) -> pa.LargeStringArray:
        """Words of the target language, sorted by their bytes."""
        return self.rows.target_words

    @cached_property
    def forward(self) -> Direction:
        """Translations of source words, by p(target | source)."""
        rows = self.rows
        return _direction(rows.source, rows.target, rows.forward, len(rows.source_words))

    @cached_property
    def backward(self) -> Direction:
        """Translations of target words, by p(source | target)."""
        rows = self.rows
        return _direction(rows.target, rows.source, rows.backward, len(rows.target_words))

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the content; equal tables have equal digests."""
        origin, rows = self.origin, self.rows
        digest = hashlib.sha256(f"{FORMAT_VERSION};{json.dumps([*_facts(origin).values()])};".encode())
        for words in (rows.source_words, rows.target_words):
            data, offsets = text_buffers(words)
            digest.update((offsets - offsets[0]).astype("<i8").data)
            digest.update(data[offsets[0] : offsets[-1]].tobytes())
        for numbers in (rows.source, rows.target):
            digest.update(numbers.astype("<i4").data)
        for values in (rows.forward, rows.backward, rows.counts):
            digest.update(values.astype("<f4").data)
        return digest.hexdigest()[:16]

    def lookup(self, word: str, *, is_reverse: bool = False) -> tuple[Translation, ...]:
        """Return the translations of a source word, or of a target word if ``is_reverse``; the likeliest first.

        Parameters
        ----------
        word
            In the form of the table: in lower case, and stemmed if the table has stems.
        """
        rows = self.rows
        side_words, others = (
            (rows.target_words, rows.source_words) if is_reverse else (rows.source_words, rows.target_words)
        )
        direction, back = (self.backward, rows.forward) if is_reverse else (self.forward, rows.backward)
        number = side_words.index(pa.scalar(word, pa.large_string())).as_py()
        if number < 0:
            return ()
        entries = range(int(direction.offsets[number]), int(direction.offsets[number + 1]))
        return tuple(
            Translation(
                others[int(direction.words[i])].as_py(),
                float(direction.probabilities[i]),
                float(back[direction.rows[i]]),
                float(rows.counts[direction.rows[i]]),
            )
            for i in entries
        )

    def turned(self) -> TranslationTable:
        """Return the same table in the other direction."""
        rows, origin = self.rows, self.origin
        turned = TranslationRows(
            source_words=rows.target_words,
            target_words=rows.source_words,
            source=rows.target,
            target=rows.source,
            forward=rows.backward,
            backward=rows.forward,
            counts=rows.counts,
        )
        return TranslationTable.of_rows(turned, replace(origin, source=origin.target, target=origin.source))

    def pruned(self, pruning: Pruning) -> TranslationTable:
        """Return the table without translations beyond the limits, normalised to sum to 1."""
        return TranslationTable.of_rows(self.rows.pruned(pruning), self.origin)

    @classmethod
    def merged(cls, tables: Sequence[TranslationTable]) -> TranslationTable:
        """Merge tables of several corpora; each word's translations are weighted by its frequency in each corpus.

        The direction is that of the first table; tables of the other direction are turned.
        """
        if len(tables) < 2:
            raise ParameterError.of("tables", "two tables or more", len(tables))
        first = tables[0].origin
        turned = first.target, first.source
        tables = [table.turned() if (table.origin.source, table.origin.target) == turned else table for table in tables]
        for table in tables[1:]:
            table.check_direction(first.source, first.target)
            if table.origin.words != first.words:
                raise FingerprintError(
                    f"Tables with words split by different methods cannot be merged: {first.words!r} and "
                    f"{table.origin.words!r}."
                )
        aligners = " + ".join(sorted({aligner for table in tables for aligner in table.origin.aligner.split(" + ")}))
        n_pairs = sum(table.origin.n_pairs for table in tables)
        rows = merged([table.rows for table in tables])
        return cls.of_rows(rows, replace(first, aligner=aligners, n_pairs=n_pairs))

    def check_direction(self, source: str | None, target: str | None, *, name: str = "the table") -> None:
        """Refuse a table of other languages, or of the other direction."""
        origin = self.origin
        wanted = source or origin.source, target or origin.target
        if wanted != (origin.source, origin.target):
            is_turned = wanted == (origin.target, origin.source)
            raise FingerprintError(
                f"{name}: translates from {origin.source} to {origin.target}, not from {wanted[0]} to {wanted[1]}."
                + (" Read it without source and target: its turned() serves the other direction." * is_turned)
            )

    def write(self, path: Path) -> None:
        """Write directly to a Parquet file; use `runs.files.published` to publish it atomically."""
        about = {"version": FORMAT_VERSION, **_facts(self.origin), "fingerprint": self.fingerprint}
        rows = self.rows
        columns = [
            rows.source_words.take(pa.array(rows.source)),
            rows.target_words.take(pa.array(rows.target)),
            *(pa.array(values.astype(np.float32)) for values in (rows.forward, rows.backward, rows.counts)),
        ]
        table = pa.table(columns, schema=SCHEMA.with_metadata({_KEY: json.dumps(about)}))
        parquet.write_table(table, path)

    @classmethod
    def read(cls, path: Path, *, source: str | None = None, target: str | None = None) -> TranslationTable:
        """Read a file that `write` wrote.

        Parameters
        ----------
        source, target
            Required languages and direction.

        Raises
        ------
        FingerprintError
            The table has other languages, or the other direction.
        """
        table, about = _read_parquet(path)
        try:
            version, fingerprint = about["version"], about["fingerprint"]
            source_language, target_language, words, aligner, n_pairs = (str(about[name]) for name in _FACTS)
            origin = TableOrigin(source_language, target_language, words, aligner, int(n_pairs))
        except (KeyError, TypeError, ValueError) as error:
            raise SourceError(f"{path} is damaged: its metadata cannot be read ({error}).") from error
        if version != FORMAT_VERSION:
            raise SourceError(
                f"{path} is a translation table of format {version}; this version of Nearkin reads {FORMAT_VERSION}."
            )
        read = cls.of_rows(_rows_of(table), origin)
        if read.fingerprint != fingerprint:
            raise SourceError(f"{path} is damaged: its content is {read.fingerprint}, not the stored {fingerprint}.")
        read.check_direction(source, target, name=str(path))
        return read


def _facts(origin: TableOrigin) -> dict[str, object]:
    return {name: getattr(origin, name) for name in _FACTS}


def _columns(pairs: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [source for source, _ in pairs], [target for _, target in pairs]


def _direction(given: I32, other: I32, probabilities: F64, n_given: int) -> Direction:
    there = np.flatnonzero(probabilities > 0)
    order = there[np.lexsort((other[there], -probabilities[there], given[there]))]
    offsets = np.searchsorted(given[order], np.arange(n_given + 1)).astype(np.int64)
    return Direction(offsets, other[order], probabilities[order], order.astype(np.int64))


def _read_parquet(path: Path) -> tuple[pa.Table, dict[str, object]]:
    try:
        table = parquet.read_table(path)
    except parquet.UNREADABLE as error:
        reason = parquet.why_unreadable(path, error)
        raise SourceError(f"Cannot read {path} as a translation table: {reason}.") from error
    try:
        about = json.loads((table.schema.metadata or {}).get(_KEY, b"null"))
    except ValueError as error:
        raise SourceError(f"{path} is damaged: its metadata cannot be read ({error}).") from error
    if not isinstance(about, dict) or not table.schema.remove_metadata().equals(SCHEMA):
        raise SourceError(f"{path} is not a translation table. Make one with: nearkin align train.")
    return table, about


def _rows_of(table: pa.Table) -> TranslationRows:
    encoded = [pc.dictionary_encode(table[name].combine_chunks()) for name in ("source", "target")]
    source, target = (column.indices.to_numpy(zero_copy_only=False).astype(np.int32) for column in encoded)
    forward, backward, counts = (table[name].to_numpy().astype(np.float64) for name in SCHEMA.names[2:])
    words = encoded[0].dictionary, encoded[1].dictionary
    return TranslationRows.of_words(words, source, target, forward=forward, backward=backward, counts=counts)
