"""``nearkin check``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import click

from nearkin.cli.options.collection import Place, ReadOnly, Wait
from nearkin.cli.options.definitions import Json, OutFileIfAny, Quiet
from nearkin.cli.parameters import argument, option
from nearkin.options.reading import DocumentOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from nearkin.cli.printing import Printer
    from nearkin.collection.check_in.results import Checked, CheckIn, CheckOptions

_PIPE_IT = " --text is the key of the text in JSON objects; to check a text, pipe it and write - for FILE."
EXIT_CODES = {"new": 0, "exact": 10, "near": 11, "contained": 12, "contains": 12}

HELP = """
Check whether something similar is stored already.

With --store the document is checked and stored in one transaction: if two similar documents are checked in at once, \
the second sees the first.

The exit code is the answer: 0 nothing similar, 10 an exact copy (the same text once normalised: case and \
white space do not count), 11 a near-duplicate, 12 one text contains the other. Any other code is a failure: \
nothing was stored, unless its message says that something was.

--out writes the listed documents, at most --limit, to a .csv, .tsv, .jsonl or .parquet file.

With --jsonl the input is a stream of documents, one JSON object per line. Each line is answered by one line of JSON \
as soon as the document is checked and, with --store, stored durably; the exit code is then 0 whatever the answers \
are. The stream may be endless. --jsonl --store creates a missing collection. --jsonl --store --only-new does not \
store an exact copy or a near-duplicate of a stored document, nor, with --containment, a part of one. A document that \
contains a stored one is stored. A line that cannot be read is answered with its error.

Examples:

  nearkin check matter draft.txt

  nearkin check matter draft.txt --store --only-new --id lease-17; case $? in 0|1[0-2]);; *) echo "not checked";; esac

  nearkin check draft.pdf --server http://127.0.0.1:8000 --token-file token

  nearkin check postgresql://ada:secret@localhost/matters draft.txt --measure index --json

  zcat crawl.jsonl.gz | nearkin check matter - --jsonl --store --only-new --kept clean.jsonl > answers.jsonl
"""
_alike = partial(option, panel="Similarity")
_storing = partial(option, panel="Storing")
_stream = partial(option, panel="Streams")
CheckedFile = Annotated[
    Path | None,
    argument(
        metavar="FILE",
        help="File to check; with --jsonl, a stream of documents. - for standard input.",
    ),
]
CheckedEncoding = Annotated[
    str,
    option(
        "--encoding",
        help="Encoding of FILE if it is neither UTF-8 nor begins with a byte order mark, for example cp1252; latin-1 "
        "accepts any bytes. [default: such a file is unreadable]",
    ),
]
NearThreshold = Annotated[
    float, _alike("--threshold", help="Minimum Jaccard similarity (word 5-grams) of a near-duplicate.")
]
Containment = Annotated[
    str | None,
    option(
        "--containment",
        metavar="SHARE|off",
        help="Minimum share of one text's word 5-grams that occur in the other; off: do not look for parts of "
        "texts. [default: 0.9; with --jsonl: off]",
        panel="Similarity",
    ),
]
CheckedBy = Annotated[
    str,
    _alike(
        "--measure",
        help="How candidates are found. jaccard: by shared keys. index: by the similarity index, one number per "
        "document, which misses most matches. Every listed document was compared word by word.",
    ),
]
IndexTolerance = Annotated[
    float | None,
    _alike("--tolerance", help="Maximum relative difference of similarity indexes; only for index. [default: 0.3]"),
]
CheckLimit = Annotated[
    int,
    option("--limit", min=1, max=10_000, help="Maximum number of documents to list.", panel="Output"),
]
Store = Annotated[bool, _storing("--store", help="Store the document, whatever the answer.")]
OnlyNew = Annotated[
    bool,
    _storing(
        "--only-new",
        help="With --store: store the document only if it has no match. With --jsonl, a document that contains a "
        "stored one is stored, too.",
    ),
]
StoreId = Annotated[
    str | None,
    _storing(
        "--id",
        help="With --store: id of the document; by default the path of FILE as typed, and required for standard "
        "input. With --jsonl: key of the ids in each object; by default id.",
    ),
]
JsonLines = Annotated[bool, _stream("--jsonl", help="Read a stream of documents, one JSON object per line.")]
StreamText = Annotated[
    str | None, _stream("--text", help="With --jsonl: key of the text of a document. [default: text]")
]
KeptFile = Annotated[
    Path | None,
    _stream(
        "--kept",
        metavar="FILE",
        help="With --jsonl: write the kept lines to this file; a dash (-) prints them instead of the answers. Kept: "
        "lines with the verdict 'new' or 'contains', and, so that you can send a stream again, lines whose id and text "
        "were already stored before the stream began. A line that is repeated in the stream is kept once with --store, "
        "and each time without it.",
    ),
]
OverwriteFiles = Annotated[bool, option("--overwrite", help="Replace the file of --out or --kept.", panel="Output")]
StreamOnError = Annotated[
    str | None,
    _stream(
        "--on-error",
        help="With --jsonl: skip-documents answers an unreadable line, or one that cannot be stored, with its error "
        "and continues; stop ends at the first such line. [default: skip-documents]",
    ),
]
Server = Annotated[
    str | None,
    option(
        "--server",
        metavar="URL",
        help="URL of a running nearkin serve, which answers for its collection; omit COLLECTION.",
        panel="The service",
    ),
]
TokenFile = Annotated[
    Path | None,
    option(
        "--token-file",
        help="With --server: file with the token for scripts. [default: the environment variable NEARKIN_TOKEN]",
        panel="The service",
    ),
]
StoreWave = Annotated[str, _storing("--wave", help="Wave of the stored document. [default: check-ins]")]

_TO_CHECK_ROWS = "To check its rows, write them as JSON Lines: nearkin check COLLECTION ROWS.jsonl --jsonl"


def check(
    collection: Place,
    file: CheckedFile = None,
    store: Store = False,
    doc_id: StoreId = None,
    wave: StoreWave = "check-ins",
    only_new: OnlyNew = False,
    threshold: NearThreshold = 0.7,
    containment: Containment = None,
    measure: CheckedBy = "jaccard",
    tolerance: IndexTolerance = None,
    limit: CheckLimit = 10,
    encoding: CheckedEncoding = "utf-8",
    *,
    reading: DocumentOptions,
    jsonl: JsonLines = False,
    text: StreamText = None,
    kept: KeptFile = None,
    overwrite: OverwriteFiles = False,
    on_error: StreamOnError = None,
    wait: Wait = None,
    read_only: ReadOnly = False,
    server: Server = None,
    token_file: TokenFile = None,
    out: OutFileIfAny = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a document in."""
    from nearkin.collection.check_in.results import CheckIn, CheckOptions
    from nearkin.stages.documents.rules import ReadingRules

    is_local = jsonl or read_only or wait is not None or reading != DocumentOptions()
    collection, file = _named(collection, file, server, is_local=is_local, has_key=text is not None)
    is_of_stream = text is not None or kept is not None or on_error is not None or (overwrite and out is None)
    _check_kind(jsonl, is_of_stream=is_of_stream, has_encoding=encoding != "utf-8", has_out=out is not None)
    _check_out(out, overwrite=overwrite)
    _check_storing(store, read_only, doc_id=None if jsonl else doc_id, wave=wave, only_new=only_new)
    has_id, has_index = jsonl or not store or doc_id is not None, measure == "index" or tolerance is None
    _check_required(file, has_id=has_id, has_index=has_index)
    options = CheckOptions(
        threshold=threshold,
        containment=_containment(containment, is_stream=jsonl),
        measure=measure,  # type: ignore[arg-type]  # it checks
        limit=limit,
        with_passage=not jsonl,
        **({} if tolerance is None else {"tolerance": tolerance}),
    )
    if jsonl:
        from nearkin.cli.check_stream import check_lines
        from nearkin.collection.check_in.results import CheckInMany
        from nearkin.paths import printable
        from nearkin.workflows.collection.check_stream import StreamColumns

        check_lines(
            collection,
            file,
            kept,
            options=options,
            store=CheckInMany(wave=wave, source=printable(str(file)), only_new=only_new) if store else None,
            columns=StreamColumns(text=text or "text", doc_id=doc_id or "id"),
            rules=ReadingRules.of(on_error or "skip-documents", max_document_size=reading.max_document_size),
            overwrite=overwrite,
            wait=wait,
            read_only=read_only,
            as_json=as_json,
            quiet=quiet,
        )
        return
    if server is not None:
        from nearkin.cli.check_server import check_by_server

        storing = {"store": store, "id": doc_id, "wave": wave, "only_new": only_new}
        found, is_empty = check_by_server(server, token_file, file, encoding, options=options, under=storing), False
    else:
        from nearkin.workflows.reading.one_text import read_one_document

        document = read_one_document(file, encoding, reading.rules(), with_inside=True, of_table=_TO_CHECK_ROWS)
        name, is_empty = document.doc_id if doc_id is None else doc_id, not document.text.strip()
        known = document.file_under(name)
        under = CheckIn(name, wave=wave, source=document.source, only_new=only_new, file=known) if store else None
        found = _checked(
            collection, document.text, options, under, wait=wait, read_only=read_only, is_quiet=quiet or as_json
        )
        found = replace(found, missing=document.missing, not_checked=document.inside)
    shown = partial(_show, name=str(file), is_storing=store, is_read_only=read_only, is_empty=is_empty)
    _finish(found, out, partial(shown, found=found), as_json=as_json, quiet=quiet)


def _checked(
    collection: str,
    text: str,
    options: CheckOptions,
    under: CheckIn | None,
    *,
    wait: float | None,
    read_only: bool,
    is_quiet: bool,
) -> Checked:
    from nearkin.cli.bars import bars_shown
    from nearkin.collection.collection import Collection

    with (
        bars_shown(is_quiet=is_quiet) as bars,
        Collection.open(collection, wait=wait, read_only=read_only, progress=bars) as opened,
    ):
        return opened.check(text, options=options, store=under)


def _finish(
    found: Checked, out: Path | None, shown: Callable[[Printer], None], *, as_json: bool, quiet: bool
) -> NoReturn:
    """Print the answer, and end with its exit code."""
    from nearkin.cli.printing import tell

    if out is not None:
        from nearkin.cli.result_file import write_list

        write_list(out, lambda: found.table, "document", is_silent=quiet or as_json)
    tell(found.to_dict, shown, as_json=as_json, quiet=quiet)
    raise click.exceptions.Exit(EXIT_CODES[found.verdict])


def _named(
    collection: str, file: Path | None, server: str | None, *, is_local: bool, has_key: bool
) -> tuple[str, Path]:
    """Return the collection and the file: with a service, the only argument is the file."""
    from nearkin.errors import ParameterError

    if server is None:
        if file is None:
            raise ParameterError(f"Name a COLLECTION and a FILE, or a FILE and --server.{_PIPE_IT * has_key}")
        return collection, file
    if file is not None or is_local:
        raise ParameterError(
            "--server takes one FILE; omit COLLECTION, --jsonl, --read-only, --wait, --max-document-size, "
            "--extraction-limit and --ocr."
        )
    return "", Path(collection)


def _check_out(out: Path | None, *, overwrite: bool) -> None:
    """Refuse a file of results that cannot be written; the check is imported only if needed, because that is slow."""
    if out is not None:
        from nearkin.cli.result_file import check_list_file

        check_list_file(out, overwrite=overwrite)


def _containment(asked: str | None, *, is_stream: bool) -> float | None:
    """Return the minimum containment, or None if parts of texts are not looked for."""
    from nearkin.errors import ParameterError

    if asked is None:
        return None if is_stream else 0.9
    if asked == "off":
        return None
    try:
        return float(asked)
    except ValueError:
        raise ParameterError.of("containment", "off, or above 0 and at most 1", asked) from None


def _check_kind(jsonl: bool, *, is_of_stream: bool, has_encoding: bool, has_out: bool) -> None:
    """Refuse options for streams without --jsonl, and options for one document with --jsonl."""
    from nearkin.errors import ParameterError

    if is_of_stream and not jsonl:
        raise ParameterError("--text, --kept, --overwrite and --on-error are for a stream: add --jsonl.")
    if jsonl and has_encoding:
        raise ParameterError("--jsonl requires UTF-8: omit --encoding.")
    if jsonl and has_out:
        raise ParameterError("--out is for one document; the answers of --jsonl are lines of JSON: redirect them.")


def _check_storing(store: bool, read_only: bool, *, doc_id: str | None, wave: str, only_new: bool) -> None:
    """Refuse the given options for storing without --store, and --read-only with it."""
    from nearkin.errors import ParameterError
    from nearkin.nouns import agreeing, first_of

    options = {"--id": doc_id is not None, "--wave": wave != "check-ins", "--only-new": only_new}
    given = [name for name, is_given in options.items() if is_given]
    if not store and given:
        require = agreeing(len(given), "requires", "require")
        raise ParameterError(f"{first_of(given, len(given))} {require} --store.")
    if store and read_only:
        raise ParameterError("--read-only stores nothing: omit it, or --store.")


def _check_required(file: Path, *, has_id: bool, has_index: bool) -> None:
    """Refuse --tolerance and standard input if an option that they require is missing."""
    from nearkin.errors import ParameterError
    from nearkin.paths import STDIN

    if not has_index:
        raise ParameterError("--tolerance requires --measure index.")
    if has_id:
        return
    if str(file) == STDIN:  # its name is no lasting one
        raise ParameterError("Standard input requires --id with --store.")


def _show(console: Printer, found: Checked, name: str, *, is_storing: bool, is_read_only: bool, is_empty: bool) -> None:
    from nearkin.cli.printing import say_passage, shown, table
    from nearkin.reports.facts.queries import check_facts, copy_in_words, verdict_fact
    from nearkin.wording import share_text

    console.say([verdict_fact(found, "standard input" if name == "-" else name)])
    if found.documents:
        rows = table("Jaccard", "yours in it", "it in yours", "edit", "relation", "id", "wave", numbers=4)
        for one in found.documents:
            measured = one.jaccard, one.contained, one.contains, one.edit_similarity
            numbers = [share_text(value) for value in measured]
            same = f" [dim]({copy_in_words(one)})[/]" if one.relation == "exact" else ""
            rows.add_row(*numbers, one.relation, shown(one.document) + same, shown(one.document.wave))
        console.print(rows)
    if found.passage:
        say_passage(console, found.passage, n_differences=found.n_differences or 0, n_moves=found.n_moves or 0)
    console.say(check_facts(found, is_storing=is_storing, is_read_only=is_read_only, is_empty=is_empty))
