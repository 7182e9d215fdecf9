"""Cut the groups of a finished run anew, from its stored pairs: the corpus is not read again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from nearkin._version import __version__
from nearkin.errors import MissingExtraError, ParameterError, RunError
from nearkin.planning.curve import missed
from nearkin.records import Matches
from nearkin.reports.dedup import RecallCurve, render_dedup_report
from nearkin.runs.directory import MANIFEST, RunDirectory
from nearkin.runs.files import published
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Progress, Silent
from nearkin.workflows.dedup import manifest as manifests
from nearkin.workflows.dedup.corpus import EMPTY, NO_NODE, READABLE, UNREADABLE, Corpus
from nearkin.workflows.dedup.grouping import group_texts, prefer
from nearkin.workflows.dedup.options import DedupOptions, Resources
from nearkin.workflows.dedup.outcome import GroupTable, Outcome, judge, row_matches, tabulate
from nearkin.workflows.dedup.plans import Plan, found_probability, plan_from_stored
from nearkin.workflows.dedup.reporting import BIN_EDGES, first_problems, group_sizes, largest_groups, sampling_curve
from nearkin.workflows.dedup.searching import Sizes
from nearkin.workflows.dedup.tables import Places, write_documents, write_groups, write_pairs, write_problems


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run as its directory holds it.

    Parameters
    ----------
    manifest : mapping
    options : DedupOptions
    corpus, sizes, places
        As the run had them.
    matches : Matches
        Of nodes.
    plan : Plan
    """

    manifest: Mapping[str, object]
    options: DedupOptions
    corpus: Corpus
    sizes: Sizes
    places: Places
    matches: Matches
    plan: Plan


def regroup(
    directory: Path,
    *,
    threshold: float,
    group: str | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    report: bool = True,
    progress: Progress | None = None,
) -> tuple[Path, Mapping[str, object]]:
    """Cut the groups at another threshold, or by another rule, into a directory of their own.

    Parameters
    ----------
    directory : Path
        Of a finished run.
    threshold : float
        At least the one of the run: pairs below it were not stored.
    group : {"principal", "component"}, optional
        As in the run if not given.
    out : Path, optional
        ``directory/threshold-0.9`` for a threshold of 0.9 if not given.

    Returns
    -------
    out : Path
    manifest : mapping

    Raises
    ------
    RunError
        If the directory holds no finished run of ``nearkin dedup``, or a damaged one.
    ParameterError
        If the threshold is below that of the run.
    """
    meter = Meter(progress or Silent())
    with meter.stage("load", 0, "steps"):
        run = load(directory)
    if threshold < run.options.threshold:
        raise ParameterError.of(
            "threshold",
            "regroup",
            f"at least {run.options.threshold}, at which {directory} was made: pairs below it were not stored",
            threshold,
        )
    changed = {**run.options.in_words(), "threshold": threshold, "group": group or run.options.group}
    options = DedupOptions.of(preset=None, **changed)
    if out is not None and out.resolve() == directory.resolve():
        raise ParameterError("--out is the run itself: it would lose the pairs below the new threshold. Name another.")
    target = RunDirectory(out or directory / f"threshold-{threshold:g}{f'-{group}' if group else ''}")
    identity = {"nearkin": __version__, "of": str(directory.resolve()), "parameters": options.in_words()}
    with target.claimed(identity, resume=False, overwrite=overwrite):
        with meter.stage("group", 0, "steps"):
            matches = run.matches.where(run.matches.similarity(options.measure) >= threshold)
            preference = prefer(run.corpus, options)
            grouping = group_texts(matches, preference.node_order, options, None, threads=Resources().n_threads)
            outcome = judge(run.corpus, options, run.sizes, preference, grouping)
            groups = tabulate(run.corpus, preference, grouping, outcome)
            of_rows, is_copy = row_matches(run.corpus, preference.best_row, matches, outcome.copy_of)
        with meter.stage("write", 0, "steps"):
            write_documents(target.path / "documents.parquet", run.corpus, run.sizes, outcome, run.places)
            write_pairs(target.path / "pairs.parquet", of_rows, run.places)
            write_groups(target.path / "groups.parquet", groups, run.places)
            write_problems(target.path / "problems.parquet", run.places)
        written = _manifest(run, options, outcome, groups, matches, int(is_copy.sum()))
        if report:
            _write_report(target.path / "report.html", written, run, options, outcome, groups, of_rows, meter)
        written["stages"] = manifests.stages(meter.costs)
        target.finish(written)
    return target.path, written


def load(directory: Path) -> FinishedRun:
    """Read a finished run back."""
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        documents = pq.read_table(directory / "documents.parquet")
        pairs = pq.read_table(directory / "pairs.parquet")
        if manifest.get("command") in ("dedup", "regroup") and not manifest.get("against"):
            return _understood(manifest, documents, pairs)
    except FileNotFoundError as error:
        raise RunError(
            f"{directory} holds no finished run of nearkin dedup: {Path(error.filename).name} is not there."
        ) from error
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:  # whatever a damaged file leads to
        raise RunError(
            f"The run in {directory} is damaged ({type(error).__name__}: {error}). Run nearkin dedup again."
        ) from error
    raise RunError(f"{directory} has no groups to cut anew: it is not a run of nearkin dedup, or one with --against.")


def _understood(manifest: Mapping[str, Any], documents: pa.Table, pairs: pa.Table) -> FinishedRun:
    options = DedupOptions.of(**{k: v for k, v in manifest["parameters"].items() if k != "preset"})
    corpus, sizes = _corpus(documents)
    matches = _matches(documents, pairs, corpus, sizes)
    return FinishedRun(
        manifest, options, corpus, sizes, _places(documents), matches, plan_from_stored(manifest["plan"])
    )


def _corpus(documents: pa.Table) -> tuple[Corpus, Sizes]:
    """Texts and their copies, from the columns that tell of them."""
    reason = documents["reason"].combine_chunks()
    is_unreadable, is_empty = (
        pc.equal(reason, what).to_numpy(zero_copy_only=False) for what in ("unreadable", "empty")
    )
    status = np.select([is_unreadable, is_empty], [UNREADABLE, EMPTY], READABLE).astype(np.uint8)
    n = len(documents)
    rows = np.flatnonzero(status == READABLE)
    stands_for = np.arange(n)
    original = pc.index_in(documents["copy_of"], _readable_ids(documents, rows)).combine_chunks()
    is_copy = original.is_valid().to_numpy(zero_copy_only=False)
    stands_for[is_copy] = rows[original.drop_null().to_numpy()]
    _, first_seen, class_of = np.unique(stands_for[rows], return_index=True, return_inverse=True)
    by_first = np.argsort(first_seen, kind="stable")
    number = np.empty(len(by_first), np.uint32)
    number[by_first] = np.arange(len(by_first), dtype=np.uint32)
    node = np.full(n, NO_NODE, np.uint32)
    node[rows] = number[class_of]
    first_row = rows[first_seen[by_first]].astype(np.uint32)
    keep_value = documents["keep_value"].to_numpy() if n else np.zeros(0)
    n_characters, n_units, n_shingles = (
        documents[name].to_numpy() for name in ("n_characters", "n_units", "n_shingles")
    )
    sizes = Sizes(n_shingles[first_row].astype(np.uint32), n_units[first_row].astype(np.uint32))
    return Corpus((), n, status, n_characters, keep_value.astype(np.float64), node, first_row, False, ()), sizes


def _readable_ids(documents: pa.Table, rows: NDArray[np.intp]) -> pa.Array:
    """Ids of documents with a text, each once: a repeated id belongs to an unreadable document."""
    return documents["id"].take(pa.array(rows)).combine_chunks()


def _places(documents: pa.Table) -> Places:
    names = documents["source"].combine_chunks().dictionary_encode()
    problem = documents["problem"]
    problems = (
        {} if problem.null_count == len(problem) else {i: t for i, t in enumerate(problem.to_pylist()) if t is not None}
    )
    return Places(
        documents["id"].combine_chunks(),
        names.dictionary.to_pylist(),
        names.indices.to_numpy().astype(np.int32),
        documents["line"].to_numpy(),
        problems,
    )


def _matches(documents: pa.Table, pairs: pa.Table, corpus: Corpus, sizes: Sizes) -> Matches:
    """The stored pairs of different texts, as matches of nodes.

    How many shingles two texts share follows from their containments without loss.
    """
    rows = np.flatnonzero(corpus.status == READABLE)
    ids = _readable_ids(documents, rows)
    a, b = (
        corpus.node[rows[pc.index_in(pairs[name], ids).to_numpy()]] if len(pairs) else np.zeros(0, np.uint32)
        for name in ("id_a", "id_b")
    )
    contained = (pairs["containment_a_in_b"] if len(pairs) else pa.array([], pa.float64())).to_numpy()
    n_a, n_b = sizes.n_shingles[a], sizes.n_shingles[b]
    n_common = np.rint(contained * n_a).astype(np.uint32)
    swap = a > b
    matches = Matches(
        np.where(swap, b, a), np.where(swap, a, b), n_common, np.where(swap, n_b, n_a), np.where(swap, n_a, n_b)
    )
    order = np.lexsort((matches.right, matches.left))
    return matches.where(order[(a != b)[order]])


def _manifest(
    run: FinishedRun, options: DedupOptions, outcome: Outcome, groups: GroupTable, matches: Matches, n_copies: int
) -> dict[str, object]:
    """As of the run, but for what another cut changes."""
    names = ("made_with", "inputs", "against", "seeds", "problems", "has_integer_ids", "plan")
    counts = run.manifest["counts"]
    n_not_compared = counts["pairs_not_compared"] if isinstance(counts, dict) else 0
    n_missed = missed(found_probability(matches, run.plan))
    return {
        **{name: run.manifest[name] for name in names},
        **manifests.estimates(len(matches), n_missed, n_not_compared=n_not_compared),
        "nearkin": __version__,
        "command": "regroup",
        "parameters": {**options.in_words(), "preset": None},
        "fingerprint": options.fingerprint,
        "found_at_threshold": run.options.threshold,
        "counts": {
            **manifests.counts(outcome, groups, n_pairs=len(matches), n_pairs_of_copies=n_copies),
            "pairs_not_compared": n_not_compared,
        },
    }


def _write_report(
    path: Path,
    written: Mapping[str, object],
    run: FinishedRun,
    options: DedupOptions,
    outcome: Outcome,
    groups: GroupTable,
    matches: Matches,
    meter: Meter,
) -> None:
    """The page, without samples: the texts are not read again."""
    with meter.stage("report", 0, "steps") as progress:
        try:
            page = render_dedup_report(
                written,
                similarity_bin_edges=BIN_EDGES.tolist(),
                similarity_counts=np.histogram(matches.similarity(options.measure), BIN_EDGES)[0].tolist(),
                group_size_counts=group_sizes(groups),
                largest_groups=largest_groups(groups, outcome, run.places),
                samples=[],
                problems=first_problems(run.places),
                n_problems=len(run.places.problems),
                curve=_curve(written, run, options),
            )
        except MissingExtraError as error:
            progress.say(f"{error}. Everything else is written.")
            return
        with published(path) as aside:
            aside.write_text(page, encoding="utf-8")


def _curve(written: Mapping[str, object], run: FinishedRun, options: DedupOptions) -> RecallCurve | None:
    """How likely the run was to find the pairs at this threshold and above, where it sampled shingles."""
    plan = written.get("plan")
    if not isinstance(plan, Mapping) or "rate" not in plan:
        return None
    matches = run.matches.where(run.matches.similarity(options.measure) >= options.threshold)
    return sampling_curve(plan["rate"], matches, run.sizes.n_shingles)
