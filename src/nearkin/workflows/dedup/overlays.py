"""Results for review tools: an overlay for each load file, in its dialect, and one CSV for all other documents."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from nearkin.errors import SourceError
from nearkin.formats.delimited import SheetWriter
from nearkin.manifests.dedup import REASONS
from nearkin.nouns import counted, first_of
from nearkin.paths import STDIN
from nearkin.records import I64
from nearkin.runs.files import published
from nearkin.runs.progress import Progress
from nearkin.stages.documents.formats.load_file import NAME as LOAD_FILE
from nearkin.stages.documents.load_files.vendors import OverlayRow, Vendor, outside_sentence
from nearkin.stages.documents.load_files.writing import Controls, LoadFileWriter, check_control, controls_of
from nearkin.stages.documents.sniffing import unreadable
from nearkin.stages.documents.source import Source
from nearkin.wording import WarningMessage
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.outcome import NO_ROW, Outcome
from nearkin.workflows.dedup.row_places import Places

_SHOWN = 3
KEY = "DOCID"
"""Name of the column with the ids of documents that are in no load file."""


@dataclass(frozen=True, slots=True)
class OverlaySource:
    """A load file of the input, and its rows in the result."""

    path: Path
    source: Source
    rows: I64


def write_overlays(
    out: Path,
    vendor: Vendor,
    outcome: Outcome,
    places: Places,
    options: DedupOptions,
    sources: Sequence[Source],
    *,
    encoding: str,
    progress: Progress,
) -> list[str]:
    """Write the overlays; return their names, those of the load files first.

    Parameters
    ----------
    out : Path
        Directory of the run.
    vendor : Vendor
    outcome : Outcome
    places : Places
        Its sources are numbers in ``sources``.
    options : DedupOptions
    sources : sequence of Source
    encoding : str
        Encoding with which the load files were read.
    progress : Progress

    Raises
    ------
    OutputError
        A control number cannot be written in the dialect of its load file.
    SourceError
        A load file cannot be read again.
    """
    owner = places.source[: len(outcome.keep)]
    row_of = _rows(outcome, places, options)
    is_load = np.array([source.format == LOAD_FILE for source in sources], np.bool_)
    others = np.flatnonzero(~is_load[owner]) if len(sources) else np.zeros(0, np.int64)
    outside = {one.group for one in map(row_of, others.tolist()) if one.is_principal}
    names: list[str] = []
    for number, source in enumerate(sources):
        if source.format != LOAD_FILE:
            continue
        rows = np.flatnonzero(owner == number)
        path = Path(source.path)
        names.append(
            _overlay_of_load_file(out, names, vendor, OverlaySource(path, source, rows), row_of, encoding, progress)
        )
        if outside and (found := Counter(one.group for one in map(row_of, rows.tolist()) if one.group in outside)):
            progress.say(outside_sentence(source.name, found))
    if len(others):
        names.append(_overlay_of_others(out, names, vendor, places, others, row_of))
    return names


def check_controls(sources: Sequence[Source], encoding: str) -> None:
    """Refuse load files of which no overlay can be made, before anything is compared.

    Raises
    ------
    SourceError
        See `check_control`.
    """
    for source in sources:
        if source.format != LOAD_FILE or source.path == STDIN:
            continue
        try:
            with open(source.path, "rb", buffering=0) as raw:
                check_control(cast(BinaryIO, raw), source, encoding)
        except OSError as error:
            raise unreadable(source.name, error) from error


def _rows(outcome: Outcome, places: Places, options: DedupOptions) -> Callable[[int], OverlayRow]:
    """Return a function that returns the fields of a row."""
    n = len(outcome.keep)
    has = outcome.principal != NO_ROW
    size = np.bincount(outcome.principal[has], minlength=n)
    rows = np.arange(n, dtype=np.uint32)
    in_group = has & ((outcome.principal != rows) | (size[:n] >= 2))
    number = {int(row): i for i, row in enumerate(np.unique(outcome.principal[in_group]).tolist(), 1)}
    copied = np.unique(outcome.copy_of[outcome.copy_of != NO_ROW])
    copy_number = {int(row): i for i, row in enumerate(copied.tolist(), 1)}
    measure = f"{options.measure.name} {options.shingle}"
    ids, given = places.names, places.ids

    def row_of(row: int) -> OverlayRow:
        known = OverlayRow(reason=REASONS[int(outcome.reason[row])], measure=measure)
        stands_for = row if outcome.copy_of[row] == NO_ROW else int(outcome.copy_of[row])
        known = replace(known, copy_number=copy_number.get(stands_for, 0))
        if not in_group[row]:
            return known
        principal = int(outcome.principal[row])
        name = given[principal].as_py()
        similarity = float(outcome.similarity[row])
        return replace(
            known,
            group=ids[principal].as_py() if name is None else str(name),
            group_number=number[principal],
            is_principal=principal == row,
            similarity=1.0 if principal == row and math.isnan(similarity) else similarity,
        )

    return row_of


def _overlay_of_load_file(
    out: Path,
    taken: Sequence[str],
    vendor: Vendor,
    one: OverlaySource,
    row_of: Callable[[int], OverlayRow],
    encoding: str,
    progress: Progress,
) -> str:
    """Write the overlay of a load file, with its control numbers unchanged as keys."""
    try:
        raw = one.path.open("rb", buffering=0)
    except OSError as error:
        raise SourceError(f"Cannot read {one.source.name} again: {error.strerror}.") from error
    with raw:
        controls = controls_of(cast(BinaryIO, raw), one.source, encoding)
        name = _free(taken, ".csv" if controls.dialect.is_csv else ".dat")
        repeated: list[str] = []
        with published(out / name) as aside, open(aside, "wb") as file:
            writer = LoadFileWriter(file, controls.dialect)
            writer.write([controls.column, *vendor.fields])
            for control, row in _each(controls, one, repeated):
                writer.write([control, *vendor.values(row_of(row))])
    progress.say(f"overlay of {one.source.name}: {out / name}, {controls.dialect.in_words()}")
    if repeated:
        n_repeated = counted(
            len(repeated), "record that repeats a control number", "records that repeat control numbers"
        )
        lacking = f"{one.source.name}: the overlay lacks {n_repeated}: {first_of(repeated, _SHOWN)}"
        progress.say(WarningMessage(lacking))
    return name


def _each(controls: Controls, one: OverlaySource, repeated: list[str]) -> Iterator[tuple[str, int]]:
    """Yield each control number with its row; records without one, or with a repeated one, cannot be overlaid."""
    seen: set[str] = set()
    rows = iter(one.rows.tolist())
    for control in controls:
        row = next(rows, None)
        if row is None:
            raise SourceError(f"{one.source.name} changed while it was read. Run the command again.")
        if control is None or not control.strip():
            continue
        if control in seen:
            repeated.append(control)
            continue
        seen.add(control)
        yield control, row


def _overlay_of_others(
    out: Path, taken: Sequence[str], vendor: Vendor, places: Places, rows: I64, row_of: Callable[[int], OverlayRow]
) -> str:
    """Write the overlay of the documents that are in no load file, as CSV in UTF-8."""
    name = _free(taken, ".csv")
    ids, names = places.own_ids, places.names
    with published(out / name) as aside, open(aside, "w", encoding="utf-8", newline="") as file:
        writer = SheetWriter(file, line_end="\r\n")
        writer.write([KEY, *vendor.fields])
        for row in rows.tolist():
            given = ids[row].as_py()
            writer.write([names[row].as_py() if given is None else str(given), *vendor.values(row_of(row))])
    return name


def _free(taken: Sequence[str], suffix: str) -> str:
    """Return the next free name: overlay.dat, overlay-2.dat, and so on."""
    name, number = f"overlay{suffix}", 1
    while name in taken:
        number += 1
        name = f"overlay-{number}{suffix}"
    return name
