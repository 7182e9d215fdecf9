"""``nearkin similar``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.cli.collection_options import (
    Cache,
    Distance,
    DocIdIfAny,
    Explain,
    File,
    FileEncoding,
    Gamma,
    Index,
    Json,
    Limit,
    Method,
    Place,
    TextGiven,
    Threshold,
    Tolerance,
)
from nearkin.cli.reading_rules import LARGEST_DOCUMENT, MaxDocumentSize
from nearkin.nouns import counted

if TYPE_CHECKING:
    from rich.console import Console

    from nearkin.collection.results import SimilarDocuments

HELP = """
Find every document of a collection that is nearly the same as a stored document, a file or a text, across all waves. \
The tolerance is chosen with each query. Every document within --gamma or --distance is found; similar ones, such as \
versions with more changes, can lie outside it. --method si compares one number per text, as in M. Scott Roth's paper: \
a first look, neither complete nor exact nor symmetric; judge its results by the similarities beside them.

[bold]Examples[/]

  nearkin similar matter lease-17

  nearkin similar matter lease-17 --gamma 0.05 --explain

  nearkin similar matter --file draft.txt --method minhash --threshold 0.8

  nearkin similar matter lease-17 --method si --tolerance 0.3
"""


def similar(
    collection: Place,
    doc_id: DocIdIfAny = None,
    file: File = None,
    text: TextGiven = None,
    encoding: FileEncoding = "utf-8",
    max_document_size: MaxDocumentSize = LARGEST_DOCUMENT,
    method: Method = None,
    gamma: Gamma = None,
    threshold: Threshold = None,
    distance: Distance = None,
    tolerance: Tolerance = None,
    index: Index = None,
    limit: Limit = 50,
    explain: Explain = False,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Find similar documents."""
    from nearkin.cli.bars import bars_shown
    from nearkin.cli.printing import tell
    from nearkin.collection.collection import Collection
    from nearkin.errors import ParameterError

    if sum(one is not None for one in (doc_id, file, text)) != 1:
        raise ParameterError("Name one thing that is asked for: DOC_ID, --file FILE or --text TEXT.")
    if file is not None:
        from nearkin.stages.documents.rules import ReadingRules
        from nearkin.workflows.reading.one_text import read_one_text

        text = read_one_text(file, encoding, ReadingRules.of(max_document_size=max_document_size))
    with (
        bars_shown(is_quiet=as_json) as bars,
        Collection.open(collection, cache=cache, progress=bars) as opened,
    ):
        found = opened.similar(
            doc_id,
            text=text,
            method=method,  # type: ignore[arg-type]  # it checks the method
            gamma=gamma,
            threshold=threshold,
            distance=distance,
            tolerance=tolerance,
            index=index,
            limit=limit,
        )
    name = doc_id if doc_id is not None else (str(file) if file is not None else "the text")
    tell(found.to_dict, lambda console: _show(console, found, name, explain=explain), as_json=as_json)


def _show(console: Console, found: SimilarDocuments, name: str, *, explain: bool) -> None:
    from nearkin.cli.printing import shown, table
    from nearkin.reports.quantities import distance_text, share_text

    if explain:
        stages = table("left", "stage", numbers=1)
        for stage, n_left in found.stages:
            stages.add_row(f"{n_left:,}", stage)
        console.print(stages)
    if found.documents:
        by_index = found.tolerance.method == "si"
        rows = table(*["index"] * by_index, "γ", "edit", "Jaccard", "bits", "id", "wave", numbers=4 + by_index)
        for one in found.documents:
            document = one.document
            rows.add_row(
                *[str(one.similarity_index)] * by_index,
                distance_text(one.relative_distance),
                share_text(one.edit_similarity),
                share_text(one.jaccard),
                "–" if one.n_bits is None else str(one.n_bits),
                shown(document) + (" [dim](same text)[/]" if one.is_same_text else ""),
                shown(document.wave),
            )
        console.print(rows)
    n, missing = found.n_found, found.n_found - len(found.documents)
    console.print(
        f"[bold]{counted(n, 'document')} like {shown(name)} {found.tolerance.in_words()}[/]"
        + (f", {missing:,} not shown: --limit" if missing else "")
        + f"; {1000 * found.elapsed_s:,.0f} ms",
        highlight=False,
        soft_wrap=True,
    )
    if any(one.edit_similarity is None for one in found.documents):
        console.print("edit –: texts too long and too different for it to be worked out in half a second", style="dim")
    if found.tolerance.method == "si":
        _show_index(console, found)
    elif not found.is_answered:
        few = "letters" if found.tolerance.method == "range" else "words"
        console.print(
            f"[yellow]It has too few {few} to be compared by {found.tolerance.method}: only equal texts are told. Try "
            f"--method {'minhash' if few == 'letters' else 'range'}.",
            highlight=False,
            soft_wrap=True,
        )
    elif found.tolerance.recall is not None and found.tolerance.recall < 1:
        console.print(
            f"Of documents just as alike as that, {found.tolerance.recall:.1%} are expected to be found; of those more "
            "alike, more",
            highlight=False,
        )


def _show_index(console: Console, found: SimilarDocuments) -> None:
    if found.is_answered:
        said = (
            f"Its similarity index is {found.similarity_index}. One number says little of a text: others as alike may "
            "be missing, and these may be unlike; look at the other columns"
        )
    elif found.similarity_index == 0:
        said = "[yellow]Its similarity index is 0, near which there is nothing: only equal texts are told. Try range."
    else:
        said = (
            "[yellow]It has no similarity index: its text has too few words for k, or nothing is left of it. Only "
            "equal texts are told. Try --method range, or a collection with a smaller k: nearkin add --index 43B:k=4"
        )
    console.print(said, highlight=False, soft_wrap=True)
