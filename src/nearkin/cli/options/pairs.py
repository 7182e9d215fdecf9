"""Options of ``nearkin pairs``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nearkin.cli.options.definitions import Encoding
from nearkin.cli.options.reading import Format, RulesOptions
from nearkin.cli.parameters import OptionGroup, option

if TYPE_CHECKING:
    from nearkin.workflows.pairing.inputs import PairInput
    from nearkin.workflows.pairing.job import Beside
    from nearkin.workflows.pairing.options import PairOptions
    from nearkin.workflows.reading.request import ReadingRequest

_input = partial(option, panel="Input")
_similar = partial(option, panel="What is a pair")
_weights = partial(option, panel="Words and weights")
_beside = partial(option, panel="To compare with")
_search = partial(option, panel="The search (planned by default)")
_output = partial(option, panel="Output")

Left = Annotated[
    list[str],
    _input("--left", metavar="INPUT", help="First corpus: files, folders or globs, as for nearkin dedup; also "
           "Wikipedia dumps. Repeatable."),
]  # fmt: skip
Right = Annotated[list[str], _input("--right", metavar="INPUT", help="Second corpus. Repeatable.")]
Table = Annotated[
    Path | None,
    _input(help="Translation table of the two languages, from nearkin align; either direction works. "
           "[default: both sides are in one language]"),
]  # fmt: skip
LeftLanguage = Annotated[
    str | None,
    _input("--left-language", metavar="LANG", help="Language of the left side: one of the table's languages. "
           "[default: the first of the table]"),
]  # fmt: skip
RightLanguage = Annotated[
    str | None,
    _input(
        "--right-language",
        metavar="LANG",
        help="Language of the right side; without a table, the edition named by --interwiki. "
        "[default: the second of the table]",
    ),
]
Text = Annotated[
    str | None,
    _input(metavar="COLUMN", help="Column with the text, on both sides. [default: guessed and printed]"),
]
LeftText = Annotated[str | None, _input("--left-text", metavar="COLUMN", help="Column with the text, left only.")]
RightText = Annotated[str | None, _input("--right-text", metavar="COLUMN", help="Column with the text, right only.")]
Id = Annotated[
    str | None,
    _input("--id", metavar="COLUMN", help="Column with the id, on both sides. [default: guessed and printed]"),
]
LeftId = Annotated[str | None, _input("--left-id", metavar="COLUMN", help="Column with the id, left only.")]
RightId = Annotated[str | None, _input("--right-id", metavar="COLUMN", help="Column with the id, right only.")]

PairThreshold = Annotated[
    float,
    _similar(
        "--threshold", help="Minimum cosine of a pair, above 0 and up to 1. Translations usually reach 0.3 to 0.6."
    ),
]
WantedRecall = Annotated[
    float,
    _similar(
        "--recall",
        help="Minimum share of these pairs that the search finds, as predicted from a sample, above 0 and up to 1. 1 "
        "compares all pairs.",
    ),
]
Top = Annotated[
    int | None,
    _similar(help="Maximum number of pairs of each left document, the best first. [default: all]"),
]

Agreement = Annotated[
    float,
    _weights(help="Minimum probability of a translation in the reverse direction."),
]
Stems = Annotated[
    bool, _weights("--stems/--no-stems", help="Translate a word that the table lacks by other forms of the word.")
]
Splits = Annotated[
    bool, _weights("--splits/--no-splits", help="Split compounds that the table lacks (German, Dutch, …).")
]
Translate = Annotated[
    str,
    _weights(
        "--translate",
        metavar="auto|left|right",
        help="Side whose words are translated. auto: the side whose language has more words in the table.",
    ),
]
MinOccurrences = Annotated[
    int, _weights("--min-occurrences", help="Minimum number of times a word must occur in its corpus to count.")
]
MinTerms = Annotated[
    int, _weights("--min-terms", help="Minimum number of terms of a document; documents with fewer are skipped.")
]

PairIgnoreFile = Annotated[
    Path | None,
    _weights("--ignore", metavar="FILE", help="File of passages that do not count, as for nearkin dedup."),
]  # fmt: skip
PairIgnoreNumbers = Annotated[bool, _weights("--ignore-numbers", help="Ignore digits.")]

KnownPairs = Annotated[
    str | None,
    _beside("--known", metavar="same-ids|FILE", help="Known pairs, to measure recall: documents with the same id, or a "
            "CSV, TSV (with a header) or Parquet file of two columns of ids."),
]  # fmt: skip
Interwiki = Annotated[
    str | None,
    _beside(metavar="inline|FILE", help="Known pairs from the links between editions of Wikipedia: inline in a "
            "dump up to 2013, or in a langlinks.sql.gz file."),
]  # fmt: skip

Method = Annotated[
    str,
    _search(help="auto; vectors: every pair of vectors; signatures: every pair of signatures; window: neighbours in "
            "sorted orders of the signatures. [default: auto]"),
]  # fmt: skip
Bits = Annotated[int | None, _search(help="Length of a signature, a multiple of 8.")]
Distance = Annotated[int | None, _search(help="Maximum number of different bits of a candidate pair.")]
Permutations = Annotated[int | None, _search(help="Number of sorted orders.")]
Window = Annotated[int | None, _search(help="Number of neighbours on each side that a signature is compared with.")]
Seed = Annotated[
    int,
    _search(
        "--seed",
        help="Random seed of the signatures and of the sample for the plan; a different seed misses different pairs. "
        "[default: 0]",
    ),
]

Terms = Annotated[int, _output("--terms", help="Number of matching words to write for each pair.")]


@dataclass(frozen=True, kw_only=True)
class SidesOptions(OptionGroup):
    """Options for reading both corpora."""

    table: Table = None
    left_language: LeftLanguage = None
    right_language: RightLanguage = None
    text: Text = None
    left_text: LeftText = None
    right_text: RightText = None
    id: Id = None
    left_id: LeftId = None
    right_id: RightId = None
    file_format: Format = None
    encoding: Encoding = "utf-8"
    rules: RulesOptions = field(default_factory=RulesOptions)

    def given(self, left: Sequence[str], right: Sequence[str]) -> PairInput:
        """Request that both corpora be read."""
        from nearkin.workflows.pairing.inputs import PairInput

        sides = (
            self._request(left, "left", self.left_text, self.left_id),
            self._request(right, "right", self.right_text, self.right_id),
        )
        return PairInput(*sides, self.table, self.left_language, self.right_language)

    def _request(self, inputs: Sequence[str], side: str, text: str | None, doc_id: str | None) -> ReadingRequest:
        from nearkin.workflows.reading.request import ReadingRequest, names_of_columns

        return ReadingRequest(
            inputs=inputs, file_format=self.file_format, text=text or self.text, doc_id=doc_id or self.id,
            encoding=self.encoding, rules=self.rules.rules(),
            named=names_of_columns(side, text=(text, self.text), id=(doc_id, self.id)),
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PairChoices(OptionGroup):
    """Choices of a search: each field is one of `PairOptions`."""

    threshold: PairThreshold = 0.3
    recall: WantedRecall = 0.9
    top: Top = None
    agreement: Agreement = 0.05
    stems: Stems = True
    splits: Splits = True
    translate: Translate = "auto"
    min_occurrences: MinOccurrences = 2
    min_terms: MinTerms = 5
    method: Method = "auto"
    bits: Bits = None
    distance: Distance = None
    permutations: Permutations = None
    window: Window = None
    seed: Seed = 0
    ignore: PairIgnoreFile = None
    ignore_numbers: PairIgnoreNumbers = False

    def options(self, n_terms: int) -> PairOptions:
        """Return the checked options."""
        from nearkin.stages.documents.ignoring import Ignored
        from nearkin.workflows.pairing.options import PairOptions

        chosen = {name: value for name, value in vars(self).items() if name not in ("ignore", "ignore_numbers")}
        ignored = Ignored.of(self.ignore, numbers=self.ignore_numbers)
        return PairOptions(n_terms=n_terms, ignored=ignored, **chosen)


@dataclass(frozen=True)
class BesideOptions(OptionGroup):
    """Options for known pairs."""

    known: KnownPairs = None
    interwiki: Interwiki = None

    def beside(self) -> Beside:
        """Return the request for known pairs."""
        from nearkin.workflows.pairing.job import Beside

        return Beside(self.known, self.interwiki)
