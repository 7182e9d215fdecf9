"""``nearkin similar`` and ``nearkin search``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.answering import answer, opened_with_bars
from nearkin.errors import ParameterError
from nearkin.options.collection import (
    CacheOptions,
    ListOptions,
    PlaceOptions,
    ReadOnlyOptions,
    ToleranceOptions,
    WaitOptions,
    changed,
    limited,
    wanted,
)  # fmt: skip
from nearkin.options.declared import Same, argument
from nearkin.options.reading import DocumentOptions, EncodingOptions
from nearkin.reports.facts.fact import Fact, Part, StyledText, Table, missing_facts, not_shown
from nearkin.wording import distance_text, share_text

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.collection.results import SimilarDocument, SimilarDocuments
    from nearkin.collection.word_search.saved import SavedSearch
    from nearkin.collection.word_search.searching import SearchResult


HELP = """
Find all documents of a collection that are similar to a stored document, a file or a text. You choose the tolerance \
with each query.

By default documents match by their wording: the Jaccard similarity of their word 5-grams is at least --threshold. The \
guide Collections describes the other measures.

The columns are Jaccard; edit similarity; γ, the distance of the letter counts; and bits, the number of different \
signature bits, of 256. Similarities are rounded down and distances up; --json and --out have more digits.

Examples:

  nearkin similar matter lease-17

  nearkin similar matter lease-17 --gamma 0.05

  nearkin similar matter --file draft.txt --threshold 0.8

  nearkin similar matter lease-17 --measure index --tolerance 0.3

  nearkin similar /media/archive/matter lease-17 --read-only
"""


class SimilarCommand(
    ListOptions, ReadOnlyOptions, CacheOptions, ToleranceOptions, DocumentOptions, EncodingOptions, PlaceOptions
):
    """Options of the command."""

    doc_id: Same[str | None] = argument("DOC_ID", required=False, help="Id of a document of the collection.")
    file: Same[Path | None] = wanted(kind=Path, help="Query with this file instead of a stored document.")
    text: Same[str | None] = wanted(help="Query with this text instead of a stored document.")
    limit: Same[int] = limited(50)


def similar(job: SimilarCommand) -> None:
    """Find similar documents."""
    from nearkin.collection.tolerance import ALL
    from nearkin.workflows.collection.tables import coded

    if sum(query is not None for query in (job.doc_id, job.file, job.text)) != 1:
        raise ParameterError("Give exactly one of DOC_ID, --file FILE and --text TEXT.")
    text, missing = job.text, None
    if job.file is not None:
        from nearkin.workflows.reading.request import read_one_document

        document = read_one_document(job.file, job.encoding, job.rules())
        text, missing = document.text, document.missing
    with opened_with_bars(job) as collection:
        tolerance, limit = job.part(ToleranceOptions).given(), job.limit if job.out is None else ALL
        documents = collection.similar(job.doc_id, text=text, **tolerance, limit=limit)
        rows = None if job.out is None else coded(collection, documents.table)
    first, name = documents.first(job.limit), job.doc_id or (str(job.file) if job.file is not None else "the text")
    summary = first if job.file is None else first.to_dict() | {"missing": missing}
    answer(
        job, summary, _view(first, name, missing=missing),
        rows=lambda: rows, row="document",
    )  # fmt: skip


def _view(similar_documents: SimilarDocuments, name: str, *, missing: str | None) -> Iterator[Part]:
    from nearkin.reports.facts.queries import similar_facts, time_ms

    by_index, by_share = (similar_documents.tolerance.measure == measure for measure in ("index", "containment"))
    rows = [
        (
            str(document.similarity_index) if by_index else None, share_text(document.jaccard),
            *(share_text(share) if by_share else None for share in (document.contained, document.contains)),
            share_text(document.edit_similarity), distance_text(document.relative_distance),
            "–" if document.n_bits is None else document.n_bits, f"{document.document}{_remark(document)}",
            document.document.wave,
        )
        for document in similar_documents.documents
    ]  # fmt: skip
    columns = ("index", "Jaccard", "query in it", "it in query", "edit", "γ", "bits", "id", "wave")
    yield Table(columns, rows, 7)
    yield Fact(f"similar to {name}", similar_documents.n_found, similar_documents.tolerance.in_words())
    yield from not_shown(similar_documents.n_found - len(similar_documents.documents))
    yield from missing_facts(name, missing)
    yield from similar_facts(similar_documents)
    yield time_ms(similar_documents.elapsed_s)


def _remark(similar_document: SimilarDocument) -> str:
    from nearkin.collection.tolerance import LETTERS_ONLY

    if similar_document.is_same_text:
        return " (same text)"
    return f" ({LETTERS_ONLY})" if similar_document.is_letters_only else ""


SEARCH_HELP = """
Find the documents that have all of the given words, the most relevant first.

Quote a phrase. A word that ends in * stands for all words with that beginning. OR means one of two words, and NOT \
that the next is missing; parentheses group. Case and punctuation do not matter; words are not stemmed.

Fields are used like words: from:, subject:, cc:, bcc: and to: (with cc and bcc) with a part of a mail's header; \
date:2024-03 or date:2024..2025; wave:NAME; file: and id: with * and ?; tag:FIELD=VALUE; kind:pdf; saved:NAME. Quote a \
value with blanks: subject:"the lease".

Examples:

  nearkin search matter rent arrears

  nearkin search matter "first day" 'terminat*' --wave march

  nearkin search matter '(lease OR rent*) NOT deposit'

  nearkin search matter '(from:ada@ OR to:ada@) subject:"the lease" date:2024-03 rent'

  nearkin search matter indemnity --limit 5 --out indemnity.csv

  nearkin search matter '(rent OR lease) NOT from:ada@' --save "rent of others"

  nearkin search matter
"""


class SearchCommand(ListOptions, ReadOnlyOptions, WaitOptions, PlaceOptions):
    """Options of the command."""

    query: Same[Sequence[str]] = argument(
        "WORDS...", (), kind=list, required=False,
        help='Words, "quoted phrases", beginnings of words before a *, fields. Without any, saved searches are listed.',
    )  # fmt: skip
    wave: Same[str | None] = wanted(help="Only documents whose current version this wave added.")
    limit: Same[int] = limited(20)
    save: Same[str | None] = changed(
        metavar="NAME", help="Save the query: saved:NAME finds what it finds. Without words, forget what was saved."
    )
    by: Same[str | None] = changed(needs="save", help="Name that the activity log records. [default: your user name]")


def search(job: SearchCommand) -> None:
    """Find documents by their words; save a query, or list those that are saved."""
    from nearkin.workflows.collection.tables import coded

    query = query_of(job.query)
    with opened_with_bars(job) as collection:
        if job.save is not None:
            collection.save_search(job.save, query or None, by=job.by)
        if not query:
            _answer_saved(job, collection.saved_searches())
            return
        documents = collection.search(query, wave=job.wave, limit=job.limit if job.out is None else None)
        rows = None if job.out is None else coded(collection, documents.table)
    first = documents.first(job.limit)
    answer(job, first, _found_view(first, job.wave), rows=lambda: rows, row="document")


def _answer_saved(job: SearchCommand, saved: Sequence[SavedSearch]) -> None:
    from nearkin.reports.quantities import minute

    names = ("name", "query", "by", "at")
    cells = [(search.name, search.query, search.by, minute(search.at)) for search in saved]

    def rows() -> pa.Table:
        import pyarrow as pa

        return pa.table({name: [getattr(saved_search, name) for saved_search in saved] for name in names})

    answer(job, {"searches": saved}, [Table(("name", "query", "by", "saved (UTC)"), cells)], rows=rows, row="search")


def query_of(words: Sequence[str]) -> str:
    """Join arguments to a query: a shell removes quotes, so an argument of words with white space is a phrase."""
    return " ".join(_part(word) for word in words)


_OF_A_QUERY = re.compile(r"(?<!\S)(?:(?:AND|OR|NOT)(?!\S)|[^\W\d_]+:\S)")


def _part(word: str) -> str:
    if '"' in word or "(" in word or len(word.split()) < 2 or _OF_A_QUERY.search(word):
        return word
    phrase = word.strip()
    is_prefix = phrase.endswith("*") and not phrase[-2].isspace()
    return f'"{phrase.removesuffix("*")}"*' if is_prefix else f'"{phrase}"'


def _found_view(result: SearchResult, wave: str | None) -> Iterator[Part]:
    from nearkin.reports.facts.stored import search_facts

    for document in result.documents:
        yield StyledText([("bold", f"{document.document}"), ("dim", f"  {document.document.wave}")])
        pieces = [("bold", f"[{piece.text}]") if piece.is_match else ("", piece.text) for piece in document.pieces]
        yield StyledText([("", "    "), *pieces])
    yield from search_facts(result, wave, len(result.documents))
