"""``nearkin lab signatures``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nearkin.cli.options import (
    Corpus,
    Documents,
    Encoding,
    Format,
    Id,
    JsonSummary,
    Out,
    Overwrite,
    Quiet,
    ReportAndFigures,
    Text,
    Threads,
)
from nearkin.cli.reading_rules import (
    LARGEST_DOCUMENT,
    MOST_UNREADABLE,
    SKIP_DOCUMENTS,
    MaxDocumentSize,
    MaxUnreadable,
    OnError,
    rules_of,
)
from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.lab.signatures.experiment import Results

HELP = """
Measure signatures of 16 to 1,024 bits on the first documents of your corpus: how well they tell documents apart,
whether near signatures are near texts, what they cost, how many documents weighted ones need; and which one to take.

[bold]Examples[/]

  nearkin lab signatures contracts/ --out lab

  nearkin lab signatures news.parquet --text body --documents 20000 --out lab
"""


def signatures(
    inputs: Corpus,
    out: Out,
    text: Text = None,
    id: Id = None,
    file_format: Format = None,
    encoding: Encoding = "utf-8",
    on_error: OnError = SKIP_DOCUMENTS,
    max_unreadable: MaxUnreadable = MOST_UNREADABLE,
    max_document_size: MaxDocumentSize = LARGEST_DOCUMENT,
    documents: Documents = 2000,
    report: ReportAndFigures = True,
    as_json: JsonSummary = False,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    threads: Threads = 0,
) -> None:
    """Measure signatures of bits."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell, warn_of_report
    from nearkin.lab.signatures.delivery import deliver
    from nearkin.workflows.reading.request import ReadingRequest
    from nearkin.workflows.resources import Resources

    rules = rules_of(on_error, max_unreadable, max_document_size)
    files = ReadingRequest(inputs, file_format=file_format, text=text, doc_id=id, encoding=encoding, rules=rules)
    n_threads = Resources(threads).n_threads
    with bars_shown(is_quiet=quiet or as_json) as bars:
        delivered = deliver(files, documents, out, threads=n_threads, report=report, overwrite=overwrite, progress=bars)
    warn_of_report(delivered.summary, is_silent=quiet or as_json)
    tell(
        lambda: delivered.summary,
        lambda console: _show(console, delivered.results, out, has_page=(out / "report.html").exists()),
        as_json=as_json,
        quiet=quiet,
    )


def _show(console: Console, results: Results, out: Path, *, has_page: bool) -> None:
    """Distinct signatures and F1 by bits, then the recommendation."""
    from rich.table import Table

    from nearkin.cli.printing import shown
    from nearkin.lab.signatures.methods import BITS, MINHASH, PUBLISHED_KINDS

    kinds = (*PUBLISHED_KINDS, MINHASH)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("bits", *(kind.label for kind in kinds)):
        table.add_column(heading, justify="right")
    for bits in BITS:
        cells = []
        for kind in kinds:
            f1 = results.retrieval(kind.key, bits).best.f1
            cells.append(f"{results.unique(kind.key, bits).n_unique:,} {'–' if f1 != f1 else f'{f1:.2f}'}")
        table.add_row(f"{bits:,}", *cells)
    console.print("Distinct signatures, and F1 at the best distance:", highlight=False)
    console.print(table)
    if results.documents.n_without_text:
        without = counted(results.documents.n_without_text, "document")
        console.print(f"Left out, and nobody's neighbour: {without} without text.", highlight=False)
    console.print()
    for sentence in results.advice.sentences:
        console.print(sentence, highlight=False, markup=False)
    start = out / "report.html" if has_page else out / "summary.json"
    console.print(
        f"{results.elapsed_s:.1f} s. Results in [bold]{shown(out)}[/]; start with {shown(start)}",
        highlight=False,
        soft_wrap=True,
    )
