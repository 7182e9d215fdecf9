"""``nearkin compare`` and ``nearkin versions``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.collection_options import (
    Cache,
    ContextLines,
    Distance,
    DocId,
    DocIdA,
    DocIdB,
    Html,
    Json,
    Limit,
    Method,
    Place,
    Threshold,
    Tolerance,
    VersionA,
    VersionB,
    VersionsGamma,
)
from nearkin.cli.options import Overwrite

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.collection.comparing import ComparedDocuments, Versions

COMPARE_HELP = """
Two documents of a collection merged into one text: the words that only one of them has, marked, with the lines around \
them, and how similar the two are. \\[-words-] are only in A, {+words+} only in B.

[bold]Examples[/]

  nearkin compare matter lease-17 lease-18

  nearkin compare matter lease-17 lease-17 --version-a 1 --html changes.html
"""
VERSIONS_HELP = """
All versions of a document, the most alike first, with what changed in each: what else was stored under its id, and \
every other document within the tolerance.

[bold]Examples[/]

  nearkin versions matter lease-17

  nearkin versions matter lease-17 --gamma 0.1 --json
"""


def compare(
    collection: Place,
    a: DocIdA,
    b: DocIdB,
    version_a: VersionA = None,
    version_b: VersionB = None,
    context: ContextLines = 2,
    html: Html = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Compare two documents."""
    from nearkin.cli.printing import tell
    from nearkin.cli.result_file import check_free
    from nearkin.collection.collection import Collection

    if html is not None:
        check_free(html, overwrite=overwrite, inputs=(), option="--html")
        from nearkin.reports.comparison.page import comparison_html
    with Collection.open(collection) as opened:
        found = opened.compare(a, b, version_a=version_a, version_b=version_b, context_lines=context)
    if html is not None:
        from nearkin.reports.sentences.compare import similarity_facts
        from nearkin.runs.files import published

        names = {"name_a": str(found.a), "name_b": str(found.b.document)}
        page = comparison_html(found.comparison, **names, facts=similarity_facts(found))
        with published(html) as aside:
            aside.write_text(page, encoding="utf-8")
    tell(found.to_dict, lambda console: _show(console, found), as_json=as_json)


def _show(console: Console, found: ComparedDocuments) -> None:
    from rich.text import Text

    from nearkin.cli.printing import say
    from nearkin.reports.comparison.terminal import to_terminal
    from nearkin.reports.sentences.compare import comparison_sentences

    if found.comparison.hunks:
        spans = to_terminal(found.comparison)
        console.print(Text.assemble(*((text, style) for style, text in spans)), soft_wrap=True)
        console.print()
    say(console, comparison_sentences(found))


def versions(
    collection: Place,
    doc_id: DocId,
    method: Method = None,
    gamma: VersionsGamma = None,
    threshold: Threshold = None,
    distance: Distance = None,
    tolerance: Tolerance = None,
    limit: Limit = 50,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """List the versions of a document."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.collection.collection import Collection

    with (
        bars_shown(is_quiet=as_json) as bars,
        Collection.open(collection, cache=cache, progress=bars) as opened,
    ):
        found = opened.versions(
            doc_id,
            method=method,  # type: ignore[arg-type]  # it checks the method
            gamma=gamma,
            threshold=threshold,
            distance=distance,
            tolerance=tolerance,
            limit=limit,
        )
    tell(found.to_dict, lambda console: _show_versions(console, found), as_json=as_json)


def _show_versions(console: Console, found: Versions) -> None:
    from nearkin.cli.printing import say, say_passage, shown
    from nearkin.reports.quantities import share_text
    from nearkin.reports.sentences.compare import change_text, versions_sentence

    for one in found.versions:
        document, measured = one.similar.document, one.similar
        edit, jaccard = share_text(measured.edit_similarity), share_text(measured.jaccard)
        console.print(
            f"[bold]{shown(document)}[/]  edit {edit}  Jaccard {jaccard}  {change_text(one)}  "
            f"[dim]{shown(document.wave)}[/]",
            highlight=False,
            soft_wrap=True,
        )
        if one.passage:
            say_passage(console, one.passage)
    say(console, [versions_sentence(found)])
