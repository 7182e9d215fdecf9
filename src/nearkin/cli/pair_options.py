"""The options of ``nearkin pairs``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

_input = partial(typer.Option, rich_help_panel="Input", show_default=False)
_similar = partial(typer.Option, rich_help_panel="What is a pair")
_weights = partial(typer.Option, rich_help_panel="Words and weights")
_beside = partial(typer.Option, rich_help_panel="To compare with", show_default=False)
_search = partial(typer.Option, rich_help_panel="The search (planned by default)", show_default=False)
_output = partial(typer.Option, rich_help_panel="Output")

Left = Annotated[
    list[str],
    _input("--left", metavar="INPUT", help="A collection: files, folders or globs, as for nearkin dedup; also dumps of "
           "Wikipedia. May be repeated."),
]  # fmt: skip
Right = Annotated[
    list[str], _input("--right", metavar="INPUT", help="The other collection; its language is the common one.")
]
Table = Annotated[
    Path | None,
    _input(help="Translation table of the two languages, from nearkin align; it serves both directions. "
           "[dim]default: both sides are in one language[/]"),
]  # fmt: skip
LeftLanguage = Annotated[
    str | None,
    _input("--left-language", metavar="LANG", help="Language of the left side, one of the two of the table. "
           "[dim]default: the first of the table[/]"),
]  # fmt: skip
RightLanguage = Annotated[
    str | None,
    _input(
        "--right-language",
        metavar="LANG",
        help="Language of the right side; without a table, the edition that --interwiki links to. "
        "[dim]default: the second of the table[/]",
    ),
]
Text = Annotated[str | None, _input(help="Column with the text, on both sides. [dim]default: guessed and printed[/]")]
LeftText = Annotated[str | None, _input("--left-text", metavar="COLUMN", help="On the left alone.")]
RightText = Annotated[str | None, _input("--right-text", metavar="COLUMN", help="On the right alone.")]
Id = Annotated[
    str | None, _input("--id", help="Column with the id, on both sides. [dim]default: guessed and printed[/]")
]
LeftId = Annotated[str | None, _input("--left-id", metavar="COLUMN", help="On the left alone.")]
RightId = Annotated[str | None, _input("--right-id", metavar="COLUMN", help="On the right alone.")]

PairThreshold = Annotated[
    float,
    _similar("--threshold", help="Minimum cosine of a pair, above 0 and up to 1. Translations have 0.3 to 0.6."),
]
WantedRecall = Annotated[
    float,
    _similar("--recall", help="Share of such pairs that is to be found, above 0 and up to 1; 1: all, at any cost."),
]
Top = Annotated[
    int | None,
    _similar(help="Of each document on the left only the best. [dim]default: all[/]", show_default=False),
]

Agreement = Annotated[
    float,
    _weights(help="A translation is used if it is as likely as this in the other direction too."),
]
Stems = Annotated[
    bool, _weights("--stems/--no-stems", help="Translate forms that the table lacks as other forms of the same word.")
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
    int, _weights("--min-occurrences", help="Minimum number of times a word must occur in its collection to count.")
]
MinTerms = Annotated[
    int, _weights("--min-terms", help="Minimum number of terms of a document; documents with fewer are left out.")
]

KnownPairs = Annotated[
    str | None,
    _beside("--known", metavar="same-ids|FILE", help="Pairs that belong together: documents with the same id, or a "
            "CSV, TSV (with a header) or Parquet file of two columns of ids. What of them was found is told."),
]  # fmt: skip
Interwiki = Annotated[
    str | None,
    _beside(metavar="inline|FILE", help="The same by the links between editions of Wikipedia: in the articles of "
            "a dump up to 2013, or in its langlinks.sql.gz."),
]  # fmt: skip
LeftTranslated = Annotated[
    list[str] | None,
    _beside("--left-translated", metavar="INPUT", help="The left documents as you had them translated, by the same "
            "ids: their cosines are told beside those of the table."),
]  # fmt: skip

Method = Annotated[
    str,
    _search(help="auto; vectors: every pair of vectors; signatures: every pair of signatures; window: signatures near "
            "each other in sorted orders. [dim]default: auto[/]"),
]  # fmt: skip
Bits = Annotated[int | None, _search(help="Length of a signature, a multiple of 8.")]
Distance = Annotated[int | None, _search(help="Bits in which candidates may differ.")]
Permutations = Annotated[int | None, _search(help="Sorted orders.")]
Window = Annotated[int | None, _search(help="Signatures on either side that one is compared with.")]
Seed = Annotated[int, _search("--seed", help="Another seed misses other pairs. [dim]default: 0[/]")]

Terms = Annotated[int, _output("--terms", help="Matching words that are written of each pair.")]
