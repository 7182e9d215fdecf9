"""A translation table and two collections: whether they fit, and the way of each word."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import MissingExtraError, SourceError
from nearkin.kernels.buffers import strings
from nearkin.stages.features.words import STEMMED_LANGUAGES, WordSplitter
from nearkin.stages.translation.projection import Projector, Stemming, WordProjection
from nearkin.stages.translation.table import TranslationTable
from nearkin.workflows.pairing.collecting import Collected
from nearkin.workflows.pairing.options import PairOptions

_LEAST_KNOWN = 0.1
_MARGIN = 0.15
"""By which more words of a collection are in the other side of a table than in its own, where sides are swapped: of the
German words of NTREX 81 % stand in a table as German and 17 % as English, of its English ones 43 % and 87 %."""


def check_fits(table: TranslationTable, left: Collected, right: Collected) -> None:
    """Refuse a table of other languages, or of the other direction.

    Raises
    ------
    SourceError
        With what share of the words each side of the table has.
    """
    origin = table.origin
    sides = (
        (left, origin.source, table.source_words, origin.target, table.target_words),
        (right, origin.target, table.target_words, origin.source, table.source_words),
    )
    is_turned, told = [], []
    for collected, own_name, own, other_name, other in sides:
        in_own, in_other = _share_known(collected, own), _share_known(collected, other)
        is_turned.append(in_other > in_own + _MARGIN)
        told.append(
            f"of the words of {collected.called}{_column(collected)} the table has {in_own:.0%} as {own_name} "
            f"and {in_other:.0%} as {other_name}"
        )
    if all(is_turned):
        raise SourceError(
            f"The table translates from {origin.source} to {origin.target}, and the sides look swapped: {told[0]}; "
            f"{told[1]}. Give {left.asked_by} the {origin.source} documents and {right.asked_by} the {origin.target} "
            "ones."
        )
    for i, (collected, own_name, own, other_name, _) in enumerate(sides):
        if is_turned[i]:
            raise SourceError(f"{collected.asked_by} should be {own_name} and looks like {other_name}: {told[i]}.")
        if _share_known(collected, own) < _LEAST_KNOWN:
            raise SourceError(
                f"{collected.asked_by} should be {own_name}, and this table hardly knows its words: {told[i]}."
            )


def _column(collected: Collected) -> str:
    columns = {one.source.text for one in collected.inputs}
    return f" (column {columns.pop()!r})" if len(columns) == 1 and None not in columns else ""


def way_of_words(table: TranslationTable, left: Collected, right: Collected, options: PairOptions) -> WordProjection:
    """How each word on the left gets over; words of one occurrence on either side are not there."""
    left_kept = left.n_occurrences >= options.least_occurrences
    right_kept = np.flatnonzero(right.n_occurrences >= options.least_occurrences)
    projector = Projector(table, _stemming(table) if options.stems else None, options.splits, options.agreement)
    return projector.of(left.vocabulary.words, left_kept, right.vocabulary.words, right_kept)


def _share_known(collected: Collected, words: pa.LargeStringArray) -> float:
    """Of the occurrences of words, those with a digit aside, which are the same in all languages."""
    own = collected.vocabulary.words
    is_word = pc.invert(pc.match_substring_regex(own, r"\p{N}")).to_numpy(zero_copy_only=False)
    is_known = pc.is_in(own, value_set=words).to_numpy(zero_copy_only=False)
    n = np.where(is_word, collected.n_occurrences, 0.0)
    return float(n[is_known].sum()) / max(float(n.sum()), 1.0)


def _stemming(table: TranslationTable) -> Stemming | None:
    """Stems of the source language, where the table is of whole words and there are any."""
    language = table.origin.source.strip().lower().replace("_", "-").partition("-")[0]
    if "stem=" in table.origin.words or language not in STEMMED_LANGUAGES:
        return None
    try:
        splitter = WordSplitter(language)
    except MissingExtraError as error:
        raise MissingExtraError(f"{error}; or leave stems out: --no-stems") from error
    return lambda words: strings(splitter.stems(words.to_pylist()))
