"""Audit of a run or a collection."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.errors import FingerprintError, ParameterError, RunError, SourceError
from nearkin.formats import parquet
from nearkin.manifests.dedup import FAMILIES_OF_COLLECTION, DedupManifest
from nearkin.manifests.pairs import SIDES, PairsManifest, SideRecord, TableRecord
from nearkin.options.pairs import PairOptions
from nearkin.records import F64, I64, U64
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.run import MANIFEST, WORK, damage_of, read_results
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.search.stretches import keys_of, rows_of
from nearkin.stages.translation.table import TranslationTable
from nearkin.store.place import FILE, Place
from nearkin.workflows.auditing.audited import Audited, AuditOptions, PairTally
from nearkin.workflows.auditing.collection import audit_collection
from nearkin.workflows.auditing.run import audit_run
from nearkin.workflows.pairing.inputs import prepare, read_table
from nearkin.workflows.pairing.searching import best_of_each, candidates_by_vectors, cosines_of, reaches
from nearkin.workflows.pairing.vectors import PairVectors
from nearkin.workflows.reading.rereading import NONE_GIVEN, GivenAgain, reread
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources

Manifest = DedupManifest | PairsManifest
AUDITED: dict[str, type[Manifest]] = {
    command: kind for kind in (DedupManifest, PairsManifest) for command in kind.commands
}
"""Manifests of runs that can be audited, by command."""
RUNS = "nearkin dedup, regroup and pairs, and of nearkin families on files"
"""The same runs, for people."""


def audit(
    place: str | Path,
    options: AuditOptions | None = None,
    progress: Progress | None = None,
    in_memory: GivenAgain = NONE_GIVEN,
) -> Audited:
    """Measure the recall of a finished run or of a collection's searches, by comparing a sample with everything."""
    options, progress = options or AuditOptions(), progress or Silent()
    if is_collection(place):
        return audit_collection(place, options, progress)
    directory = Path(place)
    manifest = _manifest(directory)
    if options.tolerance is not None:
        raise ParameterError(
            f"The run in {directory} is audited at its own threshold. Only collections take 'measure' "
            f"and {options.tolerance.parameter!r}."
        )
    if isinstance(manifest, PairsManifest):
        return audit_pairs(directory, manifest, options, progress, in_memory)
    return audit_run(directory, manifest, options, progress, in_memory)


def is_collection(place: str | Path) -> bool:
    """Whether a place is a collection, not the directory of a run."""
    directory = Place.parse(place).directory
    return directory is None or (directory / FILE).exists()


def what_holds(command: object) -> str:
    """Say which results a directory holds."""
    if command == FAMILIES_OF_COLLECTION:
        return "holds the form groups of a collection"
    return f"holds the results of nearkin {command}"


def _manifest(directory: Path) -> Manifest:
    if not (directory / MANIFEST).exists() and not (directory / WORK).exists():
        why = f"{MANIFEST} and {FILE} are missing" if directory.exists() else "there is no such directory"
        raise RunError(f"{directory} holds neither a finished run nor a collection: {why}.")
    stored = read_results(directory)
    command = stored.get("command")
    if not isinstance(command, str) or command not in AUDITED:
        audited = ", which cannot be audited" if isinstance(command, str) else ""
        raise RunError(f"{directory} {what_holds(command)}{audited}. Audit a collection, or the results of {RUNS}.")
    with damage_of(directory):
        return AUDITED[command].of(stored)


def audit_pairs(
    directory: Path,
    manifest: PairsManifest,
    options: AuditOptions,
    progress: Progress,
    in_memory: GivenAgain = NONE_GIVEN,
) -> Audited:
    """Compare a sample of the left side with the whole right side, and look the pairs up in the results."""
    started, meter = time.perf_counter(), Meter(progress)
    with damage_of(directory):
        chosen = PairOptions.of(manifest.parameters)
        left, right = (_texts(manifest.side(side), in_memory, options.threads) for side in SIDES)
        columns = parquet.read_table(directory / "pairs.parquet", ["left_row", "right_row"])
        table = None if manifest.table is None else _table(manifest.table)
    with tempfile.TemporaryDirectory(prefix="nearkin-audit-") as work:
        resources = Resources(options.threads)
        prepared = prepare((left, right), table, chosen, Path(work), resources=resources, meter=meter)
        vectors = prepared.vectors
        if vectors.fingerprint != manifest.fingerprint:
            raise FingerprintError(
                f"{directory} was made by another method than that of this version of Nearkin: "
                f"{manifest.fingerprint!r} and {vectors.fingerprint!r}. Run the command again."
            )
        population = np.flatnonzero(vectors.left.sizes)
        sample = options.drawn(population)
        keys, cosines = _true_pairs(vectors, sample, chosen, meter, options.threads)
        was_found = np.isin(keys, keys_of(*(column.to_numpy() for column in columns.columns)))
        tally = PairTally(len(sample), is_across=True)
        tally.count(np.searchsorted(sample, rows_of(keys)[0]), was_found)
        missed = zip((prepared.left, prepared.right), rows_of(keys[~was_found]), strict=True)
        names = [side.documents["name"].take(pa.array(rows)).to_pylist() for side, rows in missed]
        tally.miss(zip(*names, cosines[~was_found].tolist(), strict=True))
    best = "" if not chosen.top else f", the best {'one' if chosen.top == 1 else chosen.top} of each left document"
    predicted = manifest.plan.predicted
    return tally.audited(
        n_population=len(population),
        started=started,
        what=f"nearkin pairs, {directory}",
        pairs=f"a document of each side with a cosine ≥ {chosen.threshold}{best}",
        similarity="cosine",
        predicted_recall=predicted.recall_low,
        predicted_high=predicted.recall_high,
        claims_all=predicted.recall_low >= 1,
    )


def _texts(side: SideRecord, in_memory: GivenAgain, threads: int) -> Texts:
    again = reread(side.inputs, side.encoding, side.reading, in_memory=in_memory, threads=threads, progress=Silent())
    return Texts(again.inputs, ReadingRules(on_error="skip", max_unreadable=1.0))


def _table(record: TableRecord) -> TranslationTable:
    table = read_table(Path(record.path), record.target)
    if table is None or table.fingerprint != record.fingerprint:
        raise SourceError(
            f"The translation table {record.path} has changed since the run read it. Restore it, or run nearkin pairs "
            "again."
        )
    return table


def _true_pairs(vectors: PairVectors, sample: I64, chosen: PairOptions, meter: Meter, threads: int) -> tuple[U64, F64]:
    with meter.stage("compare", len(sample) * len(vectors.right), "pairs") as progress:
        parts = candidates_by_vectors(vectors, sample, chosen.threshold, threads=threads, advance=progress.advance)
        keys = np.sort(np.concatenate([np.zeros(0, np.uint64), *parts]))
        cosines = cosines_of(vectors, keys, threads)
    is_near = reaches(cosines, chosen.threshold)
    keys, cosines = keys[is_near], cosines[is_near]
    if chosen.top is not None:
        best = best_of_each(keys, cosines, chosen.top)
        keys, cosines = keys[best], cosines[best]
    return keys, cosines
