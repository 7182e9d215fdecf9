"""Record of a run: ``manifest.json``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from nearkin.kernels.buffers import strings, text_buffers
from nearkin.kernels.hashing import hash_strings
from nearkin.kernels.words import split_words
from nearkin.manifests.dedup import (
    OTHER_RESULTS,
    RARE_REASONS,
    REASONS,
    SHORT_MATCHES,
    DedupManifest,
    MemoryUse,
    counted_as,
    difference_counted_as,
)
from nearkin.manifests.stored import InputFile
from nearkin.nouns import counted
from nearkin.options.dedup import DedupOptions
from nearkin.runs.progress import Meter
from nearkin.runs.spool import texts_of
from nearkin.stages.documents.rules import reason_of
from nearkin.stages.passages.sharing import TextWindows, passage_shared_alone
from nearkin.stages.verification.difference_names import DIFFERENCES
from nearkin.stages.verification.what_differs import UNKNOWN
from nearkin.workflows.dedup.job import Result
from nearkin.workflows.dedup.outcome import Judged
from nearkin.workflows.dedup.plans import plan_as_stored
from nearkin.workflows.reading.texts import damaged_files
from nearkin.workflows.resources import Resources


def build(
    result: Result,
    options: DedupOptions,
    inputs: Sequence[InputFile],
    others: Sequence[InputFile],
    *,
    command: str = "dedup",
) -> DedupManifest:
    """Return the manifest of a run, without what its command adds."""
    n_by_source = np.bincount(result.places.source, minlength=len(inputs) + len(others)).tolist()
    files = [replace(file, n_documents=n) for file, n in zip([*inputs, *others], n_by_source, strict=True)]
    n_missed, recall = estimates(
        len(result.verified.matches), result.estimated_missed, n_not_compared=result.n_not_compared
    )
    return DedupManifest(
        command=command,
        parameters={**options.in_words(), "preset": options.preset},
        fingerprint=options.fingerprint,
        inputs=tuple(files[: len(inputs)]),
        against=tuple(files[len(inputs) :]),
        counts={
            **counts(result.judged, options),
            "candidates": result.verified.n_candidates,
            "pairs_not_compared": result.n_not_compared,
            **result.kinds,
            **_sharing_one_passage(result),
        },
        against_counts=_against_counts(result.judged, options),
        plan=plan_as_stored(result.plan),
        estimated_missed_pairs=n_missed,
        estimated_recall=recall,
        seeds={"sketch": options.seed},
        problems=_problems(result),
        damaged_files=damaged_files([result.places.unreadable()]),
        has_integer_ids=pa.types.is_integer(result.places.own_ids.type),
        without_id=result.places.own_ids.null_count,
        unreadable_without_id=_n_unreadable_without_id(result) or None,
        extraction=result.places.extraction(len(inputs)),
    )


_MAX_COMPARED = 100
_LONGEST = 1 << 16  # characters


def _sharing_one_passage(result: Result) -> dict[str, int]:
    """Count, in a sample, near-duplicates that share one passage and little else with the kept document."""
    outcome, corpus = result.judged.outcome, result.corpus
    is_short = corpus.n_characters <= _LONGEST
    rows = np.flatnonzero((outcome.reason == REASONS.index("near-duplicate")) & is_short[: len(outcome.reason)])
    rows = rows[is_short[outcome.principal[rows]]] if not corpus.is_against else rows[:0]
    rows = rows[:: 1 + len(rows) // _MAX_COMPARED]
    both = np.unique(np.concatenate([rows, outcome.principal[rows]])).astype(np.int64)
    if len(rows) < _MIN_SHARING:
        return {}
    words, word_offsets, starts = split_words(*text_buffers(strings(texts_of(corpus.chunks, both))))
    windows = TextWindows.of_texts(hash_strings(words, word_offsets), starts)
    of_row = dict(zip(both.tolist(), windows, strict=True))
    pairs = zip(rows.tolist(), outcome.principal[rows].tolist(), strict=True)
    passages = Counter(passage_shared_alone(of_row[row], of_row[principal]) for row, principal in pairs)
    del passages[None]
    n_sharing = max(passages.values(), default=0)
    if n_sharing < max(_MIN_SHARING, len(rows) / _ONE_OF):
        return {}
    return {"near_duplicates_compared": len(rows), "sharing_one_passage": n_sharing}


_MIN_SHARING, _ONE_OF = 3, 20


def _n_unreadable_without_id(result: Result) -> int:
    has_none = result.places.own_ids.is_null().to_numpy(zero_copy_only=False)
    is_unreadable = result.judged.outcome.reason == REASONS.index("unreadable")
    return int((has_none & is_unreadable).sum())


def _problems(result: Result) -> dict[str, int]:
    kinds = Counter[str](reason_of(text) for text in result.places.problems.values())
    if n_repeated := len(result.corpus.repeated_ids):
        kinds["id repeated"] = n_repeated
    return dict(sorted(kinds.items()))


def estimates(n_pairs: int, n_missed: float, *, n_not_compared: int) -> tuple[float | None, float | None]:
    """Return the estimated number of missed pairs and the recall; None if pairs were not compared."""
    if n_not_compared:
        return None, None
    return round(n_missed, 3), round(n_pairs / (n_pairs + n_missed), 6) if n_pairs else None


def memory(resources: Resources, meter: Meter, longest: int) -> MemoryUse:
    """Return the resources used; ``longest``: characters of the longest document, which is shingled whole."""
    return MemoryUse(resources.memory_bytes, meter.before_bytes, meter.peak_bytes, longest)


def counts(judged: Judged, options: DedupOptions) -> dict[str, int]:
    """Count documents, groups and the rows of the table of pairs."""
    outcome, groups, n_copies = judged.outcome, judged.groups, int(judged.is_copy.sum())
    by_reason = np.bincount(outcome.reason, minlength=len(REASONS)).tolist()
    n_apart = int(options.is_apart(judged.matches).sum())
    n_kept = int(outcome.keep.sum())
    return {
        "documents": len(outcome.reason),
        **_by_name(REASONS, by_reason),
        "kept": n_kept,
        "dropped": len(outcome.reason) - n_kept - by_reason[REASONS.index("unreadable")],
        "groups": len(groups.principal),
        "pairs": len(judged.matches) - n_copies,
        "pairs_of_exact_copies": n_copies,
        "bridges_refused": groups.n_bridges,
        **_by_difference(judged),
        **({"pairs_kept_apart": n_apart} if n_apart else {}),
    }


def _by_difference(judged: Judged) -> dict[str, int]:
    outcome = judged.outcome
    dropped = outcome.differs[~outcome.keep]
    n_of_difference = np.bincount(dropped[dropped != UNKNOWN], minlength=len(DIFFERENCES)).tolist()
    named = {difference_counted_as(name): n for name, n in zip(DIFFERENCES, n_of_difference, strict=True) if n}
    return {**named, "largest_group": int(judged.groups.size.max(initial=0))}


def _against_counts(judged: Judged, options: DedupOptions) -> dict[str, int] | None:
    if judged.others is None:
        return None
    n_of_result = np.bincount(judged.others.result, minlength=len(OTHER_RESULTS)).tolist()
    named = _by_name(OTHER_RESULTS, n_of_result)
    n_short = judged.others.n_short_matches if options.looks_inside else 0
    return {"documents": len(judged.others.result), **named, **({SHORT_MATCHES: n_short} if n_short else {})}


def _by_name(names: Sequence[str], numbers: Sequence[int]) -> dict[str, int]:
    return {counted_as(name): n for name, n in zip(names, numbers, strict=True) if n or name not in RARE_REASONS}


def counts_in_words(counts: Mapping[str, int]) -> str:
    """Write the counts as one line for the console."""
    by_reason = []
    for reason in REASONS:
        if n := counts.get(counted_as(reason), 0):
            countable = {"exact copy": "exact copies", "near-duplicate": "near-duplicates"}
            by_reason.append(counted(n, reason, countable.get(reason, reason)))
    sentence = f"{counted(counts['documents'], 'document')}{': ' * bool(by_reason)}{', '.join(by_reason)}"
    n_copies = counts["pairs_of_exact_copies"]
    pairs = counted(counts["pairs"] + n_copies, "pair") + (f" ({n_copies:,} of exact copies)" if n_copies else "")
    return f"{sentence}; {counts['kept']:,} kept; {counted(counts['groups'], 'group')}; {pairs}"
