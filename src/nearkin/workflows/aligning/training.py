"""Sentences and their translations → a translation table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.engines.local import map_ordered
from nearkin.errors import DocumentError, ParameterError, SourceError, TruncatedInputError
from nearkin.manifests.inputs import DamagedFile
from nearkin.nouns import agreeing, counted
from nearkin.records import TextWords
from nearkin.runs.files import published
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Progress, Silent
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.streams import StreamFault
from nearkin.stages.translation.eflomal import Eflomal, is_installed
from nearkin.stages.translation.model_1 import Learned, Model1, needed_bytes
from nearkin.stages.translation.pairs import MAX_WORDS, GrowingPairs, SentencePairs
from nearkin.stages.translation.rows import Pruning, TranslationRows
from nearkin.stages.translation.table import Origin, TranslationTable
from nearkin.workflows.aligning.parallel import Pair, ParallelCorpus
from nearkin.workflows.resources import Resources
from nearkin.workflows.table_words import TableWords

Aligner = Literal["auto", "model-1", "eflomal"]
_NULL = "the text is null"  # an empty side, not a broken one


@dataclass(frozen=True, slots=True)
class AlignOptions:
    """How a table is learned.

    Parameters
    ----------
    aligner : {"auto", "model-1", "eflomal"}
        "auto" is eflomal where that is installed, else IBM Model 1.
    iterations : int
        Of Model 1.
    stem : bool
        Whether words become their Snowball stems.
    pruning : Pruning
    rules : ReadingRules
        What a broken line, or a file that breaks off, does; by default either stops the run.
    """

    aligner: Aligner = "auto"
    iterations: int = 5
    stem: bool = False
    pruning: Pruning = field(default_factory=Pruning)
    rules: ReadingRules = field(default_factory=lambda: ReadingRules("stop"))

    def __post_init__(self) -> None:
        if self.aligner not in ("auto", "model-1", "eflomal"):
            raise ParameterError.of("aligner", "align", "auto, model-1 or eflomal", self.aligner)
        Model1(self.iterations)

    def chosen(self) -> Model1 | Eflomal:
        """The aligner; MissingExtraError where it is named and not installed."""
        if self.aligner == "eflomal" or (self.aligner == "auto" and is_installed()):
            return Eflomal()
        return Model1(self.iterations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aligned:
    """A table that was learned, and from what.

    Parameters
    ----------
    table : TranslationTable
    n_pairs, n_empty, n_too_long, n_unreadable : int
        Pairs of sentences that were read; left out because a side is empty, has more than 200 words, or is broken.
    n_word_pairs : int
        A word of a sentence and one of its translation, over all sentences.
    perplexities : tuple of tuple of float
        Of target words, then of source words: before the first iteration and after each; empty for eflomal.
    align_s, elapsed_s : float
    damaged_files : tuple of DamagedFile
        Those of which only a part was used.
    """

    table: TranslationTable
    n_pairs: int
    n_empty: int
    n_too_long: int
    n_unreadable: int
    n_word_pairs: int
    perplexities: tuple[tuple[float, ...], ...]
    align_s: float
    elapsed_s: float
    damaged_files: tuple[DamagedFile, ...] = ()

    def summary(self) -> dict[str, object]:
        """For a program."""
        return {
            "command": "align train",
            **table_summary(self.table),
            "pairs_read": self.n_pairs,
            "pairs_with_an_empty_side": self.n_empty,
            f"pairs_over_{MAX_WORDS}_words": self.n_too_long,
            "pairs_unreadable": self.n_unreadable,
            "damaged_files": [one.as_stored() for one in self.damaged_files],
            "word_pairs": self.n_word_pairs,
            "perplexities": [[round(one, 3) for one in direction] for direction in self.perplexities],
            "align_s": self.align_s,
            "elapsed_s": self.elapsed_s,
        }


def table_summary(table: TranslationTable) -> dict[str, object]:
    """What a table is, for a program."""
    return {
        "source": table.origin.source,
        "target": table.origin.target,
        "translations": len(table),
        "source_words": len(table.source_words),
        "target_words": len(table.target_words),
        "words": table.origin.words,
        "aligner": table.origin.aligner,
        "pairs": table.origin.n_pairs,
        "fingerprint": table.fingerprint,
    }


def train(
    corpus: ParallelCorpus,
    options: AlignOptions | None = None,
    *,
    resources: Resources | None = None,
    progress: Progress | None = None,
) -> Aligned:
    """Learn a translation table.

    Parameters
    ----------
    corpus : ParallelCorpus
    options : AlignOptions, optional
    resources : Resources, optional
    progress : Progress, optional

    Raises
    ------
    SourceError
        The corpus cannot be read, or has no pair of sentences.
    TruncatedInputError
        It breaks off, and the options do not take what comes before.
    DocumentError
        A line is broken, and the options say that this stops the run; or more are broken than they allow.
    ParameterError
        Learning takes more memory than it may.
    """
    options, resources = options or AlignOptions(), resources or Resources()
    meter = Meter(progress or Silent())
    words = TableWords(corpus.source, corpus.target, options.stem)
    aligner = options.chosen()
    pairs, n_unreadable, damage = _read(corpus, words, options, resources, meter)
    perplexities: tuple[tuple[float, ...], ...] = ()
    if isinstance(aligner, Model1):
        rows, perplexities = _by_model_1(aligner, pairs, options.pruning, resources, meter)
    else:
        with meter.stage("align", 0, "steps"):
            rows = aligner.align(pairs)
    align_s = meter.costs[-1].elapsed_s
    with meter.stage("prune", 0, "steps"):
        origin = Origin(corpus.source, corpus.target, words.fingerprint, aligner.fingerprint, len(pairs))
        table = TranslationTable.of_rows(rows.pruned(options.pruning), origin)
    return Aligned(
        table=table,
        n_pairs=pairs.n_read,
        n_empty=pairs.n_empty,
        n_too_long=pairs.n_too_long,
        n_unreadable=n_unreadable,
        n_word_pairs=pairs.n_word_pairs,
        perplexities=perplexities,
        align_s=align_s,
        elapsed_s=meter.elapsed_s,
        damaged_files=tuple(DamagedFile(path=corpus.name, problem=fault) for fault in damage),
    )


def save(table: TranslationTable, out: Path) -> None:
    """Write it whole or not at all."""
    with published(out) as aside:
        table.write(aside)


def _read(
    corpus: ParallelCorpus, words: TableWords, options: AlignOptions, resources: Resources, meter: Meter
) -> tuple[SentencePairs, int, tuple[str, ...]]:
    """The pairs of sentences as numbers of words, how many were broken, and where a file broke off."""
    growing, n_unreadable = GrowingPairs(), 0
    with meter.stage("read", corpus.size_bytes, "bytes") as progress:

        def found(pair: Pair) -> tuple[TextWords, TextWords, int, str]:
            is_broken = pc.or_(*(_is_broken(batch) for batch in pair))
            n_broken = int(pc.sum(is_broken).as_py() or 0)
            where = _where(corpus, pair, is_broken) if n_broken else ""
            if n_broken and options.rules.on_error == "stop":
                raise DocumentError(f"{where}. --on-error skip-documents leaves such pairs out.")
            source, target = (pc.if_else(is_broken, None, batch["text"]).cast(pa.large_string()) for batch in pair)
            return words.of_source(source), words.of_target(target), n_broken, where

        faults: list[StreamFault] = []
        batches = _until_it_breaks(corpus.batches(progress=progress.advance, say=progress.say), faults)
        first = ""
        for source, target, n_broken, where in map_ordered(found, batches, threads=resources.n_threads):
            growing.add(source, target)
            n_unreadable += n_broken
            first = first or where
        for fault in faults:
            said = f"{corpus.name}: {fault}. {counted(growing.n_read, 'pair')} of sentences were read before it"
            if not options.rules.takes_damaged:
                raise TruncatedInputError(f"{said}; --on-error skip goes on with these alone.") from fault
            progress.say(f"Warning: {said}, and the table is of these alone")
    options.rules.check_readable(n_unreadable, growing.n_read, first)
    pairs = growing.frozen()
    if not len(pairs):
        raise SourceError(
            f"{corpus.name}: no pair of sentences has words on both sides ({pairs.n_read:,} were read). Check the "
            "columns or the files."
        )
    _check_sides(corpus, pairs, meter.progress.say)
    return _without_unreadable(pairs, n_unreadable), n_unreadable, tuple(map(str, faults))


def _until_it_breaks(batches: Iterator[Pair], faults: list[StreamFault]) -> Iterator[Pair]:
    """The batches before a fault, which is noted: what threads still work on is not lost by it."""
    try:
        yield from batches
    except StreamFault as fault:
        faults.append(fault)


def _is_broken(batch: pa.RecordBatch) -> pa.BooleanArray:
    return pc.and_(batch["problem"].is_valid(), pc.not_equal(batch["problem"].fill_null(""), _NULL))


def _where(corpus: ParallelCorpus, pair: Pair, is_broken: pa.BooleanArray) -> str:
    """The place of the first broken row, and what is wrong with it."""
    row = is_broken.index(True).as_py()
    side = 0 if _is_broken(pair[0])[row].as_py() else 1
    name = corpus.paths[min(side, len(corpus.paths) - 1)]
    return f"{name}:{pair[side]['line'][row]}: {pair[side]['problem'][row]}"


def _check_sides(corpus: ParallelCorpus, pairs: SentencePairs, say: Callable[[str], None]) -> None:
    """Say what looks as if the corpus were not what it is taken for."""
    if pairs.n_empty > pairs.n_read // 2:
        say(
            f"{pairs.n_empty:,} of {counted(pairs.n_read, 'pair')} {agreeing(pairs.n_empty, 'has', 'have')} an empty "
            "side: check that these are the right columns or files"
        )
    if (pairs.source_words.equals(pairs.target_words)) and len(pairs.source_words) > 1:
        say(f"{corpus.name}: both sides are the same text")


def _without_unreadable(pairs: SentencePairs, n_unreadable: int) -> SentencePairs:
    """Broken pairs came as empty ones; they are counted once."""
    return replace(pairs, n_empty=pairs.n_empty - n_unreadable)


def _by_model_1(
    model: Model1, pairs: SentencePairs, pruning: Pruning, resources: Resources, meter: Meter
) -> tuple[TranslationRows, tuple[tuple[float, ...], ...]]:
    """Both directions, at the same time where there are threads for it."""
    with meter.stage("measure", 0, "steps"):
        forward_bytes, backward_bytes = needed_bytes(pairs)
    needed = forward_bytes + backward_bytes  # what the first has learned is kept while the second learns
    if needed > resources.memory_bytes:
        raise ParameterError(
            f"Aligning {counted(len(pairs), 'pair')} of sentences takes about {needed >> 20:,} MiB, and --memory "
            f"allows {resources.memory_bytes >> 20:,} MiB. Give it more, align a part of them, or parts that are "
            "merged after: nearkin align merge."
        )
    n_passes = 2 * (model.iterations + 1)
    meter.progress.say(
        f"{counted(len(pairs), 'pair')} of sentences, {counted(pairs.n_word_pairs, 'pair')} of words; about "
        f"{needed >> 20:,} MiB"
    )
    with meter.stage("align", n_passes * pairs.n_word_pairs, "pairs") as progress:

        def learn(is_reverse: bool) -> Learned:
            return model.learn(pairs, is_reverse=is_reverse, advance=progress.advance)

        forward, backward = map_ordered(learn, (False, True), threads=min(2, resources.n_threads))
        rows = TranslationRows.of_learned((pairs.source_words, pairs.target_words), forward, backward, pruning)
    return rows, (forward.perplexities, backward.perplexities)
