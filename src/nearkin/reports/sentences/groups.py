"""Sentences of ``nearkin groups``: the groups of a collection, and their changes."""

from __future__ import annotations

from collections.abc import Iterator

from nearkin.collection.groups import CollectionGroups, GroupChange
from nearkin.nouns import agreeing, counted, first_of
from nearkin.reports.sentences.sentence import Sentence

_MAX_CHANGES = 20
_SMALL = 10


def groups_sentences(found: CollectionGroups, n_shown: int) -> Iterator[Sentence]:
    """Count the groups, of which so many are shown, and say which to look at; then what changed since the last time."""
    more = len(found.groups) - n_shown
    yield Sentence(
        f" {found.tolerance.in_words()}" + (f"; {counted(more, 'group')} not shown: --limit, --out" * (more > 0)),
        strong=f"{counted(len(found.groups), 'group')} with {counted(len(found.members), 'document')}",
    )
    chains = [one for one in found.groups if 2 * one.n_chained > one.n_documents > _SMALL]
    if chains:
        yield Sentence(
            f"{len(chains):,} group{'s' * (len(chains) != 1)} of more than {_SMALL} documents, the largest of "
            f"{chains[0].n_documents:,}, {agreeing(len(chains), 'is', 'are')} linked mainly through chains; their "
            "members may have little in common. Try a smaller --gamma.",
            "warning",
        )
    n_proposed = sum(one.proposed_principal is not None for one in found.groups)
    if n_proposed:
        yield Sentence(
            f"{counted(n_proposed, 'group')} with a longer document than the principal; --make-principal DOC_ID "
            "changes the principal, --out and --json list all",
            "warning",
        )
    if found.n_uncounted:
        yield Sentence(
            f"Too few letters to be grouped: {counted(found.n_uncounted, 'document')}, listed by nearkin info "
            "… --uncounted",
            "warning",
        )
    if not found.is_first:
        yield from _on_changes(found)


def _on_changes(found: CollectionGroups) -> Iterator[Sentence]:
    since = f" (new waves: {', '.join(found.new_waves)})" if found.new_waves else ""
    if not found.changes:
        yield Sentence(f"No changes since the last call{since}")
        return
    n_new = sum(one.is_new for one in found.changes)
    yield Sentence(f"Since the last call{since}: {counted(n_new, 'new group')}, {len(found.changes) - n_new:,} changed")
    telling = sorted(
        found.changes, key=lambda one: (not (one.merged or one.split_from or one.principal_was), one.is_new)
    )
    for one in telling[:_MAX_CHANGES]:
        yield Sentence(f"  group {one.number}: {_in_words(one)}")
    if len(telling) > _MAX_CHANGES:
        yield Sentence(f"  … {len(telling) - _MAX_CHANGES:,} more: --json")


def _in_words(change: GroupChange) -> str:
    said = []
    if change.is_new:
        said.append("new")
    if change.merged:
        said.append(f"merged with {', '.join(f'group {n}' for n in change.merged)}")
    if change.split_from:
        said.append(f"split from {', '.join(f'group {n}' for n in change.split_from)}")
    if change.new_documents:
        n = len(change.new_documents)
        first = first_of(list(map(str, change.new_documents[:3])), 3, n)
        said.append(f"{counted(n, 'new document')} ({first})")
    if change.n_lost:
        said.append(f"{counted(change.n_lost, 'text')} no longer in it")
    if change.principal_was is not None:
        said.append(f"its principal {change.principal_was} was removed")
    if change.is_dissolved:
        said.append("dissolved")
    return "; ".join(said)
