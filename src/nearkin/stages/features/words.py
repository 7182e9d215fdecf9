"""Words of texts in order, optionally stemmed.

Source of the stems: Martin Porter and others, Snowball, https://snowballstem.org.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from nearkin.errors import MissingExtraError, ParameterError
from nearkin.kernels.buffers import large_strings, text_buffers
from nearkin.kernels.words import split_words
from nearkin.records import TextWords

STEMMED_LANGUAGES = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch",
    "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Codes of the languages for which Snowball has stems, and its names for them."""


@dataclass(frozen=True)
class WordSplitter:
    """Splits texts into the words that word shingles use: runs of letters, digits and marks of any script.

    Examples
    --------
    >>> found = WordSplitter().split(pa.array(["das haus, das", "", "家は2"], pa.large_string()))
    >>> found.words.to_pylist(), found.ids.tolist(), found.offsets.tolist()
    (['das', 'haus', '家', 'は', '2'], [0, 1, 0, 2, 3, 4], [0, 3, 3, 6])
    """

    stem: str | None = None
    _stems: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Cached stems: each distinct word of a large corpus is stemmed once."""

    def __post_init__(self) -> None:
        if self.stem is not None:
            self._stemmer()

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the parameters that determine the result of `split`."""
        if self.stem is None:
            return "words;unicode=14.0"
        return f"words;unicode=14.0;stem={STEMMED_LANGUAGES[self.stem]};snowball={_snowball_version()}"

    def split(self, texts: pa.LargeStringArray) -> TextWords:
        """Return the words of each normalised text."""
        data, offsets = text_buffers(texts)
        words, word_offsets, text_offsets = split_words(data, offsets)
        encoded = large_strings(words, word_offsets).dictionary_encode()
        ids = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
        distinct = encoded.dictionary
        if self.stem is not None:
            stemmed = pa.array(self.stems(distinct.to_pylist()), pa.large_string()).dictionary_encode()
            ids = stemmed.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)[ids]
            distinct = stemmed.dictionary
        return TextWords(distinct, ids, text_offsets, self.fingerprint)

    def stems(self, words: list[str]) -> list[str]:
        """Return the stem of each word."""
        new = [word for word in words if word not in self._stems]
        # a word whose stem would be empty is its own stem
        stemmer = self._stemmer()
        self._stems.update((word, stemmer.stemWord(word) or word) for word in new)
        return [self._stems[word] for word in words]

    def _stemmer(self) -> Any:
        """Return a new stemmer for each call: threads must not share it."""
        if self.stem not in STEMMED_LANGUAGES:
            raise ParameterError.of("stem", f"one of {', '.join(STEMMED_LANGUAGES)}", self.stem)
        name = STEMMED_LANGUAGES[self.stem]
        snowball = _snowball()
        if name not in snowball.algorithms():
            raise ParameterError(f"The installed snowballstemmer has no stems for {name}. Install a newer one.")
        return snowball.stemmer(name)


def _snowball() -> Any:
    try:
        return importlib.import_module("snowballstemmer")
    except ImportError as error:
        raise MissingExtraError.of("Stemming words", "align") from error


def _snowball_version() -> str:
    """Return the major version, with which stems change."""
    from importlib.metadata import version

    return version("snowballstemmer").partition(".")[0]
