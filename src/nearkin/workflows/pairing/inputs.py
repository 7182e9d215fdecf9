"""Files and a translation table → two corpora of vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pyarrow as pa

from nearkin.errors import ParameterError, SourceError
from nearkin.manifests.pairs import SIDES
from nearkin.nouns import agreeing, counted
from nearkin.options.pairs import PairOptions, SideOptions
from nearkin.paths import STDIN
from nearkin.planning.pairs.search import PairSearch
from nearkin.records import TextWords
from nearkin.runs.progress import LabelledProgress, Meter, Progress
from nearkin.stages.documents.ignoring import Ignored
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.documents.source import Source
from nearkin.stages.features.words import WordSplitter
from nearkin.stages.translation.table import TranslationTable
from nearkin.wording import WarningMessage
from nearkin.workflows.pairing.collecting import Collected, Splitting, collect
from nearkin.workflows.pairing.searching import FoundPairs
from nearkin.workflows.pairing.translating import SideTranslation, check_fits, translation_of
from nearkin.workflows.pairing.vectors import PairVectors, WeighingBoth, vectors_of
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources
from nearkin.workflows.table_words import TableWords

Collecting = Callable[[Texts, Splitting, str], Collected]
"""Function that reads the texts of a side."""
_FEW_SHARED = 0.5
"""Share of common words below which a hint is shown; a guess. Two languages share mostly names and numbers."""


@dataclass(frozen=True, slots=True)
class PairInput:
    """Input of a search.

    Parameters
    ----------
    table
        None if both sides have one language.
    right_language
        By default the table's target language.
    """

    left: ReadingRequest
    right: ReadingRequest
    table: Path | None = None
    right_language: str | None = None

    @classmethod
    def of_paths(cls, left: Sequence[str], right: Sequence[str], options: SideOptions) -> PairInput:
        """Request files, as a command does."""
        return cls(
            ReadingRequest.from_options(left, options, text=options.left_text, doc_id=options.left_id, side="left"),
            ReadingRequest.from_options(right, options, text=options.right_text, doc_id=options.right_id, side="right"),
            None if options.table is None else Path(options.table),
            options.right_language,
        )


@dataclass(frozen=True, slots=True)
class Prepared:
    """Both corpora, ready for the search; ``table`` translates from left to right."""

    left: Collected
    right: Collected
    table: TranslationTable | None
    translation: SideTranslation | None
    vectors: PairVectors


@dataclass(frozen=True, slots=True, kw_only=True)
class PairEngine:
    """The long work of a run, as an engine does it."""

    collect: Collecting
    weigh: WeighingBoth
    search: Callable[[PairVectors, PairSearch, PairOptions], FoundPairs]
    about: Mapping[str, object] | None = None
    records: Mapping[str, Sequence[Source]] = field(default_factory=dict)


def read_table(path: Path | None, right_language: str | None = None) -> TranslationTable | None:
    """Return the table, if there is one, from the language of the left side to that of the right side."""
    if path is None:
        return None
    table = TranslationTable.read(path)
    if right_language == table.origin.source != table.origin.target:
        return table.turned()
    table.check_direction(None, right_language, name=str(path))
    return table


def opened(
    given: PairInput, table: TranslationTable | None, progress: Progress, names: tuple[str, str] = SIDES
) -> tuple[Texts, Texts]:
    """Open the files of both sides, named after their options."""
    languages = (None, None) if table is None else (table.origin.source, table.origin.target)
    sides = tuple(
        _opened(reading, language, LabelledProgress(f"--{name}", progress))
        for reading, language, name in zip((given.left, given.right), languages, names)
    )
    ours = {(Path(source.path).resolve(), source.text) for source in sides[0].sources}
    if any(source.path == STDIN for source in (*sides[0].sources, *sides[1].sources)):
        raise ParameterError(
            "Standard input (-) can be read only once, and the documents are read twice: save them to a file first."
        )
    for source in sides[1].sources:
        if (Path(source.path).resolve(), source.text) in ours:
            raise ParameterError(
                f"{source.path} is on both sides, with the same text{_of_column(source)}. left_text and right_text "
                "name a column for each side; for pairs inside one corpus use nearkin dedup."
            )
    return sides[0], sides[1]


def _opened(reading: ReadingRequest, language: str | None, progress: Progress) -> Texts:
    """Open the files of a side; a column named after the language is its text by default."""
    if language is None or reading.text is not None:
        return reading.opened(progress)
    try:
        texts = replace(reading, text=language).opened(progress)
    except SourceError:  # no such column, or an error that is raised now
        return reading.opened(progress)
    if any(source.text == language for source in texts.sources):
        progress.say(f"text column: '{language}' (the language of this side)")
    return texts


def _of_column(source: Source) -> str:
    return f", the column {source.text!r}" if source.text else ""


def prepare(
    sides: tuple[Texts, Texts],
    table: TranslationTable | None,
    options: PairOptions,
    work: Path,
    *,
    names: tuple[str, str] = SIDES,
    resources: Resources,
    meter: Meter,
    collecting: Collecting | None = None,
    weighing: WeighingBoth | None = None,
) -> Prepared:
    """Convert documents to vectors of one vocabulary, by default in this process."""
    splits, words = splitting(table, options.ignored)
    collecting = collecting or partial(collect, work=work, threads=resources.n_threads, meter=meter)
    left, right = (collecting(texts, split, name) for texts, split, name in zip(sides, splits, names))
    return in_one_space(left, right, table, options, work, words=words, meter=meter, weighing=weighing)


def in_one_space(
    left: Collected,
    right: Collected,
    table: TranslationTable | None,
    options: PairOptions,
    work: Path,
    *,
    words: str,
    meter: Meter,
    weighing: WeighingBoth | None = None,
) -> Prepared:
    """Convert counted words to vectors of one vocabulary; ``words`` identifies the word splitting."""
    translation = None
    if table is not None:
        check_fits(table, left, right)
        with meter.stage("translate", 0, "steps"):
            translation = translation_of(table, left, right, options)
    fingerprint = _fingerprint(words, options, table, translation)
    vectors = vectors_of(
        left, right, options, translation, work, fingerprint=fingerprint, meter=meter, weighing=weighing
    )
    _say_what_is_odd(left, right, vectors, meter.progress)
    if table is None:
        _warn_if_unrelated(left, right, meter.progress)
    return Prepared(left, right, table, translation, vectors)


def say_which_side(prepared: Prepared, options: PairOptions, progress: Progress) -> None:
    """Report the side that was translated, the languages, and the reason."""
    if prepared.table is None or prepared.translation is None:
        return
    table, side = prepared.table, prepared.translation.side
    origin, n_left, n_right = table.origin, len(table.source_words), len(table.target_words)
    source, target = (origin.source, origin.target) if side == "left" else (origin.target, origin.source)
    why = "--translate" if options.translate != "auto" else (
        f"the table has {counted(n_left, 'word')} of {origin.source} and {n_right:,} of {origin.target}"
    )  # fmt: skip
    progress.say(f"translating the {side} side from {source} to {target} ({why})")


def _warn_if_unrelated(left: Collected, right: Collected, progress: Progress) -> None:
    """Warn if the sides share few words: two languages share little more than names and numbers."""
    is_shared = right.vocabulary.find(left.vocabulary.words) >= 0
    share = float(left.n_occurrences[is_shared].sum()) / max(float(left.n_occurrences.sum()), 1.0)
    if share < _FEW_SHARED:
        sentence = f"only {share:.0%} of the words on the left are also on the right"
        advice = "If the languages differ, add a translation table from nearkin align with --table"
        progress.say(WarningMessage(f"{sentence}. {advice}"))


def splitting(table: TranslationTable | None, ignored: Ignored) -> tuple[tuple[Splitting, Splitting], str]:
    """Return the functions from texts to words, and their fingerprint."""
    splits, fingerprint = _splitting(table)
    if not ignored:
        return splits, fingerprint
    left, right = (partial(_without, ignored, split) for split in splits)
    return (left, right), f"{fingerprint}{ignored}"


def _without(ignored: Ignored, split: Splitting, texts: pa.LargeStringArray) -> TextWords:
    return split(ignored.removed(texts).texts)


def _splitting(table: TranslationTable | None) -> tuple[tuple[Splitting, Splitting], str]:
    if table is not None:
        words = TableWords.of_table(table.origin)
        return (words.of_source, words.of_target), words.fingerprint
    splitter = WordSplitter()

    def split(texts: pa.LargeStringArray) -> TextWords:
        return splitter.split(Normalisation().apply(texts))

    return (split, split), f"{Normalisation().fingerprint};{splitter.fingerprint}"


def _fingerprint(
    words: str, options: PairOptions, table: TranslationTable | None, translation: SideTranslation | None
) -> str:
    kept = f"least_occurrences={options.min_occurrences};least_terms={options.min_terms}"
    translated = "" if table is None else (
        f";table={table.fingerprint};agreement={options.agreement!r};stems={options.stems};splits={options.splits}"
    )  # fmt: skip
    if translation is not None and translation.side == "right":
        translated += ";translate=right"
    return f"{words};{kept};{options.bm25.fingerprint}{translated}"


def _say_what_is_odd(left: Collected, right: Collected, vectors: PairVectors, progress: Progress) -> None:
    for collected, facts in ((left, vectors.left_facts), (right, vectors.right_facts)):
        if facts.n_few_terms:
            progress.say(
                f"{collected.asked_by}: {facts.n_few_terms:,} of {counted(len(collected), 'document')} "
                f"{agreeing(facts.n_few_terms, 'has', 'have')} too few terms to be compared"
            )
    for side, facts in (("left", vectors.left_facts), ("right", vectors.right_facts)):
        unknown = facts.ways.get("unknown", 0.0)
        if unknown > 0.2:
            sentence = f"{unknown:.0%} of the words on the {side} have no translation: cosines will be lower"
            progress.say(WarningMessage(sentence))
