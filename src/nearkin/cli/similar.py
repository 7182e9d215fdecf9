"""``nearkin similar``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from nearkin.cli.options.collection import (
    Cache,
    DocIdIfAny,
    File,
    FileEncoding,
    Limit,
    OfCurrentWave,
    Place,
    ReadOnly,
    SearchedWords,
    TextGiven,
    ToleranceOptions,
)
from nearkin.cli.options.definitions import Json, OutFileIfAny, OverwriteFile, Quiet
from nearkin.options.reading import DocumentOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearkin.cli.printing import Printer
    from nearkin.collection.collection import Collection
    from nearkin.collection.results import SimilarDocument, SimilarDocuments
    from nearkin.collection.word_search.searching import SearchResult


HELP = """
Find all documents of a collection that are similar to a stored document, a file or a text. You choose the tolerance \
with each query.

By default documents match by their wording: the Jaccard similarity of their word 5-grams is at least --threshold. \
--measure letters finds every document within --gamma; versions with more changes can lie outside it, and texts with \
the same letters may be unrelated. --measure index compares one number per text (M. Scott Roth): a quick first look \
that misses similar texts, finds unrelated ones and is not symmetric, so judge its results by the similarities beside \
them.

The columns are Jaccard; edit similarity; γ, the distance of the letter counts (0: the same counts); and bits, the \
number of different signature bits, of 256. Similarities are rounded down and distances up; --json and --out have more \
digits. --out writes all documents found to a .csv, .tsv, .jsonl or .parquet file. Its columns are in the guide \
Collections.

Examples:

  nearkin similar matter lease-17

  nearkin similar matter lease-17 --gamma 0.05

  nearkin similar matter --file draft.txt --threshold 0.8

  nearkin similar matter lease-17 --measure index --tolerance 0.3

  nearkin similar /media/archive/matter lease-17 --read-only
"""


def similar(
    collection: Place,
    doc_id: DocIdIfAny = None,
    file: File = None,
    text: TextGiven = None,
    encoding: FileEncoding = "utf-8",
    *,
    reading: DocumentOptions,
    alike: ToleranceOptions,
    limit: Limit = 50,
    cache: Cache = None,
    read_only: ReadOnly = False,
    out: OutFileIfAny = None,
    overwrite: OverwriteFile = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find similar documents."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_list_file, write_list
    from nearkin.collection.collection import Collection
    from nearkin.collection.tolerance import ALL
    from nearkin.errors import ParameterError

    check_list_file(out, overwrite=overwrite)
    if sum(one is not None for one in (doc_id, file, text)) != 1:
        raise ParameterError("Give exactly one of DOC_ID, --file FILE and --text TEXT.")
    missing = None
    if file is not None:
        from nearkin.workflows.reading.one_text import read_one_document

        document = read_one_document(file, encoding, reading.rules())
        text, missing = document.text, document.missing
    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        Collection.open(collection, cache=cache, read_only=read_only, progress=bars) as opened,
    ):
        found = _similar(
            opened,
            doc_id,
            text=text,
            **alike.given(),
            limit=limit if out is None else ALL,
        )
    write_list(out, lambda: found.table, "document", is_silent=quiet or as_json)
    shown = found.first(limit)
    name = doc_id if doc_id is not None else (str(file) if file is not None else "the text")
    tell(
        lambda: shown.to_dict() if file is None else {**shown.to_dict(), "missing": missing},
        lambda console: _show(console, shown, name, missing=missing),
        as_json=as_json,
        quiet=quiet,
    )


def _similar(opened: Collection, doc_id: str | None, **asked: Any) -> SimilarDocuments:
    """Search; if an unknown id is the name of a file, say how to search with the file."""
    from nearkin.errors import UnknownDocumentError

    try:
        found: SimilarDocuments = opened.similar(doc_id, **asked)
    except UnknownDocumentError as error:
        if doc_id is not None and os.path.isfile(doc_id):
            error.add_note(f"{doc_id} is a file; to search with its text: --file {doc_id}")
        raise
    return found


def _show(console: Printer, found: SimilarDocuments, name: str, *, missing: str | None) -> None:
    from nearkin.cli.printing import shown, table
    from nearkin.reports.facts.fact import Fact, missing_facts, not_shown
    from nearkin.reports.facts.queries import similar_facts, time_ms
    from nearkin.wording import distance_text, share_text

    if found.documents:
        by_index = found.tolerance.measure == "index"
        by_share = found.tolerance.measure == "containment"
        names = (*["index"] * by_index, "Jaccard", *["query in it", "it in query"] * by_share, "edit", "γ", "bits")
        rows = table(*names, "id", "wave", numbers=len(names))
        for one in found.documents:
            document = one.document
            rows.add_row(
                *[str(one.similarity_index)] * by_index,
                share_text(one.jaccard),
                *[share_text(one.contained), share_text(one.contains)] * by_share,
                share_text(one.edit_similarity),
                distance_text(one.relative_distance),
                "–" if one.n_bits is None else str(one.n_bits),
                shown(document) + _remark(one),
                shown(document.wave),
            )
        console.print(rows)
    console.say(
        [
            Fact(f"similar to {name}", found.n_found, found.tolerance.in_words()),
            *not_shown(found.n_found - len(found.documents)),
            *missing_facts(name, missing),
            *similar_facts(found),
            time_ms(found.elapsed_s),
        ]
    )


def _remark(one: SimilarDocument) -> str:
    from nearkin.collection.tolerance import LETTERS_ONLY

    if one.is_same_text:
        return " [dim](same text)[/]"
    return f" [yellow]({LETTERS_ONLY})[/]" if one.is_letters_only else ""


SEARCH_HELP = """
Find the documents that have all of the given words, the most relevant first.

Quote a phrase, whose words must follow one another. A word that ends in * stands for all words with that beginning. \
Between words, OR means one of them, and NOT that the next is missing; AND can be left out, and parentheses group. \
Case and punctuation do not matter; words are not stemmed. --out writes all results to a .csv, \
.tsv, .jsonl or .parquet file.

Examples:

  nearkin search matter rent arrears

  nearkin search matter "first day" 'terminat*' --wave march

  nearkin search matter '(lease OR rent*) NOT deposit'

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
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_list_file, write_list
    from nearkin.collection.collection import Collection

    check_list_file(out, overwrite=overwrite)
    with (
        bars_shown(is_quiet=quiet or as_json) as bars,
        Collection.open(collection, read_only=read_only, progress=bars) as opened,
    ):
        found = opened.search(query_of(query), wave=wave, limit=limit if out is None else None)
    write_list(out, lambda: found.table, "document", is_silent=quiet or as_json)
    shown = found.first(limit)
    tell(shown.to_dict, lambda console: _show_found(console, shown, wave), as_json=as_json, quiet=quiet)


def query_of(words: Sequence[str]) -> str:
    """Join arguments to a query: a shell removes quotes, so an argument with white space is a phrase or a query.

    Examples
    --------
    >>> query_of(["rent", "first day", "due on the*", 'rent "each month"'])
    'rent "first day" "due on the"* rent "each month"'
    >>> query_of(["rent", "OR", "first day", "NOT (lease OR deposit)"])
    'rent OR "first day" NOT (lease OR deposit)'
    """
    return " ".join(_part(word) for word in words)


def _part(word: str) -> str:
    if '"' in word or "(" in word or len(word.split()) < 2 or {*word.split()} & {"AND", "OR", "NOT"}:
        return word
    phrase = word.strip()
    is_prefix = phrase.endswith("*") and not phrase[-2].isspace()
    return f'"{phrase.removesuffix("*")}"*' if is_prefix else f'"{phrase}"'


def _show_found(console: Printer, found: SearchResult, wave: str | None) -> None:
    from rich.text import Text

    from nearkin.cli.printing import shown
    from nearkin.reports.facts.stored import search_facts
    from nearkin.wording import reveal_line

    for one in found.documents:
        console.print(
            f"[bold]{shown(one.document)}[/]  [dim]{shown(one.document.wave)}[/]",
            highlight=False,
            soft_wrap=True,
        )
        pieces = [
            (reveal_line(f"[{piece.text}]" if piece.is_match else piece.text), "bold" if piece.is_match else "")
            for piece in one.pieces
        ]
        console.print(Text.assemble("    ", *pieces), soft_wrap=True)
    console.say(search_facts(found, wave, len(found.documents)))
