"""Record of a search for pairs: ``manifest.json``."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pyarrow as pa

from nearkin._version import __version__
from nearkin.manifests.pairs import (
    CosineHistogram,
    PairCounts,
    PairsManifest,
    SideFacts,
    SideRecord,
    TableRecord,
)
from nearkin.runs.meter import Meter
from nearkin.workflows.pairing.collecting import Collected
from nearkin.workflows.pairing.inputs import PairInput, Prepared
from nearkin.workflows.pairing.options import PairOptions
from nearkin.workflows.pairing.planning import Planned
from nearkin.workflows.pairing.tables import Ranked
from nearkin.workflows.pairing.verifying import FoundPairs
from nearkin.workflows.reading.problems import damaged_files


def build(
    given: PairInput,
    prepared: Prepared,
    planned: Planned,
    found: FoundPairs,
    pairs: Ranked,
    options: PairOptions,
    meter: Meter,
) -> PairsManifest:
    """Return the manifest without the results for known pairs."""
    table, vectors = prepared.table, prepared.vectors
    return PairsManifest(
        version=__version__,
        made_with={"numpy": np.__version__, "pyarrow": pa.__version__},
        parameters=options.in_words(),
        fingerprint=vectors.fingerprint,
        table=None
        if table is None
        else TableRecord(
            str(given.table),
            table.fingerprint,
            table.origin.source,
            table.origin.target,
            None if prepared.translation is None else prepared.translation.side,
        ),
        left=_side(prepared.left, vectors.left_facts, given.left.encoding),
        right=_side(prepared.right, vectors.right_facts, given.right.encoding),
        plan=planned.record(),
        counts=PairCounts(
            pairs=len(pairs),
            pairs_at_threshold=None if options.top else len(found),  # other pairs are not kept
            left_with_pairs=len(np.unique(pairs.left)),
            right_with_pairs=len(np.unique(pairs.right)),
            comparisons=found.n_comparisons,
            candidates=found.n_candidates,
        ),
        histogram=CosineHistogram(0.0, 0.05, _histogram(found)),
        stages=tuple(meter.costs),
    )


def _side(collected: Collected, facts: SideFacts, encoding: str) -> SideRecord:
    return SideRecord(
        **asdict(facts),
        encoding=encoding,
        inputs=tuple(one.as_stored() for one in collected.inputs),
        damaged_files=damaged_files([collected.documents]),
    )


def _histogram(found: FoundPairs) -> tuple[int, ...]:
    counts, _ = np.histogram(found.cosine, np.linspace(0.0, 1.0, 21))
    return tuple(counts.tolist())
