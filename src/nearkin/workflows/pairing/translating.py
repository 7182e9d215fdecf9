"""Use of a translation table for two corpora: the check that it fits, and the choice of the side to translate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import MissingExtraError, SourceError
from nearkin.kernels.buffers import strings
from nearkin.manifests.pairs import Side
from nearkin.options.pairs import PairOptions
from nearkin.stages.features.words import STEMMED_LANGUAGES, WordSplitter
from nearkin.stages.translation.projection import Projector, Stemming, WordProjection
from nearkin.stages.translation.table import TranslationTable
from nearkin.workflows.pairing.collecting import Collected

_MIN_KNOWN = 0.1
_MARGIN = 0.15
"""Sides look swapped if the other side of a table has this much larger a share of a collection's words than its own:
of the German words of NTREX a table has 81 % as German and 17 % as English, of its English ones 43 % and 87 %."""


def check_fits(table: TranslationTable, left: Collected, right: Collected) -> None:
    """Refuse a table of other languages, or of the other direction."""
    source, target = table.origin.source, table.origin.target
    languages = ((source, table.source_words), (target, table.target_words))
    fits, shares = [], []
    for collected, (own_name, language), (other_name, other) in zip((left, right), languages, languages[::-1]):
        in_own, in_other = _share_known(collected, language), _share_known(collected, other)
        fits.append(in_own >= _MIN_KNOWN and in_other <= in_own + _MARGIN)
        shares.append(
            f"of the words of {collected.called}{_column(collected)} the table has {in_own:.0%} as {own_name} "
            f"and {in_other:.0%} as {other_name}"
        )
    if not all(fits):
        raise SourceError(
            f"{left.asked_by} should be {source} and {right.asked_by} {target}, but {'; '.join(shares)}. If the sides "
            f"are swapped, name their languages: left {target}, right {source}."
        )


def _column(collected: Collected) -> str:
    columns = {source.text for source in collected.inputs}
    return f" (column {columns.pop()!r})" if len(columns) == 1 and None not in columns else ""


@dataclass(frozen=True, slots=True)
class SideTranslation:
    """Side that is translated, and how."""

    side: Side
    projection: WordProjection


def side_to_translate(table: TranslationTable, options: PairOptions) -> Side:
    """Return the requested side, else the one whose language has more words in the table.

    A language with more words has more forms of each, over which a word translated into it is spread.

    Examples
    --------
    >>> pairs = [("haus", "house"), ("hauses", "house"), ("häuser", "houses")]
    >>> table = TranslationTable.of_pairs(pairs, source="de", target="en", words="as given")
    >>> side_to_translate(table, PairOptions()), side_to_translate(table.turned(), PairOptions())
    ('left', 'right')
    """
    if options.translate != "auto":
        return options.translate
    max_words: dict[Side, tuple[int, str]] = {  # of equally many words, the first code is translated
        "left": (-len(table.source_words), table.origin.source),
        "right": (-len(table.target_words), table.origin.target),
    }
    return min(max_words, key=max_words.__getitem__)


def translation_of(table: TranslationTable, left: Collected, right: Collected, options: PairOptions) -> SideTranslation:
    """Return which side is translated, and how."""
    side = side_to_translate(table, options)
    if side == "left":
        return SideTranslation(side, way_of_words(table, left, right, options))
    return SideTranslation(side, way_of_words(table.turned(), right, left, options))


def way_of_words(
    table: TranslationTable, collected: Collected, other: Collected, options: PairOptions
) -> WordProjection:
    """Return the projection of the words of a side; words that are too rare on either side are omitted."""
    own_kept = collected.n_occurrences >= options.min_occurrences
    other_kept = np.flatnonzero(other.n_occurrences >= options.min_occurrences)
    projector = Projector(table, _stemming(table) if options.stems else None, options.splits, options.agreement)
    return projector.of(collected.vocabulary.words, own_kept, other.vocabulary.words, other_kept)


def _share_known(collected: Collected, words: pa.LargeStringArray) -> float:
    """Return the share of word occurrences that a table has, without words with a digit."""
    own = collected.vocabulary.words
    is_word = pc.invert(pc.match_substring_regex(own, r"\p{N}")).to_numpy(zero_copy_only=False)
    is_known = pc.is_in(own, value_set=words).to_numpy(zero_copy_only=False)
    n = np.where(is_word, collected.n_occurrences, 0.0)
    return float(n[is_known].sum()) / max(float(n.sum()), 1.0)


def _stemming(table: TranslationTable) -> Stemming | None:
    language = table.origin.source.strip().lower().replace("_", "-").partition("-")[0]
    if "stem=" in table.origin.words or language not in STEMMED_LANGUAGES:
        return None
    try:
        splitter = WordSplitter(language)
    except MissingExtraError as error:
        raise MissingExtraError(f"{error}; or omit stems: --no-stems") from error
    return lambda words: strings(splitter.stems(words.to_pylist()))
