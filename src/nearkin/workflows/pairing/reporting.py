"""Pairs → report page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nearkin.formats import parquet
from nearkin.kernels.hashing import GOLDEN
from nearkin.manifests.pairs import SIDES, PairsManifest, Side
from nearkin.records import F64, I64, U64
from nearkin.reports.dedup import RunNote
from nearkin.reports.facts.fact import Table
from nearkin.reports.pages import problems_table
from nearkin.reports.pairs import PairRow, TermRow, render_pairs_report
from nearkin.runs.run import JobRun

N_BEST = 100
N_OTHERS = 50
N_REMARKS = 20
_RESULTS = ("pairs.parquet", "pairs.tsv", "documents.parquet", "known.tsv")
_AT_ONCE = 1 << 16
_NONE = np.iinfo(np.uint64).max


def render_page(run: JobRun, manifest: PairsManifest) -> str:
    """Return ``report.html``, from the finished tables of a run."""
    best, others = shown_pairs(run.results)
    note = RunNote.now(run.results, run.meter.elapsed_s, _RESULTS)
    return render_pairs_report(
        manifest,
        best=best,
        others=others,
        remarks=_remarks(run.results / "documents.parquet"),
        run=replace(note, files=(*note.files, "manifest.json")),
    )


def shown_pairs(folder: Path) -> tuple[list[PairRow], list[PairRow]]:
    """Return the most similar pairs, and one from each step of the cosine below them, in descending order."""
    with parquet.open_table(folder / "pairs.parquet") as file:
        best, least, greatest = _most_similar(file)
        if file.metadata.num_rows - len(best) <= N_OTHERS:
            others = np.setdiff1d(np.arange(file.metadata.num_rows), best)
        else:
            others = _one_a_step(file, best, least, greatest)
        rows = np.sort(np.concatenate([best, others]))
        pairs = pairs_at(file, rows)
    by_step = dict(zip(rows.tolist(), _named(pairs, folder / "documents.parquet"), strict=True))
    return [by_step[row] for row in best.tolist()], sorted(
        (by_step[row] for row in others.tolist()), key=lambda pair: -pair.cosine
    )


def _most_similar(file: pq.ParquetFile) -> tuple[I64, float, float]:
    rows, cosines, least = np.zeros(0, np.int64), np.zeros(0), 1.0
    for first, part in _cosines(file):
        least = min(least, float(part.min()))
        rows = np.concatenate([rows, np.arange(first, first + len(part))])
        cosines = np.concatenate([cosines, part])
        order = np.lexsort((rows, -cosines))[:N_BEST]
        rows, cosines = rows[order], cosines[order]
    return rows, least, float(cosines[-1]) if len(cosines) else least


def _one_a_step(file: pq.ParquetFile, best: I64, least: float, greatest: float) -> I64:
    """Return one row from each step between two cosines: arbitrary but reproducible."""
    chosen, keys = np.zeros(N_OTHERS, np.int64), np.full(N_OTHERS, _NONE, np.uint64)
    for first, cosines in _cosines(file):
        rows = np.arange(first, first + len(cosines))
        is_other = np.isin(rows, best, invert=True)
        rows, cosines = rows[is_other], cosines[is_other]
        steps = ((cosines - least) / max(greatest - least, 1e-12) * N_OTHERS).astype(np.int64).clip(0, N_OTHERS - 1)
        mixed: U64 = (rows.astype(np.uint64) + np.uint64(1)) * GOLDEN
        order = np.lexsort((mixed, steps))
        distinct_steps, places = np.unique(steps[order], return_index=True)
        rows, mixed = rows[order][places], mixed[order][places]
        is_less = mixed < keys[distinct_steps]
        chosen[distinct_steps[is_less]], keys[distinct_steps[is_less]] = rows[is_less], mixed[is_less]
    return np.asarray(chosen[keys != _NONE])


def _cosines(file: pq.ParquetFile) -> Iterator[tuple[int, F64]]:
    first = 0
    for batch in file.iter_batches(_AT_ONCE, columns=["cosine"]):
        if len(batch):
            yield first, batch["cosine"].to_numpy()
        first += len(batch)


def pairs_at(file: pq.ParquetFile, rows: I64) -> pa.Table:
    """Return the pairs of ``pairs.parquet`` at ascending rows."""
    tables = [file.schema_arrow.empty_table()]
    first = 0
    for group in range(file.metadata.num_row_groups):
        end = first + file.metadata.row_group(group).num_rows
        rows_here = rows[(rows >= first) & (rows < end)]
        if len(rows_here):
            tables.append(file.read_row_group(group).take(pa.array(rows_here - first)))
        first = end
    return pa.concat_tables(tables)


def _named(pairs: pa.Table, documents: Path) -> list[PairRow]:
    names: dict[tuple[str, int], str] = {}
    with parquet.open_table(documents) as file:
        for batch in file.iter_batches(_AT_ONCE, columns=["side", "row", "name"]):
            for side in SIDES:
                is_wanted = pc.is_in(batch["row"], pairs[f"{side}_row"].combine_chunks())
                own = batch.filter(pc.and_(pc.equal(batch["side"], side), is_wanted))
                names |= {(side, document["row"]): document["name"] for document in own.to_pylist()}
    return [
        PairRow(
            names["left", pair["left_row"]],
            names["right", pair["right_row"]],
            pair["cosine"],
            tuple(TermRow(term["term"], term["left_term"], term["share"]) for term in pair["terms"]),
        )
        for pair in pairs.to_pylist()
    ]


def _remarks(path: Path) -> dict[Side, Table]:
    counts: dict[Side, int] = dict.fromkeys(SIDES, 0)
    rows: dict[Side, list[tuple[str, str, str]]] = {side: [] for side in SIDES}
    with parquet.open_table(path) as file:
        for batch in file.iter_batches(_AT_ONCE, columns=["side", "name", "source", "line", "problem"]):
            odd = batch.filter(pc.is_valid(batch["problem"]))
            for side in SIDES:
                odd_documents = odd.filter(pc.equal(odd["side"], side))
                counts[side] += len(odd_documents)
                rows[side] += map(_problem, odd_documents.slice(0, N_REMARKS - len(rows[side])).to_pylist())
    return {side: problems_table(rows[side], counts[side]) for side in SIDES if counts[side]}


def _problem(row: Mapping[str, str | int]) -> tuple[str, str, str]:
    where = row["source"] if row["name"] == row["source"] else f"{row['source']}:{row['line']}"
    return str(where), str(row["name"]), str(row["problem"])
