"""Text → words of a translation table, in the same way for learning and for looking up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from nearkin.errors import FingerprintError
from nearkin.kernels.buffers import strings
from nearkin.records import TextWords
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.features.words import WordSplitter
from nearkin.stages.translation.table import TableOrigin

_STEM = "stem="


@dataclass(frozen=True)
class TableWords:
    """Splitter of texts into words in both languages: NFKC, lower case, words as in shingles.

    Parameters
    ----------
    stem
        Whether words become their Snowball stems.

    Examples
    --------
    >>> words = TableWords("de", "en")
    >>> words.of_source(strings(["Das Haus, 3"])).words.to_pylist(), words.fingerprint
    (['das', 'haus', '3'], 'normalise=margins,hyphens,nfkc,case,arabic,space;words;unicode=14.0')
    """

    source: str
    target: str
    stem: bool = False

    def __post_init__(self) -> None:
        TableOrigin(self.source, self.target, "", "", 0)  # refuses anything but two languages,
        _ = self._splitters  # and a language without stems, before anything is read

    @classmethod
    def of_table(cls, origin: TableOrigin) -> TableWords:
        """Make the splitter for the words of a table."""
        words = cls(origin.source, origin.target, _STEM in origin.words)
        if words.fingerprint != origin.words:
            raise FingerprintError(
                f"The table was made with other rules for words than those used here: {origin.words!r} and "
                f"{words.fingerprint!r}."
            )
        return words

    @cached_property
    def _splitters(self) -> tuple[WordSplitter, WordSplitter]:
        if not self.stem:
            return WordSplitter(), WordSplitter()
        return WordSplitter(_base(self.source)), WordSplitter(_base(self.target))

    @property
    def fingerprint(self) -> str:
        """Everything that decides the words; the same for both directions."""
        parts = [splitter.fingerprint.split(";") for splitter in self._splitters]
        of_both = [
            _STEM + "+".join(sorted(one.removeprefix(_STEM) for one in pair)) if pair[0].startswith(_STEM) else pair[0]
            for pair in zip(*parts, strict=True)
        ]
        return ";".join([Normalisation().fingerprint, *of_both])

    def of_source(self, texts: pa.LargeStringArray) -> TextWords:
        """Return the words of texts in the source language; none for null."""
        return self._splitters[0].split(Normalisation().apply(texts))

    def of_target(self, texts: pa.LargeStringArray) -> TextWords:
        """Return the words of texts in the target language."""
        return self._splitters[1].split(Normalisation().apply(texts))

    def one(self, text: str, *, is_target: bool) -> str | None:
        """Return the word of a text that is one word; else None."""
        found = (self.of_target if is_target else self.of_source)(strings([text]))
        return str(found.words[0]) if len(found.ids) == 1 else None


def _base(language: str) -> str:
    return language.strip().lower().replace("_", "-").partition("-")[0]
