"""Sentences and their translations → translation table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.engines.local import map_ordered
from nearkin.errors import DocumentError, ParameterError, SourceError, TruncatedInputError
from nearkin.manifests.stored import DamagedFile
from nearkin.nouns import agreeing, counted
from nearkin.records import TextWords
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.stages.documents.ignoring import NOTHING, Ignored
from nearkin.stages.documents.rules import ReadingRules, StreamFault
from nearkin.stages.translation.model_1 import MAX_WORDS, GrowingPairs, Learned, Model1, SentencePairs, needed_bytes
from nearkin.stages.translation.rows import Pruning, TranslationRows
from nearkin.stages.translation.table import TableOrigin, TranslationTable
from nearkin.wording import WarningMessage
from nearkin.workflows.aligning.parallel import Pair, ParallelCorpus
from nearkin.workflows.resources import Resources
from nearkin.workflows.table_words import TableWords

ITERATIONS = 5
_NULL = "empty: the text is null"  # an empty side, not a broken one


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignOptions:
    """Options of learning a table; ``iterations`` are of IBM Model 1, ``stem`` makes words Snowball stems."""

    iterations: int = ITERATIONS
    stem: bool = False
    pruning: Pruning = field(default_factory=Pruning)
    rules: ReadingRules = field(default_factory=lambda: ReadingRules(on_error="stop"))
    ignored: Ignored = NOTHING

    def __post_init__(self) -> None:
        Model1(self.iterations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aligned:
    """Table that was learned, and counts of its input.

    Parameters
    ----------
    n_pairs, n_empty, n_too_long, n_unreadable
        Sentence pairs read; omitted because a side is empty, has more than 200 words, or is invalid.
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
        """Return the fields as JSON types."""
        return {
            "command": "align train",
            **table_summary(self.table),
            "pairs_read": self.n_pairs,
            "pairs_with_an_empty_side": self.n_empty,
            f"pairs_over_{MAX_WORDS}_words": self.n_too_long,
            "pairs_unreadable": self.n_unreadable,
            "damaged_files": [damaged_file.as_stored() for damaged_file in self.damaged_files],
            "word_pairs": self.n_word_pairs,
            "perplexities": [[round(perplexity, 3) for perplexity in direction] for direction in self.perplexities],
            "align_s": self.align_s,
            "elapsed_s": self.elapsed_s,
        }


def table_summary(table: TranslationTable) -> dict[str, object]:
    """Return a description of a table as JSON types."""
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
    """Learn a translation table."""
    options, resources = options or AlignOptions(), resources or Resources()
    meter = Meter(progress or Silent())
    words = TableWords(corpus.source, corpus.target, options.stem)
    model = Model1(options.iterations)
    pairs, n_unreadable, damage = _read(corpus, words, options, resources, meter)
    rows, perplexities = _by_model_1(model, pairs, options.pruning, resources, meter)
    align_s = meter.costs[-1].elapsed_s
    with meter.stage("prune", 0, "steps"):
        origin = TableOrigin(corpus.source, corpus.target, words.fingerprint, model.fingerprint, len(pairs))
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


def _read(
    corpus: ParallelCorpus, words: TableWords, options: AlignOptions, resources: Resources, meter: Meter
) -> tuple[SentencePairs, int, tuple[str, ...]]:
    growing, n_unreadable = GrowingPairs(), 0
    with meter.stage("read", corpus.size_bytes, "bytes") as progress:

        def found(pair: Pair) -> tuple[TextWords, TextWords, int, str]:
            is_broken = pc.or_(*(_is_broken(batch) for batch in pair))
            n_broken = int(pc.sum(is_broken).as_py() or 0)
            where = _where(corpus, pair, is_broken) if n_broken else ""
            if n_broken and options.rules.on_error == "stop":
                raise DocumentError(f"{where}. --on-error skip-documents omits such pairs.")
            source, target = (pc.if_else(is_broken, None, batch["text"]).cast(pa.large_string()) for batch in pair)
            if options.ignored:
                source, target = (options.ignored.removed(side).texts for side in (source, target))
            return words.of_source(source), words.of_target(target), n_broken, where

        faults: list[StreamFault] = []
        batches = _until_it_breaks(corpus.batches(progress=progress.advance, say=progress.say), faults)
        first = ""
        for source, target, n_broken, where in map_ordered(found, batches, threads=resources.n_threads):
            growing.add(source, target)
            n_unreadable += n_broken
            first = first or where
        for fault in faults:
            fault_at = f"{corpus.name}: {fault}. {counted(growing.n_read, 'pair')} of sentences were read before it"
            if not options.rules.takes_damaged:
                raise TruncatedInputError(f"{fault_at}; --on-error skip continues with only these.") from fault
            progress.say(WarningMessage(f"{fault_at}; the table uses only these"))
    options.rules.check_readable(n_unreadable, growing.n_read, first)
    options.ignored.say_not_found(meter.progress.say)
    pairs = growing.frozen()
    if not len(pairs):
        raise SourceError(
            f"{corpus.name}: no pair of sentences has words on both sides ({pairs.n_read:,} were read). Check the "
            "columns or the files."
        )
    _check_sides(corpus, pairs, meter.progress.say)
    return _without_unreadable(pairs, n_unreadable), n_unreadable, tuple(map(str, faults))


def _until_it_breaks(batches: Iterator[Pair], faults: list[StreamFault]) -> Iterator[Pair]:
    """Yield the batches before a fault, and record it: batches still processed by threads are not lost."""
    try:
        yield from batches
    except StreamFault as fault:
        faults.append(fault)


def _is_broken(batch: pa.RecordBatch) -> pa.BooleanArray:
    return pc.and_(batch["problem"].is_valid(), pc.not_equal(batch["problem"].fill_null(""), _NULL))


def _where(corpus: ParallelCorpus, pair: Pair, is_broken: pa.BooleanArray) -> str:
    row = is_broken.index(True).as_py()
    side = 0 if _is_broken(pair[0])[row].as_py() else 1
    name = corpus.paths[min(side, len(corpus.paths) - 1)]
    return f"{name}:{pair[side]['line'][row]}: {pair[side]['problem'][row]}"


def _check_sides(corpus: ParallelCorpus, pairs: SentencePairs, say: Callable[[str], None]) -> None:
    if pairs.n_empty > pairs.n_read // 2:
        of_all = f"{pairs.n_empty:,} of {counted(pairs.n_read, 'pair')} {agreeing(pairs.n_empty, 'has', 'have')}"
        say(WarningMessage(f"{of_all} an empty side: check that these are the right columns or files"))
    if (pairs.source_words.equals(pairs.target_words)) and len(pairs.source_words) > 1:
        say(WarningMessage(f"{corpus.name}: both sides are the same text"))


def _without_unreadable(pairs: SentencePairs, n_unreadable: int) -> SentencePairs:
    """Correct the counts: invalid pairs are also counted as empty ones."""
    return replace(pairs, n_empty=pairs.n_empty - n_unreadable)


def _by_model_1(
    model: Model1, pairs: SentencePairs, pruning: Pruning, resources: Resources, meter: Meter
) -> tuple[TranslationRows, tuple[tuple[float, ...], ...]]:
    with meter.stage("measure", 0, "steps"):
        forward_bytes, backward_bytes = needed_bytes(pairs)
    needed = forward_bytes + backward_bytes  # the first result is kept while the second direction is trained
    if needed > resources.memory_bytes:
        raise ParameterError(
            f"Aligning {counted(len(pairs), 'pair')} of sentences needs about {needed >> 20:,} MiB, and --memory "
            f"allows {resources.memory_bytes >> 20:,} MiB. Raise --memory, align a part of them, or align parts "
            "and merge them with: nearkin align merge."
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
