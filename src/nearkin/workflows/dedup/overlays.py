"""Results for review tools: an overlay of all documents that have an id, or that could be read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.manifests.dedup import REASONS
from nearkin.records import U32
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.outcome import NO_ROW, UNREADABLE_TEXT, Outcome
from nearkin.workflows.dedup.row_places import Places, row_numbers
from nearkin.workflows.overlay import OVERLAY, write_overlay


def write_overlay_of_run(
    out: Path, tool: str, outcome: Outcome, places: Places, options: DedupOptions, formats: Iterable[str | None]
) -> Path:
    """Write ``overlay.dat`` if a load file was read, otherwise ``overlay.csv``; return its path.

    Parameters
    ----------
    out : Path
        Directory of the run.
    tool : str
        One of `overlay.TOOLS`.
    outcome : Outcome
    places : Places
    options : DedupOptions
    formats : iterable of str or None
        Formats of the input.
    """
    path = out / ("overlay.dat" if "load-file" in formats else "overlay.csv")
    write_overlay(overlay_table(outcome, places, options), tool, path)
    return path


def overlay_table(outcome: Outcome, places: Places, options: DedupOptions) -> pa.Table:
    """Return the rows of an overlay; of documents that repeat an id only the first has one."""
    n = len(outcome.keep)
    rows = np.arange(n, dtype=np.uint32)
    has_principal, is_principal = outcome.principal != NO_ROW, outcome.principal == rows
    size = np.bincount(outcome.principal[has_principal], minlength=n)[:n]
    in_group = has_principal & (~is_principal | (size >= 2))
    principal = np.where(in_group, outcome.principal, NO_ROW).astype(np.uint32)
    has_similarity = in_group & (is_principal | ~np.isnan(outcome.similarity))
    original = np.where(outcome.copy_of == NO_ROW, rows, outcome.copy_of)
    original = np.where(np.isin(original, outcome.copy_of), original, NO_ROW).astype(np.uint32)
    names = pc.coalesce(places.ids.cast(pa.large_string()), places.names)
    own_names = pc.coalesce(places.own_ids.cast(pa.large_string()), places.names[:n])
    columns = [
        own_names,
        names.take(row_numbers(principal)),
        _numbers(principal),
        pa.array(in_group & is_principal),
        pa.array(np.where(is_principal, np.fmax(outcome.similarity, 1.0), outcome.similarity), mask=~has_similarity),
        _numbers(original),
        pa.array([f"{options.measure.name} {options.shingle}"] * n, pa.large_string()),
        pa.array(REASONS, pa.large_string()).take(pa.array(outcome.reason)),
    ]
    is_first = np.zeros(n, np.bool_)
    is_first[pc.index_in(own_names.unique(), own_names).to_numpy(zero_copy_only=False)] = True
    has_key = pc.or_(places.own_ids.is_valid(), pa.array(outcome.reason != UNREADABLE_TEXT))
    return pa.table(columns, schema=OVERLAY).filter(pc.and_(pa.array(is_first), has_key))


def _numbers(rows: U32) -> pa.Array:
    """Return the number, from 1, of the set of each document, of which a row is given; null for NO_ROW."""
    sets = np.unique(rows[rows != NO_ROW])
    return pa.array(np.searchsorted(sets, rows).astype(np.int64) + 1, mask=rows == NO_ROW)
