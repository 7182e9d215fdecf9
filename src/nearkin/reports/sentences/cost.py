"""Time and memory of a run, in words."""

from __future__ import annotations

from collections.abc import Sequence

from nearkin.nouns import counted
from nearkin.runs.meter import StageCost


def total_s(stages: Sequence[StageCost]) -> float:
    """Return the seconds of all stages together."""
    return sum(stage.elapsed_s for stage in stages)


def speed_text(elapsed_s: float, n_documents: int, *, has_compiled: bool = False) -> str:
    """Write a time, and the documents per second unless kernels were compiled: then the rate is not that of later runs.

    Examples
    --------
    >>> speed_text(2.0, 2468)
    '2.0 s, 1,234 documents per second'
    >>> speed_text(20.0, 2468, has_compiled=True)
    '20.0 s, including the one-time compilation of kernels'
    """
    if has_compiled:
        return f"{elapsed_s:.1f} s, including the one-time compilation of kernels"
    rate = n_documents / elapsed_s if elapsed_s else 0
    return f"{elapsed_s:.1f} s, {counted(round(rate), 'document')} per second"


def memory_text(stages: Sequence[StageCost]) -> str:
    """Write the peak memory of all stages.

    Examples
    --------
    >>> memory_text([StageCost("read", 0.5, 3 << 20), StageCost("group", 0.5, 2 << 20)])
    'at most 3 MiB of memory'
    """
    peak = max((stage.peak_memory_bytes for stage in stages), default=0)
    return f"at most {peak / 2**20:,.0f} MiB of memory"
