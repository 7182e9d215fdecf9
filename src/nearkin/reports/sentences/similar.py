"""What ``nearkin similar`` says of the documents it found."""

from __future__ import annotations

from collections.abc import Iterator

from nearkin.collection.results import SimilarDocuments
from nearkin.nouns import counted
from nearkin.reports.sentences.sentence import Sentence


def similar_sentences(found: SimilarDocuments, name: str) -> Iterator[Sentence]:
    """Say how many documents are like the one of that name, and what the answer does not cover."""
    n, missing = found.n_found, found.n_found - len(found.documents)
    yield Sentence(
        (f", {missing:,} not shown: --limit" if missing else "") + f"; {1000 * found.elapsed_s:,.0f} ms",
        strong=f"{counted(n, 'document')} like {name} {found.tolerance.in_words()}",
    )
    if any(one.edit_similarity is None for one in found.documents):
        yield Sentence("edit –: texts too long and too different for it to be worked out in half a second", "quiet")
    if found.tolerance.method == "si":
        yield _on_index(found)
    elif not found.is_answered:
        few = "letters" if found.tolerance.method == "range" else "words"
        yield Sentence(
            f"It has too few {few} to be compared by {found.tolerance.method}: only equal texts are told. Try "
            f"--method {'minhash' if few == 'letters' else 'range'}.",
            "warning",
        )
    elif found.tolerance.recall is not None and found.tolerance.recall < 1:
        yield Sentence(
            f"Of documents just as alike as that, {found.tolerance.recall:.1%} are expected to be found; of those more "
            "alike, more"
        )


def _on_index(found: SimilarDocuments) -> Sentence:
    if found.is_answered:
        return Sentence(
            f"Its similarity index is {found.similarity_index}. One number says little of a text: others as alike may "
            "be missing, and these may be unlike; look at the other columns"
        )
    if found.similarity_index == 0:
        said = "Its similarity index is 0, near which there is nothing: only equal texts are told. Try range."
    else:
        said = (
            "It has no similarity index: its text has too few words for k, or nothing is left of it. Only "
            "equal texts are told. Try --method range, or a collection with a smaller k: nearkin add --index 43B:k=4"
        )
    return Sentence(said, "warning")
