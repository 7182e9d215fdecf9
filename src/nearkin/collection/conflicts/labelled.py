"""Labelled documents by group: the label of the majority, and the documents with another label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.collection.results import StoredDocument
from nearkin.records import I64


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
    entries : sequence of Entry
        In the order in which the documents were stored, then by label.
    number : int
        Number of the group; negative: the entries have one text, and are in no group.

    Attributes
    ----------
    majority_label : str
        The most frequent label; in a tie, that of the first entry among them.
    n_documents, n_with_majority_label : int
        Number of documents; one with two labels counts once.
    is_tie : bool
        Whether another label is as frequent as the majority's.
    odd : list of Entry
        Entries that do not have the majority's label.
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
    """Return the groups with different labels, in the order of their first documents.

    Parameters
    ----------
    entries : sequence of Entry
    numbers : sequence of int
        Group of each.
    """
    of_number = dict[int, list[Entry]]()
    for number, entry in sorted(zip(numbers, entries, strict=True), key=lambda one: _order(one[1])):
        of_number.setdefault(number, []).append(entry)
    several = ((number, own) for number, own in of_number.items() if any(one.label != own[0].label for one in own))
    return [LabelledGroup(own, number) for number, own in several]


def _order(entry: Entry) -> tuple[int, str]:
    return entry.row, entry.label
