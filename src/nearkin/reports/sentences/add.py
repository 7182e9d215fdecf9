"""Sentences of ``nearkin add``: stored documents, and damaged stored texts."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nearkin.nouns import agreeing, counted, first_of, one_of
from nearkin.paths import STDIN
from nearkin.reports.sentences.exceptions import damage_sentences
from nearkin.reports.sentences.sentence import Sentence, contradiction_sentences

if TYPE_CHECKING:
    from nearkin.collection.loads.adding import Added
    from nearkin.manifests.stored import DamagedFile

_MAX_NAMED = 5


def add_sentences(added: Added, damaged: Sequence[DamagedFile]) -> Iterator[Sentence]:
    """Count the documents of a wave, and report repaired, missing and unreadable texts."""
    changed = f"{added.n_new_versions:,} changed"
    if added.n_new_versions:
        changed += " (their older texts are kept as versions: nearkin history)"
    unchanged = f"{added.n_unchanged - added.n_same_again:,} unchanged"
    if n := added.n_same_again:
        unchanged += f", {n:,} repeated in this load (same id and same text)"
    yield Sentence(
        f", {added.n_new:,} new, {changed}, {unchanged}; {counted(added.n_contents, 'new distinct text')}",
        strong=f"{added.wave}: {counted(added.n_documents, 'document')}",
    )
    if n := added.n_restored:
        done = "Would restore" if added.is_dry_run else "Restored"
        names = first_of(added.first_restored, len(added.first_restored), n)
        yield Sentence(f"{done} {counted(n, 'document')} that had been removed: {names}", "warning")
    yield from _changed_sentences(added)
    yield from _removed_sentences(added)
    if n := added.n_repaired:
        yield Sentence(f"Replaced {counted(n, 'damaged text')} of the database", "warning")
    if n := added.n_other_extractor:
        them = agreeing(n, "it", "them")
        yield Sentence(
            f"Kept {counted(n, 'stored text')} that another version of the extractor made; --re-extract replaces {them}"
        )
    if added.n_no_text or added.n_partial or added.n_not_stored:
        # after a dry run, the list has none of them, or there is no collection
        listed = "" if added.is_dry_run else f". {_listed_ones(added)}: nearkin exceptions COLLECTION"
        yield Sentence(f"{_with_and_without_text(added)}{listed}", "warning")
    elif added.n_members:
        yield Sentence(f"{_found(added)}, such as mails and archives")
    if said := shared_ids_sentence(added):
        yield Sentence(said, "warning")
    if n := added.n_by_ocr:
        yield Sentence(f"{counted(n, 'text')} by OCR, in which words may be wrong", "warning")
    if n := added.n_erased:
        was = agreeing(n, "was not stored, because its text was", "were not stored, because their texts were")
        yield Sentence(f"{counted(n, 'document')} {was} erased by nearkin purge", "warning")
    yield from contradiction_sentences(added.contradiction)
    yield from damage_sentences(damaged, "The wave has")
    if added.is_dry_run:
        yield Sentence("Nothing was stored, because of --dry-run.", "warning")


def _changed_sentences(added: Added) -> Iterator[Sentence]:
    """Say which new versions may not be wanted, and which added texts did not become one."""
    if n := added.n_repeated:
        stored = "repeats an id and was stored as a version" if n == 1 else "repeat an id and were stored as versions"
        yield Sentence(f"{counted(n, 'row')} {stored}")
    if n := added.n_earlier_texts:
        have = agreeing(n, "has", "have")
        yield Sentence(
            f"{n:,} of the changed documents {have} an earlier text again. To restore the newer text, add it again "
            "in a new wave.",
            "warning",
        )
    if n := added.n_replaced:
        have = agreeing(n, "has a text that another wave has", "have texts that other waves have")
        names = first_of(added.first_replaced, len(added.first_replaced), n)
        them = agreeing(n, "the added text current, add it", "the added texts current, add them")
        yield Sentence(
            f"{n:,} of the unchanged documents {have} replaced: {names}. To make {them} in a new wave.", "warning"
        )
    if n := added.n_changed_places:
        yield Sentence(_names_of_places(added, n), "warning")
    if n := added.n_unlike:
        yield Sentence(_unlike_sentence(added, n), "warning")


def shared_ids_sentence(added: Added) -> str:
    """Say which documents were not stored because of their ids, and what to do; empty if there are none.

    Examples
    --------
    >>> from nearkin.collection.loads.adding import Added
    >>> counts = {"n_new": 9, "n_new_versions": 0, "n_unchanged": 0, "n_contents": 9, "n_problems": 2}
    >>> said = shared_ids_sentence(Added(wave="march", **counts, n_shared_ids=2, first_shared_id="b/1.txt"))
    >>> why, _, what_to_do = said.partition(". ")
    >>> why
    '2 documents were not stored, because their ids were already used in this load (not stored: b/1.txt and 1 more)'
    >>> what_to_do
    'To store them, give them other names or ids'
    """
    if not (n := added.n_shared_ids):
        return ""
    was = agreeing(n, "was not stored, because its id was", "were not stored, because their ids were")
    names, folder = first_of([added.first_shared_id or ""], 1, n), added.folder_above
    if folder is None:
        how = f"To store {agreeing(n, 'it, give it another name or id', 'them, give them other names or ids')}"
    else:
        names += "" if folder == "." else f" of the folder {folder}"
        how = (
            "To store every file under its own id, add the folder above all of them to a new collection: "
            f"nearkin add NEW {shlex.quote(folder)}"
        )
    return f"{counted(n, 'document')} {was} already used in this load (not stored: {names}). {how}"


def _names_of_places(added: Added, n: int) -> str:
    """Say that changed documents may be other ones, since they are named after their place."""
    names = first_of(added.first_changed_places, len(added.first_changed_places), n)
    is_of = agreeing(n, "changed document is named after its line", "changed documents are named after their lines")
    if n == 1 and names == STDIN:
        return (
            f"The document '{names}' came from standard input. If this text is another document, it has replaced the "
            "earlier one as its new version. Save documents as files with names of their own, and add those."
        )
    return (
        f"{n:,} {is_of}: {names}. If lines moved, or this is another file of that name, other documents were "
        "replaced. Name the column of the ids with --id; for results of a run, in the run itself."
    )


def _unlike_sentence(added: Added, n: int) -> str:
    """Say that changed documents may be other ones, since their texts have nothing in common."""
    names = first_of(added.first_unlike, len(added.first_unlike), n)
    have = agreeing(
        n, "has almost nothing in common with its older text", "have almost nothing in common with their older texts"
    )
    return (
        f"{counted(n, 'changed document')} {have}: {names}. The id of a file is its path below the folder that you "
        "add. If these are different documents, put all deliveries into one folder, and add that folder to a new "
        "collection: then each document has an id of its own."
    )


def _with_and_without_text(added: Added) -> str:
    """Count the documents that were found: with a text, stored as empty documents, not stored, and erased before.

    Examples
    --------
    >>> from nearkin.collection.loads.adding import Added
    >>> counts = {"n_new": 60, "n_new_versions": 0, "n_unchanged": 0, "n_contents": 60, "n_repeated": 0}
    >>> _with_and_without_text(Added(wave="march", **counts, n_problems=5, n_no_text=7, n_partial=3))
    '65 found: 58 with text (3 partial), 2 empty documents, 5 not stored'
    """
    n_empty = _n_empty(added)
    n_with_text = added.n_documents - n_empty
    partial = f" ({added.n_partial:,} partial)" if added.n_partial else ""
    counts = (
        (n_with_text, f"with text{partial}"),
        (n_empty, agreeing(n_empty, "empty document", "empty documents")),
        (added.n_problems - added.n_erased, f"not stored{_listed_before(added)}"),
        (added.n_erased, "erased by nearkin purge"),
    )
    kinds = ", ".join(f"{n:,} {kind}" for n, kind in counts if n)
    return f"{_found(added)}: {kinds}"


def _found(added: Added) -> str:
    """Count the documents that were found, and those of them that a file contained.

    Examples
    --------
    >>> from nearkin.collection.loads.adding import Added
    >>> counts = {"n_new": 60, "n_new_versions": 0, "n_unchanged": 0, "n_contents": 60, "n_problems": 5}
    >>> _found(Added(wave="march", **counts, n_members=7))
    '65 found, 7 of them inside other files'
    """
    inside = f", {added.n_members:,} of them inside other files" if added.n_members else ""
    return f"{added.n_documents + added.n_problems:,} found{inside}"


def _n_empty(added: Added) -> int:
    return added.n_no_text - (added.n_problems - added.n_erased - added.n_not_stored)


def _listed_ones(added: Added) -> str:
    """Say what the list of exceptions has: the reasons, or some of the counted documents if others were erased.

    Examples
    --------
    >>> from nearkin.collection.loads.adding import Added
    >>> counts = {"n_new": 60, "n_new_versions": 0, "n_unchanged": 0, "n_contents": 60, "n_repeated": 0}
    >>> _listed_ones(Added(wave="march", **counts, n_problems=5, n_no_text=6, n_partial=3, n_erased=1))
    'To list those that are partial, empty or not stored'
    >>> _listed_ones(Added(wave="march", **counts, n_problems=5, n_no_text=5))
    'For the reasons'
    """
    if not added.n_erased:
        return "For the reasons"
    n_unstored = added.n_problems - added.n_erased
    counts = (added.n_partial, "partial"), (_n_empty(added), "empty"), (n_unstored, "not stored")
    kinds = [kind for n, kind in counts if n]
    return f"To list those that are {one_of(kinds)}"


def _listed_before(added: Added) -> str:
    """Say how many of the documents that were not stored have an entry of an earlier load."""
    if not (n := added.n_listed_before):
        return ""
    of_them = "" if n == added.n_problems - added.n_erased else f"{n:,} of them "
    return f" ({of_them}for the same reason as in an earlier load)"


def _removed_sentences(added: Added) -> Iterator[Sentence]:
    """Name the members that their files no longer contain."""
    ids = [*added.removed, *added.removed_unread]
    if not ids:
        return
    done = "would be removed" if added.is_dry_run else agreeing(len(ids), "was removed", "were removed")
    without = f" ({len(added.removed_unread):,} of them without a text)" if added.removed_unread else ""
    files = agreeing(len(ids), "its file no longer contains it", "their files no longer contain them")
    yield Sentence(f"{counted(len(ids), 'document')}{without} {done}, because {files}: {first_of(ids, _MAX_NAMED)}")
