"""Audit of a finished run of ``nearkin dedup``: a sample compared with the whole input, by the measure of the run.

Exact copies are one text, as in the run: digests find all of them, so counting them would inflate the recall.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.engines.local import map_ordered
from nearkin.formats import parquet
from nearkin.manifests.dedup import TEXTLESS_REASONS, DedupManifest
from nearkin.nouns import counted
from nearkin.planning.audit import AuditEstimate, ProposedSample, estimate_recall, propose_samples, says_too_little
from nearkin.records import F64, I64, Bool, ShingleSets
from nearkin.reports.quantities import criterion_text
from nearkin.runs.finished import damage_of, damage_of_options
from nearkin.runs.progress import Progress
from nearkin.stages.documents.formats import FORMATS, StoredFormat
from nearkin.stages.documents.preparing import prepare
from nearkin.stages.search.inverted import InvertedSets
from nearkin.workflows.auditing.audited import Audited, AuditOptions, MissedPairs
from nearkin.workflows.auditing.reported import (
    AGAIN,
    ReportedAcross,
    ReportedWithin,
    TruePairs,
    damaged_results,
    n_documents_in_pairs,
)
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.reading.identity import changed
from nearkin.workflows.reading.kept_documents import stored_source
from nearkin.workflows.reading.memory_documents import NONE_GIVEN, GivenAgain
from nearkin.workflows.reading.rereading import Reread, reread

SHINGLES_AT_A_TIME = 1 << 24
"""Maximum shingles of sampled documents in memory; for a larger sample the input is read once per part."""
_SHINGLE_S = 2e-6  # measured: approximate time per shingle of the sample that occurs in the input
_COLUMNS = ("name", "reason", "copy_of_row", "n_characters", "n_shingles")
Comparable = tuple[I64, pa.RecordBatch, ShingleSets]
"""Rows, prepared documents and their shingles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """Finished run, with its input for a second reading.

    Parameters
    ----------
    directory : Path
    options : DedupOptions
    names : LargeStringArray, shape (n_inputs,)
    rows : int64 array
        Ascending: the documents with a text; in a run without another collection one for each text.
    n_characters, n_shingles : int64 arrays, shape (n_inputs,)
    inputs : Reread
    others : Reread or None
        The other collection, if the run has one.
    """

    directory: Path
    options: DedupOptions
    names: pa.LargeStringArray
    rows: I64
    n_characters: I64
    n_shingles: I64
    inputs: Reread
    others: Reread | None

    @classmethod
    def load(
        cls,
        directory: Path,
        manifest: DedupManifest,
        in_memory: GivenAgain = NONE_GIVEN,
        *,
        threads: int,
        progress: Progress,
    ) -> StoredRun:
        """Load a run from its directory.

        Raises
        ------
        RunError
            The run is damaged.
        SourceError
            Its input is missing or changed.
        """
        with damage_of(directory, AGAIN):
            with damage_of_options(directory, AGAIN):
                options = DedupOptions.of(**manifest.options_in_words)
            _check_inputs(directory, manifest)
            table = _documents(directory / "documents.parquet")
            how = manifest.encoding, manifest.reading
            again = partial(
                reread, stored=partial(stored_source, in_memory=in_memory), threads=threads, progress=progress
            )
            inputs = again(manifest.inputs, *how)
            others = again(manifest.against, *how) if manifest.against else None
            if others is not None:
                inputs, others = inputs.apart_from(others)
            if inputs.n_documents != len(table):
                raise damaged_results(directory, "documents.parquet and manifest.json describe different inputs")
            stands = pc.invert(pc.is_in(table["reason"], pa.array(TEXTLESS_REASONS)))
            if others is None:
                stands = pc.and_(stands, table["copy_of_row"].is_null())
            rows = np.flatnonzero(stands.to_numpy(zero_copy_only=False))
            n_characters, n_shingles = (table[name].to_numpy() for name in ("n_characters", "n_shingles"))
            names = table["name"].combine_chunks()
        return cls(
            directory=directory,
            options=options,
            names=names,
            rows=rows,
            n_characters=n_characters,
            n_shingles=n_shingles,
            inputs=inputs,
            others=others,
        )

    def slices(self, sample: I64) -> Iterator[slice]:
        """Yield parts of a sample whose shingles fit in memory, each at least one document."""
        running, start = np.cumsum(self.n_shingles[sample]), 0
        while start < len(sample):
            before = int(running[start - 1]) if start else 0
            end = max(start + 1, int(np.searchsorted(running, before + SHINGLES_AT_A_TIME, side="right")))
            yield slice(start, end)
            start = end

    def shingled(self, item: tuple[I64, pa.RecordBatch, str]) -> Comparable:
        """Return documents of the input, prepared as in the run.

        Raises
        ------
        SourceError
            The length of a document has changed.
        """
        rows, batch, name = item
        prepared = prepare(batch, self.options.normalise, source_name=name)
        self.inputs.check_lengths(rows, self.n_characters[rows], prepared["n_characters"])
        return rows, prepared, self.options.shingle.sets(prepared["text"])


def _check_inputs(directory: Path, manifest: DedupManifest) -> None:
    for one in (*manifest.inputs, *manifest.against):
        if not one.path or one.format not in (*FORMATS, *get_args(StoredFormat)):
            raise damaged_results(directory, f"an input has the path {one.path!r} and the format {one.format!r}")


def _documents(path: Path) -> pa.Table:
    with parquet.open_table(path) as file:
        return file.read(columns=list(_COLUMNS))


def audit_run(
    directory: Path,
    manifest: DedupManifest,
    options: AuditOptions,
    progress: Progress,
    in_memory: GivenAgain = NONE_GIVEN,
) -> Audited:
    """Compare a sample of a run's documents with all others, and look the pairs up in its results.

    Raises
    ------
    RunError, SourceError
        See `audit.audit`.
    """
    started = time.perf_counter()
    run = StoredRun.load(directory, manifest, in_memory, threads=options.threads, progress=progress)
    sample = options.drawn(run.rows)
    missed, n_true, n_found = MissedPairs(), np.zeros(len(sample)), np.zeros(len(sample))
    for part in run.slices(sample):
        counts = _audit_part(run, sample, part, missed, options.threads, progress)
        n_true[part], n_found[part] = counts
    chosen, command = run.options, manifest.command
    across = ", one in the input and one in the other set" if run.others else ""
    estimate, elapsed_s = estimate_recall(n_true, n_found, n_population=len(run.rows)), time.perf_counter() - started
    return Audited(
        what=f"nearkin {command}, {directory}",
        pairs=f"different texts with {criterion_text(chosen.in_words())}{across}",
        similarity=chosen.measure.name,
        estimate=estimate,
        missed=missed.table(),
        elapsed_s=round(elapsed_s, 3),
        predicted_recall=manifest.estimated_recall,
        expected_by="estimated",
        drawn="documents with a text" if run.others else "distinct texts",
        is_truncated=missed.is_truncated,
        notes=_notes(manifest),
        proposed=_proposed(run, estimate, sample, elapsed_s),
    )


def _proposed(run: StoredRun, estimate: AuditEstimate, sample: I64, elapsed_s: float) -> tuple[ProposedSample, ...]:
    """Suggest samples for a better estimate; the costs are reading the input per part, and shared shingles."""
    mean = float(run.n_shingles[run.rows].mean()) if len(run.rows) else 0.0
    n_now = int(run.n_shingles[sample].sum())

    def elapsed_of(n_documents: int) -> float:
        n_then = n_documents * mean
        reading_s = max(elapsed_s - n_now * _SHINGLE_S, 0.0) / math.ceil(max(n_now, 1) / SHINGLES_AT_A_TIME)
        return reading_s * math.ceil(max(n_then, 1) / SHINGLES_AT_A_TIME) + n_then * _SHINGLE_S

    if not says_too_little(estimate):
        return ()
    share = n_documents_in_pairs(run.directory, is_across=run.others is not None) / max(len(run.rows), 1)
    return propose_samples(estimate, elapsed_of, share_with_pairs=share)


def _notes(manifest: DedupManifest) -> tuple[str, ...]:
    notes = []
    if n_copies := manifest.count("exact_copy"):
        notes.append(f"{counted(n_copies, 'exact copy', 'exact copies')}, which a run always finds: not counted")
    if n_skipped := manifest.count("pairs_not_compared"):
        notes.append(
            f"the run did not compare up to {counted(n_skipped, 'pair')} of texts that share a "
            "key with very many others, so it predicts no recall"
        )
    return tuple(notes)


def _audit_part(
    run: StoredRun, whole: I64, part: slice, missed: MissedPairs, threads: int, progress: Progress
) -> tuple[F64, F64]:
    """Return the true pairs of sampled documents and how many of them were found; collect the missed ones.

    A pair of two sampled documents counts half for each.
    """
    sample = whole[part]
    index, digests = _index(run, sample, threads, progress)
    reported: ReportedWithin | ReportedAcross
    if run.others is None:
        reported = ReportedWithin(run.directory, run.names, run.rows, sample)
    else:
        reported = ReportedAcross(run.directory, run.names, sample, digests)
    names = run.names.take(pa.array(sample)).to_pylist()
    n_true, n_found, n_met = np.zeros(len(sample)), np.zeros(len(sample)), 0
    for pairs in _true_pairs(run, index, threads, progress):
        is_pair, was_found, others = reported.judge(pairs)
        weight = np.where(np.isin(pairs.row, whole), 0.5, 1.0) if run.others is None else np.ones(len(pairs))
        for counts, which in ((n_true, is_pair), (n_found, is_pair & was_found)):
            counts += np.bincount(pairs.sampled[which], weight[which], minlength=len(sample))
        n_met += int((is_pair & was_found).sum())
        lost = np.flatnonzero(is_pair & ~was_found).tolist()
        missed.take((names[pairs.sampled[i]], others[i], float(pairs.similarity[i])) for i in lost)
    if n := reported.n_unconfirmed(n_met):
        raise damaged_results(run.directory, f"{n:,} of its pairs are not similar enough according to the input")
    return n_true, n_found


def _index(run: StoredRun, sample: I64, threads: int, progress: Progress) -> tuple[InvertedSets, list[bytes]]:
    """Return the shingles of the sample, and the digests of its texts."""
    progress.start("read sample", run.inputs.size_bytes, "bytes")
    hashes, n_units, sizes, digests = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)], [np.zeros(1, np.int64)], []
    for _, prepared, sets in map_ordered(run.shingled, run.inputs.batches(progress, sample), threads=threads):
        hashes.append(sets.hashes)
        n_units.append(sets.n_units)
        sizes.append(sets.sizes)
        digests += prepared["digest"].to_pylist()
    progress.finish()
    offsets = np.cumsum(np.concatenate(sizes))
    sets = ShingleSets(np.concatenate(hashes), offsets, np.concatenate(n_units), run.options.shingle.fingerprint)
    if len(digests) != len(sample) or not np.array_equal(sets.sizes, run.n_shingles[sample]):
        raise changed("The input")
    return InvertedSets.of(sets), digests


def _true_pairs(run: StoredRun, index: InvertedSets, threads: int, progress: Progress) -> Iterator[TruePairs]:
    """Compare the sample with everything, part by part, and yield the similar pairs."""
    side = run.others or run.inputs
    wanted = run.rows if run.others is None else None
    options, text = run.options, pa.large_string()

    def compare(item: tuple[I64, pa.RecordBatch, str]) -> TruePairs:
        rows, batch, name = item
        if run.others is None:
            rows, prepared, sets = run.shingled(item)
        else:
            prepared = prepare(batch, options.normalise, source_name=name)
            sets = options.shingle.sets(prepared["text"])
        shared = index.shared(sets)
        similarity = options.measure.similarity(shared)
        alike: Bool = options.is_match(shared)
        chosen = prepared.take(pa.array(shared.right[alike]))
        left, right = shared.left[alike].astype(np.int64), rows[shared.right[alike]]
        lines = chosen["line"].cast(text)
        places = pc.binary_join_element_wise(side.source_names(right), lines, pa.scalar(":", text))
        return TruePairs(
            sampled=left,
            row=right,
            ids=chosen["doc_id"],
            places=places,
            digests=chosen["digest"],
            similarity=similarity[alike],
        )

    progress.start("compare", side.size_bytes, "bytes")
    yield from map_ordered(compare, side.batches(progress, wanted), threads=threads)
    progress.finish()
