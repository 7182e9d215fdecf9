"""Audit of a finished run of ``nearkin dedup``: a sample compared with the whole input, by the measure of the run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.engines.local import map_ordered
from nearkin.formats import parquet
from nearkin.manifests.dedup import TEXTLESS_REASONS, DedupManifest
from nearkin.nouns import counted
from nearkin.options.dedup import DedupOptions
from nearkin.records import F64, I64, U64, ShingleSets
from nearkin.reports.quantities import criterion_text
from nearkin.runs.progress import Progress
from nearkin.runs.run import damage_of, damaged_run
from nearkin.stages.documents.normalisation import prepare
from nearkin.stages.search.inverted import InvertedSets
from nearkin.stages.search.stretches import keys_of
from nearkin.workflows.auditing.audited import Audited, AuditOptions, PairTally
from nearkin.workflows.reading.rereading import NONE_GIVEN, GivenAgain, Reread, changed, reread

SHINGLES_AT_A_TIME = 1 << 24
"""Shingles of sampled documents in memory; for a larger sample the input is read once per part."""
_SHINGLE_S = 2e-6  # measured: approximate time per shingle of the sample that occurs in the input
_COLUMNS = ("name", "reason", "copy_of_row", "n_shingles")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """Finished run, with its input for a second reading.

    Parameters
    ----------
    names : LargeStringArray, shape (n_rows,)
        Names of the documents, those of the other set after those of the input.
    rows : int64 array
        Ascending: the documents of the input with a text; in a run without another set one for each text.
    """

    directory: Path
    options: DedupOptions
    names: pa.LargeStringArray
    n_shingles: I64
    rows: I64
    inputs: Reread
    others: Reread | None

    @classmethod
    def load(
        cls, directory: Path, manifest: DedupManifest, in_memory: GivenAgain, *, threads: int, progress: Progress
    ) -> StoredRun:
        """Load a run from its directory."""
        with damage_of(directory):
            options = DedupOptions.of(manifest.options_in_words)
            documents = parquet.read_table(directory / "documents.parquet", _COLUMNS)
            again = partial(
                reread, encoding=manifest.encoding, reading=manifest.reading, in_memory=in_memory, threads=threads,
                progress=progress,
            )  # fmt: skip
            inputs, others = again(manifest.inputs), again(manifest.against) if manifest.against else None
            stands = pc.invert(pc.is_in(documents["reason"], pa.array(TEXTLESS_REASONS)))
            tables = [documents.select(["name"])]
            if others is None:
                stands = pc.and_(stands, documents["copy_of_row"].is_null())
            else:
                tables.append(parquet.read_table(directory / "against.parquet", tables[0].column_names))
            everything = pa.concat_tables(tables)
        return cls(
            directory=directory,
            options=options,
            names=everything["name"].combine_chunks(),
            n_shingles=documents["n_shingles"].to_numpy(),
            rows=np.flatnonzero(stands.to_numpy(zero_copy_only=False)),
            inputs=inputs,
            others=others,
        )

    @property
    def side(self) -> Reread:
        """Documents with which the sample is compared."""
        return self.others or self.inputs

    @property
    def first(self) -> int:
        """Row of the first of these documents."""
        return 0 if self.others is None else len(self.n_shingles)

    def shingled(self, side: Reread, first: int, item: tuple[I64, pa.RecordBatch, str]) -> Shingled:
        """Return documents of a side, prepared as in the run."""
        rows, batch, name = item
        prepared = prepare(batch, self.options.normalise, source_name=name)
        return rows + first, prepared["digest"], self.options.shingle.sets(prepared["text"])


Shingled = tuple[I64, pa.FixedSizeBinaryArray, ShingleSets]
"""Rows of documents, the digests of their texts, and their shingles."""
TruePairs = tuple[I64, I64, F64]
"""Places in the sample, rows of the other documents, similarities."""


def audit_run(
    directory: Path,
    manifest: DedupManifest,
    options: AuditOptions,
    progress: Progress,
    in_memory: GivenAgain = NONE_GIVEN,
) -> Audited:
    """Compare a sample of a run's documents with all others, and look the pairs up in its results."""
    started = time.perf_counter()
    run = StoredRun.load(directory, manifest, in_memory, threads=options.threads, progress=progress)
    sample = options.drawn(run.rows)
    tally, n_with_pairs = PairTally(len(sample), is_across=run.others is not None), 0
    lot = np.cumsum(run.n_shingles[sample]) // SHINGLES_AT_A_TIME
    for places in np.split(np.arange(len(sample)), np.flatnonzero(np.diff(lot)) + 1) if len(sample) else ():
        n_with_pairs = _audit_part(run, sample, places, tally, options.threads, progress)
    across = ", one in the input and one in the other set" if run.others else ""
    n_texts = max(len(run.rows), 1)
    return tally.audited(
        n_population=len(run.rows),
        started=started,
        more_s=float(run.n_shingles[run.rows].sum()) / n_texts * _SHINGLE_S,
        share_with_pairs=n_with_pairs / n_texts,
        what=f"nearkin {manifest.command}, {directory}",
        pairs=f"different texts with {criterion_text(run.options.in_words())}{across}",
        similarity=run.options.measure.name,
        predicted_recall=manifest.estimated_recall,
        expected_by="estimated",
        drawn="documents with a text" if run.others else "distinct texts",
        notes=tuple(_notes(manifest)),
    )


def _notes(manifest: DedupManifest) -> Iterator[str]:
    if n_copies := manifest.count("exact_copy"):
        yield f"{counted(n_copies, 'exact copy', 'exact copies')}, which a run always finds: not counted"
    if n_skipped := manifest.count("pairs_not_compared"):
        yield (
            f"the run did not compare up to {counted(n_skipped, 'pair')} of texts that share a key with very many "
            "others, so it predicts no recall"
        )


def _audit_part(run: StoredRun, sample: I64, places: I64, tally: PairTally, threads: int, progress: Progress) -> int:
    part, n_found = sample[places], 0
    index, digests = _index(run, part, threads, progress)
    reported, n_with_pairs = _reported(run, part)
    for place, row, similarity in _true_pairs(run, index, part, digests, threads, progress):
        was_found = np.isin(keys_of(place, row), reported)
        n_found += int(was_found.sum())
        tally.count(places[place], was_found, np.where(np.isin(row, sample), 0.5, 1.0))
        missed = ~was_found
        names = (run.names.take(pa.array(rows[missed])).to_pylist() for rows in (part[place], row))
        tally.miss(zip(*names, similarity[missed].tolist(), strict=True))
    if run.others is None and n_found != len(reported):  # with another set, exact copies are pairs, too
        why = f"{len(reported) - n_found:,} of its pairs are not similar enough according to the input"
        raise damaged_run(run.directory, why)
    return n_with_pairs


def _reported(run: StoredRun, sample: I64) -> tuple[U64, int]:
    is_in_pair, stands = np.zeros((2, len(run.names)), np.bool_)
    stands[run.rows] = stands[len(run.n_shingles) :] = True
    keys = [np.zeros(0, np.uint64)]
    with damage_of(run.directory), parquet.open_table(run.directory / "pairs.parquet") as file:
        for batch in file.iter_batches(columns=["row_a", "row_b"]):
            left, right = (column.to_numpy() for column in batch.columns)
            is_in_pair[left] = is_in_pair[right] = True
            both = stands[left] & stands[right]
            for row, other in ((left[both], right[both]), (right[both], left[both])):
                place = np.minimum(np.searchsorted(sample, row), max(len(sample) - 1, 0))
                is_sampled = sample[place] == row
                keys.append(keys_of(place[is_sampled], other[is_sampled]))
    return np.unique(np.concatenate(keys)), int(is_in_pair[: len(run.n_shingles)].sum())


def _index(run: StoredRun, sample: I64, threads: int, progress: Progress) -> tuple[InvertedSets, list[bytes]]:
    progress.start("read sample", run.inputs.size_bytes, "bytes")
    read = map_ordered(partial(run.shingled, run.inputs, 0), run.inputs.batches(progress, sample), threads=threads)
    parts = list(read)
    progress.finish()
    index = InvertedSets.of([sets for _, _, sets in parts])
    digests = [digest for _, digests_of_part, _ in parts for digest in digests_of_part.to_pylist()]
    if len(digests) != len(sample) or not np.array_equal(index.sizes, run.n_shingles[sample]):
        raise changed("The input")
    return index, digests


def _true_pairs(
    run: StoredRun, index: InvertedSets, sample: I64, digests: Sequence[bytes], threads: int, progress: Progress
) -> Iterator[TruePairs]:
    options, seen = run.options, set(enumerate(digests))

    def compare(item: tuple[I64, pa.RecordBatch, str]) -> tuple[I64, I64, pa.Array, F64]:
        rows, row_digests, sets = run.shingled(run.side, run.first, item)
        shared = index.shared(sets)
        is_match = options.is_match(shared)
        similarity, right = options.measure.similarity(shared)[is_match], shared.right[is_match]
        return shared.left[is_match].astype(np.int64), rows[right], row_digests.take(pa.array(right)), similarity

    progress.start("compare", run.side.size_bytes, "bytes")
    items = run.side.batches(progress, run.rows if run.others is None else None)
    for place, row, row_digests, similarity in map_ordered(compare, items, threads=threads):
        counts = sample[place] != row
        if run.others is not None:  # the first document of each text counts, if it is no copy of the sampled one
            for i, key in enumerate(zip(place.tolist(), row_digests.to_pylist(), strict=True)):
                counts[i] = key not in seen
                seen.add(key)
        yield place[counts], row[counts], similarity[counts]
    progress.finish()
