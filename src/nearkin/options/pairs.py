"""Options of a search for similar pairs of two corpora."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from nearkin.errors import ParameterError
from nearkin.options.declared import PYTHON, Option, Options, Same, option
from nearkin.options.dedup import IgnoringOptions
from nearkin.options.reading import ColumnOptions, FileOptions
from nearkin.options.running import RunOptions, ThreadOptions
from nearkin.paths import path_of

if TYPE_CHECKING:
    from nearkin.stages.documents.ignoring import Ignored
    from nearkin.stages.features.vocabulary import BM25

Method = Literal["auto", "vectors", "signatures", "window"]
METHODS: tuple[Method, ...] = get_args(Method)
Translated = Literal["auto", "left", "right"]
_MAX, _MAX_BITS = 2**31 - 1, 65_528
_similar = partial(option, panel="What is a pair")
_search = partial(option, panel="The search (planned by default)")
_fixed = partial(option, panel=PYTHON, kind=int)
_words = partial(option, panel=PYTHON)
_input = partial(option, panel="Input")


def _name(given: Any) -> str:
    return str(path_of(given, "known"))


class PairOptions(IgnoringOptions):
    """Options that decide which pairs are found, together with the documents and the table."""

    threshold: Same[float] = _similar(
        0.3, above=0, maximum=1,
        help="Minimum cosine of a pair, above 0 and up to 1. Translations usually reach 0.3 to 0.6.",
    )  # fmt: skip
    recall: Same[float] = _similar(
        0.9, above=0, maximum=1,
        help="Minimum share of these pairs that the search finds, above 0 and up to 1; 1 compares all pairs.",
    )  # fmt: skip
    top: Same[int | None] = _similar(
        kind=int, minimum=1, maximum=_MAX,
        help="Maximum number of pairs of each left document, the best first. [default: all]",
    )  # fmt: skip
    n_terms: Same[int] = _words(5, maximum=100, help="Number of matching words to write for each pair.")
    min_occurrences: Same[int] = _words(
        2, minimum=1, maximum=_MAX, help="Minimum number of times a word must occur in its corpus to count."
    )
    min_terms: Same[int] = _words(
        5, minimum=1, maximum=_MAX, help="Minimum number of terms of a document; documents with fewer are skipped."
    )
    agreement: Same[float] = _words(
        0.05, minimum=0, maximum=1, help="Minimum probability of a translation in the reverse direction."
    )
    stems: Same[bool] = _similar(True, help="Translate a word that the table lacks by other forms of the word.")
    splits: Same[bool] = _words(True, help="Split compounds that the table lacks.")
    translate: Same[Translated] = _words(
        "auto", choices=get_args(Translated), help="Side whose words are translated, by default as the table decides."
    )
    seed: Same[int] = _search(
        0, maximum=2**64 - 1,
        help="Random seed of the signatures and of the sample for the plan; a different seed misses different pairs.",
    )  # fmt: skip
    method: Same[Method] = _search(
        "auto", choices=METHODS,
        help="auto; vectors: every pair of vectors; signatures: every pair of signatures; window: neighbours in "
        "sorted orders of the signatures.",
    )  # fmt: skip
    bits: Same[int | None] = _fixed(minimum=8, maximum=_MAX_BITS, help="Length of a signature, a multiple of 8.")
    distance: Same[int | None] = _fixed(
        minimum=0, maximum=_MAX, help="Maximum number of different bits of a candidate pair."
    )
    permutations: Same[int | None] = _fixed(minimum=1, maximum=_MAX, help="Number of sorted orders.")
    window: Same[int | None] = _fixed(
        minimum=1, maximum=_MAX, help="Number of neighbours on each side that a signature is compared with."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bits is not None and self.distance is not None and self.distance > self.bits:
            raise ParameterError.of("distance", f"at most the {self.bits} bits of a signature", self.distance)
        if self.bits is not None and self.bits % 8:
            raise ParameterError.of("bits", f"a multiple of 8 from 8 to {_MAX_BITS}", self.bits)
        for name, methods in _OF_METHODS.items():
            if getattr(self, name) is not None and self.method not in ("auto", *methods):
                raise ParameterError(
                    f"belongs to the method {' or '.join(methods)}, and 'method' is {self.method}. Omit one of them.",
                    parameter=name,
                )

    @property
    def bm25(self) -> BM25:
        """Weights of the terms."""
        from nearkin.stages.features.vocabulary import BM25

        return BM25()

    @functools.cached_property
    def ignored(self) -> Ignored:
        """Passages and numbers that do not count."""
        from nearkin.stages.documents.ignoring import Ignored

        return Ignored.of(self.ignore, numbers=self.ignore_numbers)

    @property
    def fixed(self) -> dict[str, int]:
        """Parameters of a search by signatures that were given and so are not chosen."""
        return {name: value for name in _OF_METHODS if (value := getattr(self, name)) is not None}

    def leaves_nothing_to_choose(self) -> bool:
        """Whether the method was given, and all parameters of its search."""
        names = [name for name, methods in _OF_METHODS.items() if self.method in methods]
        return self.method != "auto" and all(name in self.fixed for name in names)

    @classmethod
    def of(cls, words: Mapping[str, Any]) -> Self:
        """Read the result of `in_words`.

        Examples
        --------
        >>> PairOptions.of(PairOptions(threshold=0.5, top=3).in_words()) == PairOptions(threshold=0.5, top=3)
        True
        """
        from nearkin.stages.documents.ignoring import Ignored

        values = {name: value for name, value in words.items() if name not in ("k1", "b", "ignored", "terms")}
        options = super().of({**values, "n_terms": words["terms"]})
        vars(options)["ignored"] = Ignored.restored(words.get("ignored", ""))
        return options

    def in_words(self) -> dict[str, str | float | int | bool | None]:
        """Return the options as the manifest stores them."""
        values = {name: getattr(self, name) for name in PairOptions.declared() if name not in _OTHERS}
        ignored = {"ignored": str(self.ignored)} if self.ignored else {}
        return {**values, "terms": self.n_terms, "k1": self.bm25.k1, "b": self.bm25.b, **ignored}


_OF_METHODS = {
    "bits": ("signatures", "window"),
    "distance": ("signatures", "window"),
    "permutations": ("window",),
    "window": ("window",),
}
_OTHERS = ("n_terms", "ignore", "ignore_numbers")
"""Options that the manifest stores under other names."""


class TableOptions(Options):
    """Translation table, and its direction."""

    table: Same[Path | str | None] = _input(
        kind=Path,
        help="Translation table of the two languages, from nearkin align; either direction works. "
        "[default: both sides are in one language]",
    )  # fmt: skip
    right_language: Same[str | None] = _input(
        metavar="LANG",
        help="Language of the right side: one of the table's; without a table, the edition to which --known links. "
        "[default: the second of the table]",
    )


class SideOptions(FileOptions, ColumnOptions, TableOptions):
    """Options for reading both corpora."""

    left_text: Same[str | None] = _input(metavar="COLUMN", help="Column with the text, left only.")
    right_text: Same[str | None] = _input(metavar="COLUMN", help="Column with the text, right only.")
    left_id: Same[str | None] = _input(metavar="COLUMN", help="Column with the id, left only.")
    right_id: Same[str | None] = _input(metavar="COLUMN", help="Column with the id, right only.")


class PairsJob(ThreadOptions, PairOptions, SideOptions, RunOptions):
    """Options of ``nearkin pairs``."""

    known: Option[str | None, Path | str] = option(
        metavar="same-ids|links|FILE", panel="To compare with", parse=_name,
        help="Known pairs, to measure recall: documents with the same id; links of a Wikipedia dump up to 2013; a "
        "CSV, TSV or Parquet file of two columns of ids; or langlinks.sql.gz.",
    )  # fmt: skip
