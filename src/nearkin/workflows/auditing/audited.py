"""What an audit asks and what it answers, whatever is audited."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError
from nearkin.planning.audit import AuditEstimate
from nearkin.planning.audit_sample import ProposedSample
from nearkin.records import I64

SAMPLE = 500
MAX_MISSED = 1_000_000
"""Pairs that are named; how many there are is told in any case."""
MISSED_SCHEMA = pa.schema(
    [
        pa.field("id_a", pa.large_string(), nullable=False),  # of the sampled document
        pa.field("id_b", pa.large_string(), nullable=False),
        pa.field("similarity", pa.float64()),
    ]
)


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """What a user may choose about an audit.

    Parameters
    ----------
    sample : int
        Documents to compare with everything; all there are if these are fewer.
    seed : int
        Another seed draws other documents.
    tolerance : Tolerance or None
        How a collection is asked: for collections only, where None stands for range search at its usual tolerance.
    cache : Path or None
        Of a collection in PostgreSQL; see `Collection.open`.
    threads : int
        At least 1.
    """

    sample: int = SAMPLE
    seed: int = 0
    tolerance: Tolerance | None = None
    cache: Path | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        for name, least in (("sample", 1), ("seed", 0), ("threads", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ParameterError.of(name, "audit", f"an int >= {least}", value)

    def drawn(self, population: I64) -> I64:
        """The sampled ones of a population, each as likely as another, in its order."""
        if self.sample >= len(population):
            return population
        places = np.random.default_rng(self.seed).choice(len(population), self.sample, replace=False)
        return population[np.sort(places)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """What an audit found.

    Parameters
    ----------
    what : str
        What was audited, in words: "a run of nearkin dedup, clean".
    pairs : str
        What counts as a true pair, in words: "different texts with jaccard ≥ 0.8 on words:5".
    similarity : str
        The name of what the column ``similarity`` of the missed pairs holds.
    estimate : AuditEstimate
    missed : pyarrow.Table
        Of `MISSED_SCHEMA`: pairs that there are and that were not found, each once, the most similar first.
    elapsed_s : float
    predicted_recall : float or None
        What was said before; None if nothing was.
    claims_all : bool
        It was said that none is missed, for certain: the prediction is no expectation.
    is_truncated : bool
        More pairs were missed than ``missed`` names.
    notes : tuple of str
        Sentences to print.
    proposed : tuple of ProposedSample
        Samples that would tell more, where the interval is wide or nothing can be said.
    """

    what: str
    pairs: str
    similarity: str
    estimate: AuditEstimate
    missed: pa.Table
    elapsed_s: float
    predicted_recall: float | None = None
    claims_all: bool = False
    is_truncated: bool = False
    notes: tuple[str, ...] = field(default=())
    proposed: tuple[ProposedSample, ...] = field(default=())

    def to_dict(self) -> dict[str, object]:
        """As JSON has it; the missed pairs are counted only."""
        return {
            "audited": self.what,
            "pairs": self.pairs,
            "similarity": self.similarity,
            **asdict(self.estimate),
            "n_missed": self.estimate.n_missed,
            "is_exact": self.estimate.is_exact,
            "predicted_recall": self.predicted_recall,
            "claims_all": self.claims_all,
            "missed_pairs": len(self.missed),
            "missed_pairs_are_truncated": self.is_truncated,
            "notes": list(self.notes),
            "proposed_samples": [asdict(one) for one in self.proposed],
            "elapsed_s": self.elapsed_s,
        }


Pair = tuple[str, str, float]
"""The id of the sampled document, the other's, how similar they are."""


class MissedPairs:
    """Gathers the pairs that were missed.

    Parameters
    ----------
    most : int
        More are only counted.
    is_across : bool
        The ids are of two collections; in one, two sampled documents find each other, and the pair is told once.
    """

    def __init__(self, most: int = MAX_MISSED, *, is_across: bool = False) -> None:
        self._most, self._is_across = most, is_across
        self._held = dict[frozenset[str] | tuple[str, str], Pair]()
        self.is_truncated = False

    def take(self, pairs: Iterable[Pair]) -> None:
        """Some more."""
        for pair in pairs:
            key = (pair[0], pair[1]) if self._is_across else frozenset(pair[:2])
            if key in self._held:
                self._held[key] = min(self._held[key], pair)
            elif len(self._held) < self._most:
                self._held[key] = pair
            else:
                self.is_truncated = True
                return

    def table(self) -> pa.Table:
        """The most similar first."""
        ordered = sorted(self._held.values(), key=lambda pair: (-pair[2], pair[0], pair[1]))
        columns = list(zip(*ordered, strict=True)) or [(), (), ()]
        return pa.Table.from_arrays(
            [pa.array(column, one.type) for column, one in zip(columns, MISSED_SCHEMA, strict=True)],
            schema=MISSED_SCHEMA,
        )
