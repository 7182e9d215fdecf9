"""Checks of the documents read against the reading rules, before the expensive work begins."""

from __future__ import annotations

import numpy as np

from nearkin.errors import DocumentError
from nearkin.stages.documents.damage import fault_of, is_damage, truncated_input
from nearkin.stages.documents.rules import STOPPED, ReadingRules
from nearkin.workflows.dedup.corpus import UNREADABLE, Corpus
from nearkin.workflows.dedup.row_places import Places


def check_problems(places: Places, rules: ReadingRules) -> None:
    """Check that the rules allow the problems found; the interrupted part of a resumed run may have had other rules.

    Raises
    ------
    TruncatedInputError
        A file is damaged, and the rules do not allow the part before the damage to be used.
    DocumentError
        A document is unreadable, and the rules stop the run.
    """
    for row in sorted(places.problems):
        problem = places.problems[row]
        if is_damage(problem) and not rules.takes_damaged:
            n_before = int(np.count_nonzero(places.source[:row] == places.source[row]))
            raise truncated_input(places.source_names[int(places.source[row])], fault_of(problem), n_before)
        if rules.on_error == "stop":
            raise DocumentError(f"{places.where(row)}: {problem}. {STOPPED}")


def check_readable(corpus: Corpus, places: Places, rules: ReadingRules) -> None:
    """Check that not too many documents are unreadable, among those to clean and in the other set.

    Raises
    ------
    SourceError, DocumentError
        See `ReadingRules.check_readable`.
    """
    for start, end, of in ((0, corpus.n_inputs, ""), (corpus.n_inputs, len(corpus), "--against")):
        unreadable = np.flatnonzero(corpus.status[start:end] == UNREADABLE)
        if len(unreadable):
            row = start + int(unreadable[0])
            first = f"{places.where(row)}: {places.problems[row]}"
            rules.check_readable(len(unreadable), end - start, first, of=of)
