"""Labelled documents that contradict a near-duplicate of their group, each with the near-duplicate to show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.collection.matching.matches import Matching, PairMeasures
from nearkin.collection.results import StoredDocument
from nearkin.records import I64

_MAX_EXAMINED = 1_024
"""Maximum number of texts with another label among which the most promising are chosen, unless none of them matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """An entry, and the nearest entry with another label."""

    group: LabelledGroup
    odd: Entry
    other: Entry
    jaccard: float
    relative_distance: float
    is_match: bool

    @property
    def likeness(self) -> tuple[float, float, int, str]:
        """Sort key; the most similar texts come first."""
        return -self.jaccard, self.relative_distance, self.odd.row, self.odd.label


@dataclass(frozen=True, slots=True)
class ContradictionSearch:
    """Finds the entries whose label is not that of a near-duplicate.

    Parameters
    ----------
    unit_of
        Contents that people decided to be in one group; those with the same number belong together.
    """

    matching: Matching
    measures: PairMeasures
    unit_of: Mapping[int, int]

    def found_in(self, groups: Sequence[LabelledGroup]) -> list[Contradiction]:
        """Return the contradictions by group, the most similar first.

        Two entries contradict each other if they have different labels, and their texts match or were decided to be in
        one group.
        """
        own = [found for found in map(self._of_group, groups) if found]
        return [one for found in sorted(own, key=lambda found: found[0].likeness) for one in found]

    def _of_group(self, group: LabelledGroup) -> list[Contradiction]:
        found = dict[tuple[int, str], Contradiction]()
        for most in (_MAX_EXAMINED, None):
            open_ = [odd for odd in group.odd if (odd.row, odd.label) not in found]
            if most is None:
                open_ = [odd for odd in open_ if len(group.others(odd.label)[1]) > _MAX_EXAMINED]
            found |= self._nearest(group, [(odd, content) for odd in open_ for content in self._of(group, odd, most)])
        return sorted(found.values(), key=lambda one: one.likeness)

    def _nearest(
        self, group: LabelledGroup, asked: Sequence[tuple[Entry, int]]
    ) -> dict[tuple[int, str], Contradiction]:
        """Return, by row and label, the nearest entry with another label, preferably with the majority's label."""
        left = np.array([odd.document.content for odd, _ in asked], np.int64)
        right = np.array([content for _, content in asked], np.int64)
        likeness = self.measures.of(left, right)
        is_one = self.matching.is_match(likeness)
        nearest = dict[tuple[int, str], Contradiction]()
        for i in np.lexsort((likeness.relative_distance, -likeness.jaccard)).tolist():
            odd, content = asked[i]
            if not (is_one[i] or self._are_decided(odd.document.content, content)):
                continue
            other = group.first_with_another_label(odd.label, content)
            known = nearest.get((odd.row, odd.label))
            if known is None or (known.other.label != group.majority_label == other.label):
                nearest[odd.row, odd.label] = Contradiction(
                    group=group,
                    odd=odd,
                    other=other,
                    jaccard=float(likeness.jaccard[i]),
                    relative_distance=float(likeness.relative_distance[i]),
                    is_match=bool(is_one[i]),
                )
        return nearest

    def _of(self, group: LabelledGroup, odd: Entry, most: int | None) -> list[int]:
        """Return contents with another label that may be the most similar, those with the majority's label first."""
        content, others = odd.document.content, group.others(odd.label)
        promising = [self.matching.promising(content, _spread(some, most)).tolist() for some in others]
        decided = [one for one in others[1].tolist() if self._are_decided(content, one)] if self.unit_of else []
        copies = [content] if content in others[1] else []
        return list(dict.fromkeys([*copies, *decided, *(one for some in promising for one in some)]))

    def _are_decided(self, a: int, b: int) -> bool:
        return a in self.unit_of and self.unit_of[a] == self.unit_of.get(b)


def _spread(contents: I64, most: int | None) -> I64:
    """Return at most this many of them, evenly spaced."""
    if most is None or len(contents) <= most:
        return contents
    return contents[np.linspace(0, len(contents) - 1, most).astype(np.int64)]


@dataclass(frozen=True, slots=True)
class Entry:
    """A document with one of its labels."""

    document: StoredDocument
    row: int
    label: str


class LabelledGroup:
    """Entries of one group, with at least two labels.

    Parameters
    ----------
    number
        Number of the group; negative: the entries have one text, and are in no group.

    Attributes
    ----------
    majority_label : str
        The most frequent label; in a tie, that of the first entry among them.
    """

    def __init__(self, entries: Sequence[Entry], number: int = -1) -> None:
        self.number = number
        (self.majority_label, self.n_with_majority_label), (_, n_second) = Counter(
            one.label for one in entries
        ).most_common(2)
        self.is_tie = n_second == self.n_with_majority_label
        self.odd = [one for one in entries if one.label != self.majority_label]
        self.n_documents = len({one.row for one in entries})
        of_content = dict[int, list[Entry]]()
        for one in entries:
            of_content.setdefault(one.document.content, []).append(one)
        self._contents = np.array(sorted(of_content), np.int64)
        self._majority = np.unique(
            np.array([one.document.content for one in entries if one.label == self.majority_label], np.int64)
        )
        self._candidates = {content: self._first_of_two_labels(own) for content, own in of_content.items()}
        self._others = dict[str, tuple[I64, I64]]()
        self._with_one_label = dict[str, list[int]]()
        for content, own in self._candidates.items():
            if len(own) == 1:
                self._with_one_label.setdefault(own[0].label, []).append(content)

    def others(self, label: str) -> tuple[I64, I64]:
        """Return the contents with the majority's label, and those with any label other than a given one; ascending."""
        if label not in self._others:
            without = np.array(self._with_one_label.get(label, ()), np.int64)
            self._others[label] = self._majority, np.setdiff1d(self._contents, without, assume_unique=True)
        return self._others[label]

    def first_with_another_label(self, label: str, content: int) -> Entry:
        """Return the first entry of a content with another label than the given one, preferably the majority's."""
        return next(one for one in self._candidates[content] if one.label != label)

    def _first_of_two_labels(self, own: Sequence[Entry]) -> list[Entry]:
        """Return the first entry, preferably with the majority's label, and the first entry with a different label."""
        first = next((one for one in own if one.label == self.majority_label), own[0])
        second = next((one for one in own if one.label != first.label), None)
        return [first] if second is None else [first, second]


def labelled_groups(entries: Sequence[Entry], numbers: Sequence[int]) -> list[LabelledGroup]:
    """Return the groups with different labels, in the order of their first documents."""
    of_number = dict[int, list[Entry]]()
    for number, entry in sorted(zip(numbers, entries, strict=True), key=lambda one: (one[1].row, one[1].label)):
        of_number.setdefault(number, []).append(entry)
    several = ((number, own) for number, own in of_number.items() if any(one.label != own[0].label for one in own))
    return [LabelledGroup(own, number) for number, own in several]
