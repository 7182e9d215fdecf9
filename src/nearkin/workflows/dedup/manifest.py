"""What a run says of itself: ``manifest.json``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa

from nearkin._version import __version__
from nearkin.nouns import counted
from nearkin.runs.meter import Meter, StageCost
from nearkin.workflows.dedup.corpus import UNREADABLE
from nearkin.workflows.dedup.job import Result
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.outcome import OTHER_RESULTS, REASONS, Judged
from nearkin.workflows.dedup.plans import plan_as_stored
from nearkin.workflows.dedup.readable import damaged_files
from nearkin.workflows.resources import Resources


@dataclass(frozen=True, slots=True)
class InputFile:
    """One source as the manifest tells of it; None where there is nothing to tell.

    ``sha256`` is that of a file; of a collection that of the numbers of its documents, of a run that of its manifest.
    """

    path: str
    size_bytes: int
    sha256: str | None
    format: str
    text: str | None
    id: str | None
    name: str | None = None
    """By which its documents without an id are called."""
    end_row: int | None = None
    """Of a collection: the number in its store that all of its documents are below."""


def build(
    result: Result,
    options: DedupOptions,
    inputs: Sequence[InputFile],
    others: Sequence[InputFile],
    costs: Sequence[StageCost],
    *,
    preset: str | None,
    command: str = "dedup",
) -> dict[str, object]:
    """The manifest of a finished run."""
    parameters: dict[str, object] = {**options.in_words(), "preset": preset}
    n_by_source = np.bincount(result.places.source, minlength=len(inputs) + len(others)).tolist()
    files = [{**asdict(file), "n_documents": n} for file, n in zip([*inputs, *others], n_by_source, strict=True)]
    n_pairs = len(result.verified.matches)
    return {
        "nearkin": __version__,
        "made_with": {
            "numpy": np.__version__,
            "pyarrow": pa.__version__,
        },  # Arrow's C++ does NFKC and lower case beyond ASCII
        "command": command,
        "parameters": parameters,
        "fingerprint": options.fingerprint,
        "inputs": files[: len(inputs)],
        "against": files[len(inputs) :],
        "counts": {
            **counts(result.judged, n_pairs=n_pairs),
            "candidates": result.verified.n_candidates,
            "pairs_not_compared": result.n_not_compared,
        },
        **against_counts(result.judged),
        "plan": plan_as_stored(result.plan),
        **estimates(n_pairs, result.estimated_missed, n_not_compared=result.n_not_compared),
        "stages": stages(costs),
        "seeds": {"sketch": options.seed},
        "problems": dict(sorted(Counter(_kind(text) for text in result.places.problems.values()).items())),
        "damaged_files": damaged_files(result.places),
        "has_integer_ids": pa.types.is_integer(result.places.own_ids.type),
        "without_id": _n_without_id(result),
    }


def _n_without_id(result: Result) -> int:
    """Documents that could be read and have no id, though others have one."""
    has_none = result.places.own_ids.is_null().to_numpy(zero_copy_only=False)
    return int((has_none & (result.corpus.status[: len(has_none)] != UNREADABLE)).sum())


def estimates(n_pairs: int, n_missed: float, *, n_not_compared: int) -> dict[str, float | None]:
    """What was missed; nulls where pairs were not compared, since nobody knows how many of them match."""
    if n_not_compared:
        return {"estimated_missed_pairs": None, "estimated_recall": None}
    return {
        "estimated_missed_pairs": round(n_missed, 3),
        "estimated_recall": round(n_pairs / (n_pairs + n_missed), 6) if n_pairs else None,
    }


def memory(resources: Resources, meter: Meter, longest: int) -> dict[str, int]:
    """What the run took beside what it was allowed: the limit is for the work, on top of the libraries.

    ``longest`` is the number of characters of the longest document: each is shingled whole.
    """
    return {
        "limit_bytes": resources.memory_bytes,
        "before_bytes": meter.before_bytes,
        "peak_bytes": meter.peak_bytes,
        "longest_document_characters": longest,
    }


def stages(costs: Sequence[StageCost]) -> list[dict[str, object]]:
    """What each stage took."""
    return [asdict(cost) for cost in costs]


def counts(judged: Judged, *, n_pairs: int) -> dict[str, int]:
    """How many documents, groups and pairs; ``n_pairs`` of different texts."""
    outcome, groups = judged.outcome, judged.groups
    by_reason = np.bincount(outcome.reason, minlength=len(REASONS)).tolist()
    n_kept = int(outcome.keep.sum())
    return {
        "documents": len(outcome.reason),
        **{reason.replace(" ", "_").replace("-", "_"): n for reason, n in zip(REASONS, by_reason, strict=True)},
        "kept": n_kept,
        "dropped": len(outcome.reason) - n_kept - by_reason[REASONS.index("unreadable")],
        "groups": len(groups.principal),
        "pairs": n_pairs,
        "pairs_of_exact_copies": int(judged.is_copy.sum()),
        "bridges_refused": groups.n_bridges,
    }


def against_counts(judged: Judged) -> dict[str, dict[str, int]]:
    """How many documents of the other collection, if there is one, have a match, and how many cannot have one."""
    if judged.others is None:
        return {}
    n_of_result = np.bincount(judged.others.result, minlength=len(OTHER_RESULTS)).tolist()
    named = {result.replace(" ", "_"): n for result, n in zip(OTHER_RESULTS, n_of_result, strict=True)}
    return {"against_counts": {"documents": len(judged.others.result), **named}}


def counts_in_words(counts: Mapping[str, int]) -> str:
    """The counts as a result in a console shows them: documents by reason, as the summary has them, then the rest.

    Examples
    --------
    >>> some = {"documents": 4, "unique": 2, "exact_copy": 1, "near_duplicate": 1, "kept": 2, "groups": 1, "pairs": 1}
    >>> counts_in_words(some | {"pairs_of_exact_copies": 1})
    '4 documents: 2 unique, 1 exact copy, 1 near-duplicate; 2 kept; 1 group; 2 pairs'
    """
    by_reason = []
    for reason in REASONS:
        if n := counts.get(reason.replace(" ", "_").replace("-", "_"), 0):
            countable = {"exact copy": "exact copies", "near-duplicate": "near-duplicates"}
            by_reason.append(counted(n, reason, countable.get(reason, reason)))
    told = f"{counted(counts['documents'], 'document')}{': ' * bool(by_reason)}{', '.join(by_reason)}"
    n_pairs = counts["pairs"] + counts["pairs_of_exact_copies"]
    return f"{told}; {counts['kept']:,} kept; {counted(counts['groups'], 'group')}; {counted(n_pairs, 'pair')}"


def _kind(problem: str) -> str:
    """The part of a message that many documents share: what stands before its particulars."""
    for mark in (" at byte", ":", " '", ' "', " ("):
        problem = problem.partition(mark)[0]
    return problem
