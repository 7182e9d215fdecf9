"""A mail and its attachments, or a file and those inside it: kept or dropped together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nearkin.options.dedup import DedupOptions
from nearkin.records import I64, U32, U64, Bool
from nearkin.workflows.dedup.outcome import NO_ROW, Judged
from nearkin.workflows.dedup.row_places import Places


def with_whole_families(judged: Judged, places: Places, options: DedupOptions) -> Judged:
    """Keep or drop families as a whole."""
    outcome, is_against = judged.outcome, judged.others is not None
    roots, unread = places.family_roots(), places.same_unread()
    keep = with_families(outcome.keep, outcome.principal, roots, unread, options, is_against=is_against)
    return replace(judged, outcome=replace(outcome, keep=keep))


def with_families(
    keep: Bool, principal: U32, roots: U32 | None, unread: U32, options: DedupOptions, *, is_against: bool
) -> Bool:
    """Return which documents are kept if those of a family are kept or dropped together.

    They are dropped if each would be dropped alone, and all their contents are in the family of one kept document: the
    principal of the first of them, or the first with the same contents. For ``roots`` and ``unread`` see
    `.row_places.Places`.
    """
    if roots is None or options.attachments == "alone":
        return keep
    n = len(keep)
    roots, contents = roots[:n], np.where(principal == NO_ROW, unread[:n], principal)
    has_text, has_content = keep | (principal != NO_ROW), keep | (contents != NO_ROW)
    is_kept = np.zeros(len(roots), np.bool_)
    is_kept[roots[keep]] = True
    rows = np.flatnonzero(has_content & ~is_kept[roots])
    if not is_against and len(rows):
        families, first, number = np.unique(roots[rows], return_index=True, return_inverse=True)
        held = _pairs(roots[has_content], contents[has_content])

        def are_inside(others: U32) -> Bool:
            is_outside = ~is_kept[others[number]] | np.isin(_pairs(others[number], contents[rows]), held, invert=True)
            return np.bincount(number[is_outside], minlength=len(families)) == 0  # type: ignore[no-any-return]

        is_dropped = are_inside(roots[contents[rows[first]]])
        stays = np.flatnonzero(~is_dropped)
        _, leader, same = np.unique(_sums(contents[rows], number)[stays], return_index=True, return_inverse=True)
        others = families.copy()
        others[stays] = families[stays[leader]][same]
        is_kept[families[stays[leader]]] = True
        is_kept[families[~(is_dropped | are_inside(others))]] = True
    whole: Bool = has_text & is_kept[roots]
    return whole


def _pairs(families: U32, contents: U32) -> U64:
    return families.astype(np.uint64) << np.uint64(32) | contents


def _sums(contents: U32, family: I64) -> U64:
    """Return a number for the contents of each family, the same for the same contents in any order."""
    mixed = (contents.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(31)) * np.uint64(0xBF58476D1CE4E5B9)
    sums = np.zeros(int(family.max()) + 1, np.uint64)
    np.add.at(sums, family, mixed ^ mixed >> np.uint64(29))
    return sums
