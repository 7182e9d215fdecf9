"""``nearkin search``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.options.browsing import OfCurrentWave, SearchedWords
from nearkin.cli.options.collection import Json, Limit, Place, ReadOnly
from nearkin.cli.options.definitions import OutFileIfAny, OverwriteFile, Quiet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearkin.cli.printing import Printer
    from nearkin.collection.word_search.results import SearchResult

HELP = """
Find the documents that have all of the given words, the most relevant first.

Quote a phrase, whose words must follow one another. A word that ends in * stands for all words with that beginning. \
Case and punctuation do not matter; words are not stemmed. The first search stores the words of all texts, later ones \
those of new texts. --out writes all results to a .csv, .tsv, .jsonl or .parquet file.

[bold]Examples[/]

  nearkin search matter rent arrears

  nearkin search matter "first day" 'terminat*' --wave march

  nearkin search matter indemnity --limit 5 --out indemnity.csv
"""


def search(
    collection: Place,
    query: SearchedWords,
    wave: OfCurrentWave = None,
    limit: Limit = 20,
    out: OutFileIfAny = None,
    read_only: ReadOnly = False,
    as_json: Json = False,
    quiet: Quiet = False,
    overwrite: OverwriteFile = False,
) -> None:
    """Find documents by their words."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.listed_file import check_list_file, write_list
    from nearkin.cli.printing import tell
    from nearkin.collection.collection import Collection

    check_list_file(out, overwrite=overwrite)
    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        Collection.open(collection, read_only=read_only, progress=bars) as opened,
    ):
        found = opened.search(query_of(query), wave=wave, limit=limit if out is None else None)
    write_list(out, lambda: found.table, "document", is_silent=quiet or as_json)
    shown = found.first(limit)
    tell(shown.to_dict, lambda console: _show(console, shown, wave, out is not None), as_json=as_json, quiet=quiet)


def query_of(words: Sequence[str]) -> str:
    """Join arguments to a query: a shell removes quotes, so an argument with white space is a phrase.

    Examples
    --------
    >>> query_of(["rent", "first day", "due on the*", 'rent "each month"'])
    'rent "first day" "due on the"* rent "each month"'
    """
    return " ".join(_part(word) for word in words)


def _part(word: str) -> str:
    if '"' in word or len(word.split()) < 2:
        return word
    phrase = word.strip()
    is_prefix = phrase.endswith("*") and not phrase[-2].isspace()
    return f'"{phrase.removesuffix("*")}"*' if is_prefix else f'"{phrase}"'


def _show(console: Printer, found: SearchResult, wave: str | None, is_written: bool) -> None:
    from rich.text import Text

    from nearkin.cli.printing import shown
    from nearkin.hidden_characters import reveal_line
    from nearkin.reports.sentences.browsing import search_sentences

    for one in found.documents:
        console.print(
            f"[bold]{shown(one.document)}[/]  relevance {one.relevance:.2f}  [dim]{shown(one.document.wave)}[/]",
            highlight=False,
            soft_wrap=True,
        )
        pieces = [
            (reveal_line(f"[{piece.text}]" if piece.is_match else piece.text), "bold" if piece.is_match else "")
            for piece in one.snippet
        ]
        console.print(Text.assemble("    ", *pieces), soft_wrap=True)
    console.say(search_sentences(found, wave, len(found.documents), is_written=is_written))
