"""Bilingual dictionary → translation table, and words looked up in a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.errors import DocumentError, ParameterError, SourceError
from nearkin.nouns import counted
from nearkin.records import Bool, TextWords
from nearkin.stages.documents.reader import opened_text
from nearkin.stages.documents.readers.lines import read_plain_lines
from nearkin.stages.documents.rows import legible
from nearkin.stages.documents.rules import OnError, ReadingRules, StreamFault, truncated_input
from nearkin.stages.translation.table import Translation, TranslationTable
from nearkin.workflows.aligning.training import table_summary
from nearkin.workflows.table_words import TableWords

_BATCH_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class DictionaryRead:
    """Table made from a dictionary."""

    table: TranslationTable
    n_entries: int
    n_repeated: int
    n_of_several_words: int
    n_without_tab: int

    def summary(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {
            "command": "align dictionary",
            **table_summary(self.table),
            "entries": self.n_entries,
            "entries_repeated": self.n_repeated,
            "entries_of_several_words": self.n_of_several_words,
            "lines_without_a_tab": self.n_without_tab,
        }


def read_dictionary(
    path: Path, *, source: str, target: str, stem: bool = False, encoding: str = "utf-8", on_error: OnError = "stop"
) -> DictionaryRead:
    """Make a table from a dictionary with lines of a word, a tab, and its translation; further columns are ignored."""
    rules = ReadingRules(on_error=on_error)
    words = TableWords(source, target, stem)
    pairs: list[tuple[str, str]] = []
    n_entries = n_several = n_without_tab = 0
    for numbers, entries in _entries(path, encoding, rules):
        sides: tuple[list[str], list[str]] = ([], [])
        for number, entry in zip(numbers, entries, strict=True):
            columns = (entry or "").split("\t")
            if entry is not None and not entry.strip():
                continue
            if len(columns) < 2:
                n_without_tab += 1
                if on_error == "stop":
                    raise DocumentError(
                        f"{path}:{number}: the line has no tab between a word and its translation, or is not valid "
                        f"{encoding}. --on-error skip-documents omits such lines."
                    )
                continue
            for side, column in zip(sides, columns, strict=False):
                side.append(column)
        n_entries += len(sides[0])
        found = words.of_source(_array(sides[0])), words.of_target(_array(sides[1]))
        is_single = (np.diff(found[0].offsets) == 1) & (np.diff(found[1].offsets) == 1)
        n_several += int((~is_single).sum())
        pairs += zip(*(_single(one, is_single) for one in found), strict=True)
    if not pairs:
        raise SourceError(
            f"{path}: no line has one word, a tab, and one word (read {counted(n_entries, 'entry', 'entries')})."
        )
    table = TranslationTable.of_pairs(
        pairs, source=source, target=target, words=words.fingerprint, aligner="dictionary"
    )
    return DictionaryRead(table, n_entries, len(pairs) - table.origin.n_pairs, n_several, n_without_tab)


def _entries(path: Path, encoding: str, rules: ReadingRules) -> Iterator[tuple[list[int], list[str | None]]]:
    n_lines = 0
    with opened_text(str(path), encoding) as stream:
        try:
            for batch in legible(read_plain_lines(stream, batch_bytes=_BATCH_BYTES), stream, encoding):
                yield batch["line"].to_pylist(), batch["text"].cast(pa.large_string()).to_pylist()
                n_lines += len(batch)
        except StreamFault as fault:
            if not rules.takes_damaged:
                raise truncated_input(str(path), fault, n_lines) from fault


def _array(texts: list[str]) -> pa.LargeStringArray:
    return pa.array(texts, pa.large_string())


def _single(text_words: TextWords, is_single: Bool) -> list[str]:
    places = text_words.ids[text_words.offsets[:-1][is_single]]
    return list(text_words.words.take(pa.array(places)).to_pylist())


@dataclass(frozen=True, slots=True)
class LookedUp:
    """Translations of a word, the most probable first; the word is as in the table: in lower case, perhaps stemmed."""

    word: str
    language: str
    into: str
    translations: tuple[Translation, ...]

    def summary(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {"command": "align show", **asdict(self)}


def look_up(path: Path, word: str, *, is_reverse: bool = False) -> LookedUp:
    """Look a word up in the file of a table; ``is_reverse``: the word is of the target language."""
    table = TranslationTable.read(path)
    origin = table.origin
    found = TableWords.of_table(origin).one(word, is_target=is_reverse)
    if found is None:
        raise ParameterError(f"A table has translations of single words. Got {word!r} instead.")
    language, into = (origin.target, origin.source) if is_reverse else (origin.source, origin.target)
    return LookedUp(found, language, into, table.lookup(found, is_reverse=is_reverse))
