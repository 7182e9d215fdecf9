"""New groups for a finished run, from its stored pairs; only a cleaned corpus is read again."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin._version import __version__
from nearkin.errors import InputError, OutputExistsError, ParameterError, RunError
from nearkin.formats import parquet
from nearkin.manifests.dedup import REASONS, DedupManifest
from nearkin.manifests.stored import InputFile, KeptFile
from nearkin.options.dedup import DedupOptions
from nearkin.paths import on_disk
from nearkin.planning.search import missed
from nearkin.records import U64, Bool, Matches
from nearkin.runs.files import published
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.run import JobRun, damage_of, damaged_run, read_results
from nearkin.stages.documents.formats import StoredFormat
from nearkin.stages.documents.source import Source
from nearkin.stages.grouping import Rule
from nearkin.stages.verification.what_differs import difference_codes
from nearkin.workflows.dedup import manifest as manifests
from nearkin.workflows.dedup.corpus import READABLE, Corpus, number_by_first
from nearkin.workflows.dedup.kept_corpus import write_kept_corpus
from nearkin.workflows.dedup.outcome import (
    NO_ROW,
    WITHOUT_TEXT,
    Judged,
    group_again,
    judge_groups,
    prefer,
    with_numbers,
)
from nearkin.workflows.dedup.plans import Plan, found_probability, plan_from_stored
from nearkin.workflows.dedup.reporting import other_page, render_page
from nearkin.workflows.dedup.row_places import FIELDS, Places
from nearkin.workflows.dedup.searching import Sizes
from nearkin.workflows.dedup.tables import write_overlay_of_run, write_tables
from nearkin.workflows.dedup.whole_families import with_whole_families
from nearkin.workflows.overlay import check_tool
from nearkin.workflows.reading.inputs import places_of_files
from nearkin.workflows.reading.rereading import check_unchanged, reread
from nearkin.workflows.reading.texts import EXCEPTIONS_FILE, ExceptionRow, read_exceptions
from nearkin.workflows.resources import Resources

COMMAND = "regroup"
_ADVICE = "Run nearkin dedup again."


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """Finished run, as its directory holds it; ``matches`` are of nodes.

    Parameters
    ----------
    numbers : uint64 array or None
        See `outcome.ignored_numbers`: here a mark of each copy whose numbers differ from those of the kept one.
    """

    manifest: DedupManifest
    options: DedupOptions
    corpus: Corpus
    sizes: Sizes
    places: Places
    matches: Matches
    plan: Plan
    numbers: U64 | None

    def by_input(self, directory: Path) -> Places:
        """Return the places with numbers of inputs as sources: two files of one name have different numbers."""
        n_documents = [given.n_documents or 0 for given in self.manifest.inputs]
        if sum(n_documents) != len(self.places.line):
            why = "manifest.json does not have the number of documents of each input"
            raise damaged_run(directory, why, _ADVICE)
        owner = np.repeat(np.arange(len(n_documents), dtype=np.int32), n_documents)
        return replace(self.places, source=owner)


def regroup(
    directory: Path,
    *,
    threshold: float,
    group: Rule | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    write_kept: bool = False,
    report: bool = True,
    overlay: str | None = None,
    progress: Progress | None = None,
) -> tuple[Path, DedupManifest]:
    """Group the documents at another threshold, or by another rule, into a separate directory."""
    meter = Meter(progress or Silent())
    if overlay is not None:
        check_tool(overlay)
    with meter.stage("load", 0, "steps"):
        earlier = load(directory)
    options = _options(earlier, directory, threshold, group)
    if out is not None and out.resolve() == directory.resolve():
        raise ParameterError(
            "--out is the run itself, which would lose pairs below the new threshold. Choose another directory."
        )
    folder = directory / f"threshold-{threshold:.15g}{f'-{group}' if group else ''}"
    run = JobRun(out or folder, meter, is_resumable=False)
    by_input = earlier.by_input(directory) if write_kept else earlier.places
    again = InputAgain.of(directory, earlier.manifest, run.path, meter) if write_kept else None
    fingerprint = {
        "command": COMMAND, "of": str(directory.resolve()), "parameters": options.in_words(),
    }  # fmt: skip
    with run.claimed(fingerprint, resume=False, overwrite=overwrite):
        is_match = options.measure.similarity(earlier.matches) >= options.threshold
        matches = earlier.matches.where(is_match)
        with run.stage("group"):
            judged = _judged(earlier, options, matches, earlier.matches.where(~is_match))
        kept = None if again is None else again.write_kept(run, by_input, judged.outcome.keep)
        with run.stage("write"):
            write_tables(run.results, earlier.corpus, earlier.sizes, judged, earlier.places)
            if (exceptions := directory / EXCEPTIONS_FILE).exists():  # the same documents have the same ones
                with published(run.results / EXCEPTIONS_FILE) as aside:
                    shutil.copyfile(exceptions, aside)
        if overlay is not None:
            formats = [given.format for given in earlier.manifest.inputs]
            write_overlay_of_run(run.results, overlay, judged.outcome, earlier.places, options, formats)
        record = replace(_manifest(earlier, options, judged, matches), kept=kept)
        if report:  # without sample texts, because the texts are not compared again
            record = run.report(
                record,
                lambda manifest: render_page(
                    run, manifest, options, corpus=earlier.corpus, judged=judged, places=earlier.places,
                    plan=earlier.plan, matches=earlier.matches, searched=earlier.options.threshold,
                    files=_files(earlier),
                ),
                instead=other_page(run.path, record),
            )  # fmt: skip
        return run.path, run.finish(record)


def _files(run: FinishedRun) -> dict[int, InputFile]:
    sides = (run.manifest.inputs, run.manifest.against)
    called = [(place, source) for side in sides for place, source in zip(places_of_files(side), side, strict=True)]
    n_called = Counter(place for place, _ in called)
    by_name = {place: source for place, source in called if n_called[place] == 1}
    return {number: by_name[name] for number, name in enumerate(run.places.source_names) if name in by_name}


def _options(run: FinishedRun, directory: Path, threshold: float, group: Rule | None) -> DedupOptions:
    if threshold < run.options.threshold:
        raise ParameterError.of(
            "threshold",
            f"at least {run.options.threshold}, the threshold of {directory}: pairs below it were not stored",
            threshold,
        )
    changed = {**run.options.in_words(), "threshold": threshold, "group": group or run.options.group}
    return DedupOptions.of(changed)


def _judged(run: FinishedRun, options: DedupOptions, matches: Matches, others: Matches) -> Judged:
    preference = prefer(run.corpus, options)
    grouping = group_again(matches, others, preference.node_order, options)
    judged = judge_groups(run.corpus, options, run.sizes, preference, matches, grouping)
    return with_whole_families(with_numbers(judged, run.numbers), run.places, options)


def load(directory: Path) -> FinishedRun:
    """Read a finished run."""
    with damage_of(directory, _ADVICE):
        try:
            stored = read_results(directory)
            manifest = DedupManifest.of(stored)
            documents = parquet.read_table(directory / "documents.parquet")
            pairs = parquet.read_table(directory / "pairs.parquet")
        except FileNotFoundError as error:
            raise RunError(
                f"{directory} holds no finished run of nearkin dedup: {Path(error.filename).name} is missing."
            ) from error
        if manifest.command in DedupManifest.commands and not stored.get("against"):
            return _understood(manifest, documents, pairs, read_exceptions(directory / EXCEPTIONS_FILE))
    if stored.get("against"):
        raise RunError(
            f"{directory} has no groups: nearkin dedup --against compares two sets and makes none. Run it again with "
            "the higher --threshold."
        )
    raise RunError(f"{directory} has no groups: it is a run of nearkin {manifest.command}, not of nearkin dedup.")


def _understood(
    manifest: DedupManifest, documents: pa.Table, pairs: pa.Table, exceptions: Sequence[ExceptionRow]
) -> FinishedRun:
    options = DedupOptions.of(manifest.options_in_words)
    corpus, sizes = _corpus(documents)
    matches = _matches(pairs, corpus, sizes)
    return FinishedRun(
        manifest=manifest,
        options=options,
        corpus=corpus,
        sizes=sizes,
        places=_places(documents, manifest.carried or (), exceptions),
        matches=matches,
        plan=plan_from_stored(manifest.plan),
        numbers=_numbers(documents, pairs) if options.normalise.ignored.numbers else None,
    )


def _numbers(documents: pa.Table, pairs: pa.Table) -> U64:
    """Mark the copies whose ignored numbers differ."""
    numbers, copy_of = np.zeros(len(documents), np.uint64), documents["copy_of_row"].fill_null(-1).to_numpy()
    others = pairs.filter(pc.equal(pairs["differs"], "numbers"))
    sides = [_rows_of(others, f"row_{side}").to_numpy() for side in "ab"]
    for copies, originals in (sides, sides[::-1]):
        numbers[copies[copy_of[copies] == originals]] = 1
    return numbers


def _corpus(documents: pa.Table) -> tuple[Corpus, Sizes]:
    reason = documents["reason"].combine_chunks()
    is_without = [pc.equal(reason, REASONS[one]).to_numpy(zero_copy_only=False) for one in WITHOUT_TEXT.values()]
    status = np.select(is_without, list(WITHOUT_TEXT), READABLE).astype(np.uint8)
    n = len(documents)
    rows = np.flatnonzero(status == READABLE)
    stands_for = np.arange(n)
    original = _rows_of(documents, "copy_of_row")
    stands_for[original.is_valid().to_numpy(zero_copy_only=False)] = original.drop_null().to_numpy()
    _, first_seen, class_of = np.unique(stands_for[rows], return_index=True, return_inverse=True)
    node, first_row = number_by_first(rows, class_of, rows[first_seen], n)
    keep_value = documents["keep_value"].to_numpy() if n else np.zeros(0)
    n_characters, n_units, n_shingles = (
        documents[name].to_numpy() for name in ("n_characters", "n_units", "n_shingles")
    )
    sizes = Sizes(n_shingles[first_row].astype(np.uint32), n_units[first_row].astype(np.uint32))
    return Corpus(
        chunks=(),
        n_inputs=n,
        status=status,
        n_characters=n_characters,
        keep_value=keep_value.astype(np.float64),
        node=node,
        first_row=first_row,
        is_against=False,
        repeated_ids=(),
    ), sizes


def _rows_of(table: pa.Table, column: str) -> pa.Array:
    rows = table[column].combine_chunks()
    if len(rows) > rows.null_count and pc.min(rows).as_py() < 0:
        raise RunError(f"The tables of the run are damaged ({column} holds a number below 0). Run nearkin dedup again.")
    return rows


def _places(documents: pa.Table, carried: Sequence[str], exceptions: Sequence[ExceptionRow]) -> Places:
    names = documents["source"].combine_chunks().dictionary_encode()
    problem = documents["problem"]
    problems = (
        {} if problem.null_count == len(problem) else {i: t for i, t in enumerate(problem.to_pylist()) if t is not None}
    )
    ids = documents["id"].combine_chunks()
    parents, parent_rows = None, np.zeros(0, np.uint32)
    if "parent" in documents.column_names:
        parents = documents["parent"].combine_chunks()
        parent_rows = documents["parent_row"].fill_null(int(NO_ROW)).to_numpy().astype(np.uint32)
    origins = None
    if "extractor" in documents.column_names:
        origins = {field.name: documents[field.name].combine_chunks() for field in FIELDS}
    return Places(
        own_ids=ids,
        ids=ids,
        names=documents["name"].combine_chunks(),
        source_names=names.dictionary.to_pylist(),
        source=names.indices.to_numpy().astype(np.int32),
        line=documents["line"].to_numpy(),
        problems=problems,
        parents=parents,
        parent_rows=parent_rows,
        origins=origins,
        exceptions=exceptions,
        carried={name: documents[name].combine_chunks() for name in carried},
    )


def _matches(pairs: pa.Table, corpus: Corpus, sizes: Sizes) -> Matches:
    a, b = (corpus.node[_rows_of(pairs, f"row_{side}").to_numpy()] for side in "ab")
    contained = pairs["containment_a_in_b"].to_numpy()
    n_a, n_b = sizes.n_shingles[a], sizes.n_shingles[b]
    n_common = np.rint(contained * n_a).astype(np.uint32)
    swap = a > b
    matches = Matches(
        np.where(swap, b, a), np.where(swap, a, b), n_common, np.where(swap, n_b, n_a), np.where(swap, n_a, n_b),
        difference_codes(pairs["differs"].combine_chunks()),
    )  # fmt: skip
    order = np.lexsort((matches.right, matches.left))
    return matches.where(order[(a != b)[order]])


def _manifest(run: FinishedRun, options: DedupOptions, judged: Judged, matches: Matches) -> DedupManifest:
    of_run = run.manifest
    n_not_compared = of_run.count("pairs_not_compared")
    # the results of an earlier regroup have a higher threshold than the search that found their pairs
    searched = run.options.threshold if of_run.searched_threshold is None else of_run.searched_threshold
    n_missed = missed(found_probability(matches, run.plan, searched))
    missed_pairs, recall = manifests.estimates(len(matches), n_missed, n_not_compared=n_not_compared)
    return replace(
        of_run,
        nearkin=__version__,
        command=COMMAND,
        parameters={**options.in_words(), "preset": None},
        fingerprint=options.fingerprint,
        found_at_threshold=searched,
        counts={**manifests.counts(judged, options), "pairs_not_compared": n_not_compared},
        estimated_missed_pairs=missed_pairs,
        estimated_recall=recall,
        engine=None,
        kept=None,
        families=None,
        memory=None,
        report_problem=None,
    )


@dataclass(frozen=True, slots=True)
class InputAgain:
    """Input of a finished run, found unchanged."""

    sources: Sequence[Source]

    @classmethod
    def of(cls, directory: Path, manifest: DedupManifest, out: Path, meter: Meter) -> InputAgain:
        """Find the input of the run in ``directory`` again, to write its cleaned corpus below ``out``."""
        _check_outside(manifest.inputs, out)
        with damage_of(directory):
            try:
                sources = reread(
                    manifest.inputs, manifest.encoding, manifest.reading, threads=Resources().n_threads,
                    progress=meter.progress,
                ).sources  # fmt: skip
            except InputError as error:
                error.args = (f"the input of {directory} cannot be read again. {error}",)
                error.parameter = "write_kept"
                raise
        if manifest.reading is not None:  # copied as by the run, to which damage may have been an error
            takes_damaged = manifest.reading.on_error == "skip"
            sources = [replace(source, takes_damaged=takes_damaged) for source in sources]
        return cls(sources)

    def write_kept(self, run: JobRun, places: Places, keep: Bool) -> tuple[KeptFile, ...]:
        """Write the cleaned corpus into the work of ``run``; the sources of ``places`` are numbers in `sources`."""
        written = write_kept_corpus(
            self.sources,
            places,
            keep,
            run.results / "kept",
            meter=run.meter,
        )
        check_unchanged(self.sources)
        return written


def _check_outside(files: Sequence[InputFile], out: Path) -> None:
    place = out.resolve()
    for file in files:
        if file.format not in get_args(StoredFormat) and Path(on_disk(file.path)).resolve().is_relative_to(place):
            raise OutputExistsError(
                f"The input {file.path} lies in {out}, which is --out: it could be replaced. Choose another --out."
            )


@dataclass(frozen=True, slots=True)
class OutcomeChanges:
    """Number of documents that a new grouping keeps, and drops, in contrast to the run."""

    n_now_kept: int
    n_now_dropped: int
    run_threshold: float | None = None


def outcome_changes(directory: Path, regrouped: Path) -> OutcomeChanges:
    """Compare the results of a run with those after regrouping."""
    before, after = _kept(directory), _kept(regrouped)
    threshold = DedupManifest.of(read_results(directory)).threshold
    return OutcomeChanges(int(np.count_nonzero(after & ~before)), int(np.count_nonzero(before & ~after)), threshold)


def _kept(directory: Path) -> Bool:
    keep = parquet.read_table(directory / "documents.parquet", ["keep"])["keep"]
    kept: Bool = pc.fill_null(keep, False).to_numpy()
    return kept
