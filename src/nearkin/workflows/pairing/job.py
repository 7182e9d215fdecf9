"""Search for similar documents of two corpora, from files to a directory of results."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nearkin.engines.local import LOCAL, Engine
from nearkin.errors import ParameterError
from nearkin.manifests.pairs import SIDES, PairCounts, PairPlanRecord, PairsManifest, SideFacts, SideRecord, TableRecord
from nearkin.options.pairs import PairOptions
from nearkin.planning.pairs.search import PairSearch
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.run import JobRun
from nearkin.stages.translation.table import TranslationTable
from nearkin.workflows.pairing.collecting import Collected, collect
from nearkin.workflows.pairing.inputs import (
    PairEngine,
    PairInput,
    Prepared,
    opened,
    prepare,
    read_table,
    say_which_side,
)
from nearkin.workflows.pairing.known import check_known, is_of_links, judge, known_pairs, told_of
from nearkin.workflows.pairing.planning import plan_search
from nearkin.workflows.pairing.searching import FoundPairs, KeptSearch, search
from nearkin.workflows.pairing.tables import KnownPairs, Ranked, Terms, write_documents, write_known, write_pairs
from nearkin.workflows.pairing.vectors import PairVectors, weigh_here
from nearkin.workflows.reading.exceptions import EXCEPTIONS_FILE, write_exceptions
from nearkin.workflows.reading.identity import check_unchanged, digested_sides, fingerprint_of, input_file
from nearkin.workflows.reading.on_spark.tasks import check_can_be_shared
from nearkin.workflows.reading.request import not_read_files
from nearkin.workflows.reading.texts import Texts, damaged_files
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from nearkin.engines.spark.session import Cluster


def pair_files(
    given: PairInput,
    out: Path,
    options: PairOptions,
    known: str | None = None,
    *,
    resume: bool = False,
    overwrite: bool = False,
    report: bool = True,
    resources: Resources,
    progress: Progress | None = None,
    engine: Engine = LOCAL,
) -> PairsManifest:
    """Find the similar pairs of two corpora, and write them into a directory."""
    run = JobRun(out, Meter(progress or Silent()))
    _check(given, known)
    table = read_table(given.table, given.left_language, given.right_language)
    sides = opened(given, table, run.progress)
    texts: dict[str, Texts] = dict(zip(SIDES, sides))
    fingerprint = {**_fingerprint(given, texts, table, options), "engine": engine.name}
    with (
        run.claimed(fingerprint, resume=resume, overwrite=overwrite),
        engine_of(engine, given, texts, run, resources) as worker,
    ):
        arrays = arrays_of(run)
        shutil.rmtree(arrays, ignore_errors=True)  # of a run that was killed
        try:
            arrays.mkdir()
            prepared = prepare(
                sides, table, options, arrays, resources=resources, meter=run.meter, collecting=worker.collect,
                weighing=worker.weigh,
            )  # fmt: skip
            say_which_side(prepared, options, run.progress)
            if engine.name == "local":  # tasks on a cluster find passages in copies of the options
                options.ignored.say_not_found(run.progress.say)
            record = _searched(given, prepared, known, options, run, resources=resources, engine=worker)
            left, right = (
                replace(record.side(name), not_read=not_read_files(side.not_read)) for name, side in zip(SIDES, sides)
            )
            record = replace(record, left=left, right=right)
            exceptions = [
                line
                for name, side, read in zip(SIDES, sides, (prepared.left, prepared.right), strict=True)
                for line in side.exception_lines(
                    read.documents, resources, run.meter,
                    [input_file(one) for one in worker.records[name]] if worker.records else None,
                )
            ]  # fmt: skip
            write_exceptions(run.results / EXCEPTIONS_FILE, exceptions)
            if report:
                record = _report(run, record)
            # files that threads read were compared when they had read them
            check_unchanged(chain.from_iterable(worker.records.values()), has_many=True)
            return run.finish(record)
        finally:  # making them again is faster than checking them; search results are kept
            shutil.rmtree(arrays, ignore_errors=True)


def _report(run: JobRun, record: PairsManifest) -> PairsManifest:
    from nearkin.workflows.pairing.reporting import render_page

    return run.report(record, lambda manifest: render_page(run, manifest))


def _searched(
    given: PairInput,
    prepared: Prepared,
    known_from: str | None,
    options: PairOptions,
    run: JobRun,
    *,
    resources: Resources,
    engine: PairEngine,
) -> PairsManifest:
    """Search the vectors and write the tables."""
    vectors, meter = prepared.vectors, run.meter
    known = None
    if known_from is not None:
        languages = given.right_language, prepared.table.origin.target if prepared.table else None
        sides = prepared.left, prepared.right
        rules = given.left.rules
        known = known_pairs(known_from, *sides, languages[0] or languages[1], meter, takes_damaged=rules.takes_damaged)
    plan = plan_search(vectors, options, resources=resources, meter=meter)
    found = engine.search(vectors, plan.search, options)
    pairs = Ranked.of(found)
    told = None if known is None else told_of(known, pairs, vectors, resources.n_threads)
    _write(run.results, prepared, pairs, told, options, meter)
    return replace(
        build(given, prepared, plan, found, pairs, options),
        engine=engine.about,
        known=judge(known, told, pairs) if known is not None and told is not None else None,
    )


def _check(given: PairInput, known: str | None) -> None:
    check_known(known)
    if given.table is None and (given.left_language or (given.right_language and not is_of_links(known))):
        raise ParameterError(
            "Languages need a translation table or links in 'known': give one of them, or omit left_language and "
            "right_language."
        )


def _fingerprint(
    given: PairInput, sides: Mapping[str, Texts], table: TranslationTable | None, options: PairOptions
) -> dict[str, object]:
    """Return everything that decides the pairs."""
    encodings = {"left_encoding": given.left.encoding, "right_encoding": given.right.encoding}
    fingerprint = table.fingerprint if table else None
    sizes = {f"{name}_max_document_bytes": getattr(given, name).rules.max_document_bytes for name in ("left", "right")}
    limits, ocr = given.left.rules.limits.given, given.left.rules.ocr
    return {
        "command": "pairs", "parameters": options.in_words(), "table": fingerprint,
        **encodings, **sizes,
        **{side: fingerprint_of(texts.sources) for side, texts in sides.items()},
        **({"extraction_limits": limits} if limits else {}), **({"ocr": ocr} if ocr else {}),
    }  # fmt: skip


def _write(
    folder: Path, prepared: Prepared, pairs: Ranked, known: KnownPairs | None, options: PairOptions, meter: Meter
) -> None:
    terms = Terms(prepared.vectors, (prepared.left, prepared.right), prepared.translation, options.n_terms)
    sides = prepared.left, prepared.right
    with meter.stage("write", 0, "steps"):
        write_pairs(folder, pairs, sides, terms, None if known is None else known.keys)
        write_documents(folder / "documents.parquet", pairs, sides, prepared.vectors)
        if known is not None:
            write_known(folder / "known.tsv", known, sides)


def build(
    given: PairInput,
    prepared: Prepared,
    plan: PairPlanRecord,
    found: FoundPairs,
    pairs: Ranked,
    options: PairOptions,
) -> PairsManifest:
    """Return the manifest without the results for known pairs."""
    table, vectors = prepared.table, prepared.vectors
    return PairsManifest(
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
        plan=plan,
        counts=PairCounts(
            pairs=len(pairs),
            pairs_at_threshold=None if options.top else len(found),  # other pairs are not kept
            left_with_pairs=len(np.unique(pairs.left)),
            right_with_pairs=len(np.unique(pairs.right)),
            comparisons=found.n_comparisons,
            candidates=found.n_candidates,
        ),
        histogram={"from": 0.0, "step": 0.05, "counts": _histogram(found)},
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


def _threads(run: JobRun, resources: Resources) -> PairEngine:
    def find(vectors: PairVectors, way: PairSearch, options: PairOptions) -> FoundPairs:
        return search(
            vectors, way, options.threshold, top=options.top, seed=options.seed, threads=resources.n_threads,
            meter=run.meter, kept=KeptSearch(run.work / "search.arrow"),
        )  # fmt: skip

    work = arrays_of(run)
    return PairEngine(
        collect=partial(collect, work=work, threads=resources.n_threads, meter=run.meter),
        weigh=partial(weigh_here, work=work, meter=run.meter),
        search=find,
    )


def engine_of(
    engine: Engine,
    given: PairInput,
    sides: Mapping[str, Texts],
    run: JobRun,
    resources: Resources,
) -> AbstractContextManager[PairEngine]:
    """Return the search of an engine."""

    def on_cluster(chosen: Cluster) -> AbstractContextManager[PairEngine]:
        from nearkin.workflows.pairing.on_spark.job import engine_on

        for texts in sides.values():
            check_can_be_shared(texts.sources)
        records = digested_sides({side: texts.sources for side, texts in sides.items()}, run, resources)
        return engine_on(chosen, given, records, run.work / "cluster", arrays_of(run), run.meter)

    return engine.choose(local=lambda: nullcontext(_threads(run, resources)), cluster=on_cluster)


def arrays_of(run: JobRun) -> Path:
    """Return the folder of words, counts and vectors while in use."""
    return run.work / "arrays"
