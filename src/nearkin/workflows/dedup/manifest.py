"""What a run says of itself: ``manifest.json``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa

from nearkin._version import __version__
from nearkin.runs.meter import StageCost
from nearkin.workflows.dedup.job import Result
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.outcome import REASONS, Judged
from nearkin.workflows.dedup.plans import plan_as_stored
from nearkin.workflows.dedup.readable import damaged_files


@dataclass(frozen=True, slots=True)
class InputFile:
    """One source as the manifest tells of it; None where there is nothing to tell."""

    path: str
    size_bytes: int
    sha256: str | None
    format: str
    text: str | None
    id: str | None
    name: str | None = None
    """By which its documents without an id are called."""


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
        "plan": plan_as_stored(result.plan),
        **estimates(n_pairs, result.estimated_missed, n_not_compared=result.n_not_compared),
        "stages": stages(costs),
        "seeds": {"sketch": options.seed},
        "problems": dict(sorted(Counter(_kind(text) for text in result.places.problems.values()).items())),
        "damaged_files": damaged_files(result.places),
        "has_integer_ids": pa.types.is_integer(result.places.ids.type),
    }


def estimates(n_pairs: int, n_missed: float, *, n_not_compared: int) -> dict[str, float | None]:
    """What was missed. Nobody knows what is among the pairs that were not compared: then no recall is told."""
    is_known = n_pairs > 0 and n_not_compared == 0
    return {
        "estimated_missed_pairs": round(n_missed, 3),
        "estimated_recall": round(n_pairs / (n_pairs + n_missed), 6) if is_known else None,
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


def _kind(problem: str) -> str:
    """The part of a message that many documents share: what stands before its particulars."""
    for mark in (" at byte", ":", " '", ' "', " ("):
        problem = problem.partition(mark)[0]
    return problem
