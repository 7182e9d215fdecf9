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
from nearkin.nouns import counted

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
        from nearkin.runs.files import published

        page = comparison_html(
            found.comparison, name_a=str(found.a), name_b=str(found.b.document), facts=[*_facts(found)]
        )
        with published(html) as aside:
            aside.write_text(page, encoding="utf-8")
    tell(found.to_dict, lambda console: _show(console, found), as_json=as_json)


def _facts(found: ComparedDocuments) -> list[tuple[str, str]]:
    """How alike two documents are, each measure by its name."""
    from nearkin.reports.quantities import distance_text, share_text

    one = found.b
    too_long = "not worked out: it would take too long"
    edit = too_long if one.edit_similarity is None else share_text(one.edit_similarity, 4)
    facts = [("edit similarity", edit), ("Jaccard, 5 words", share_text(one.jaccard, 4))]
    if one.relative_distance is not None:
        facts.append(("distance, part of A", distance_text(one.relative_distance)))
    return facts


def _show(console: Console, found: ComparedDocuments) -> None:
    from rich.text import Text

    from nearkin.cli.printing import shown
    from nearkin.reports.comparison.terminal import to_terminal

    compared = found.comparison
    if compared.hunks:
        console.print(Text.assemble(*((text, style) for style, text in to_terminal(compared))), soft_wrap=True)
        console.print()
    console.print(f"A: {shown(found.a)}\nB: {shown(found.b.document)}", highlight=False, soft_wrap=True)
    if compared.is_identical:
        said = "The texts are equal to the character"
    elif not compared.n_differences:
        said = "The texts differ in white space only"
    else:
        said = (
            f"{counted(compared.n_differences, 'difference')}: "
            f"{counted(compared.n_words_only_a, 'word')} only in A, {compared.n_words_only_b:,} only in B"
        )
        if compared.n_spelling_differences:
            said += f"; {compared.n_spelling_differences:,} in capitals or signs alone"
    console.print(f"[bold]{said}[/]", highlight=False)
    console.print(", ".join(f"{name} {value}" for name, value in _facts(found)), highlight=False)
    if not compared.is_whole:
        console.print("[yellow]The texts are too long to be compared to the end: shared words may be marked.")


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
    from rich.text import Text

    from nearkin.cli.printing import shown
    from nearkin.reports.comparison.terminal import pieces_to_terminal
    from nearkin.reports.quantities import share_text

    for one in found.versions:
        document, measured = one.similar.document, one.similar
        edit, jaccard = share_text(measured.edit_similarity), share_text(measured.jaccard)
        changed = (
            "the same text"
            if measured.is_same_text
            else f"−{one.n_words_removed:,} +{counted(one.n_words_added, 'word')}"
        )
        changed += " since" * (one.is_older and not measured.is_same_text)
        console.print(
            f"[bold]{shown(document)}[/]  edit {edit}  Jaccard {jaccard}  {changed}  [dim]{shown(document.wave)}[/]",
            highlight=False,
            soft_wrap=True,
        )
        if one.passage:
            spans = pieces_to_terminal(one.passage)
            console.print(Text.assemble("    ", *((text, style) for style, text in spans)), soft_wrap=True)
    n, more = found.n_found, found.n_found - len(found.versions)
    console.print(
        f"[bold]{n:,} version{'s' * (n != 1)} of {shown(found.document)}[/]: other stored versions, and documents "
        f"{found.tolerance.in_words()}" + (f"; {more:,} not shown: --limit" if more > 0 else ""),
        highlight=False,
        soft_wrap=True,
    )
