"""Search for similar documents of two corpora, from files to a directory of results."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.engines.local import LOCAL, Engine
from nearkin.errors import ParameterError, SourceError
from nearkin.kernels.buffers import strings
from nearkin.manifests.pairs import (
    SIDES,
    KnownFound,
    PairCounts,
    PairPlanRecord,
    PairsManifest,
    SideFacts,
    SideRecord,
    TableRecord,
)
from nearkin.nouns import counted
from nearkin.options.pairs import PairOptions
from nearkin.planning.pairs.search import PairSearch
from nearkin.records import F64, U64
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.run import JobRun
from nearkin.stages.documents.readers.wikipedia import interwiki_links
from nearkin.stages.search.stretches import keys_of, rows_of
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
from nearkin.workflows.pairing.planning import plan_search
from nearkin.workflows.pairing.searching import FoundPairs, KeptSearch, cosines_of, search
from nearkin.workflows.pairing.tables import KnownPairs, Ranked, Terms, write_documents, write_known, write_pairs
from nearkin.workflows.pairing.vectors import PairVectors, weigh_here
from nearkin.workflows.reading.on_spark.tasks import check_can_be_shared
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.reading.rereading import (
    check_unchanged,
    digested_sides,
    fingerprint_of,
    input_file,
    undigested_files,
)
from nearkin.workflows.reading.sheets import read_sheet
from nearkin.workflows.reading.texts import EXCEPTIONS_FILE, Texts, damaged_files, write_exceptions
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
    table = read_table(given.table, given.right_language)
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
                replace(record.side(name), not_read=side.not_read or None) for name, side in zip(SIDES, sides)
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
            check_unchanged(chain.from_iterable(worker.records.values()))
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
    vectors, meter = prepared.vectors, run.meter
    known = None
    if known_from is not None:
        languages = given.right_language, prepared.table.origin.target if prepared.table else None
        sides = prepared.left, prepared.right
        rules = given.left.rules
        known = known_pairs(known_from, *sides, languages[0] or languages[1], meter, takes_damaged=rules.takes_damaged)
    plan = plan_search(vectors, options, resources=resources, meter=meter)
    found_pairs = engine.search(vectors, plan.search, options)
    pairs = Ranked.of(found_pairs)
    told = None if known is None else told_of(known, pairs, vectors, resources.n_threads)
    _write(run.results, prepared, pairs, told, options, meter)
    return replace(
        build(given, prepared, plan, found_pairs, pairs, options),
        engine=engine.about,
        known=judge(known, told, pairs) if known is not None and told is not None else None,
    )


def _check(given: PairInput, known: str | None) -> None:
    check_known(known)
    if given.table is None and given.right_language and not is_of_links(known):
        raise ParameterError("needs a translation table, or links in 'known'.", parameter="right_language")


def _fingerprint(
    given: PairInput, sides: Mapping[str, Texts], table: TranslationTable | None, options: PairOptions
) -> dict[str, object]:
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
    found_pairs: FoundPairs,
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
        left=_side(prepared.left, vectors.left_facts, given.left),
        right=_side(prepared.right, vectors.right_facts, given.right),
        plan=plan,
        counts=PairCounts(
            pairs=len(pairs),
            pairs_at_threshold=None if options.top else len(found_pairs),  # other pairs are not kept
            left_with_pairs=len(np.unique(pairs.left)),
            right_with_pairs=len(np.unique(pairs.right)),
            comparisons=found_pairs.n_comparisons,
            candidates=found_pairs.n_candidates,
        ),
        histogram={"from": 0.0, "step": 0.05, "counts": _histogram(found_pairs)},
    )


def _side(collected: Collected, facts: SideFacts, request: ReadingRequest) -> SideRecord:
    return SideRecord(
        **asdict(facts),
        encoding=request.encoding,
        reading=request.as_read(),
        inputs=undigested_files(collected.inputs, collected.documents["source"]),
        damaged_files=damaged_files([collected.documents]),
    )


def _histogram(found_pairs: FoundPairs) -> tuple[int, ...]:
    counts, _ = np.histogram(found_pairs.cosine, np.linspace(0.0, 1.0, 21))
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


SAME_IDS, LINKS = "same-ids", "links"
_SHOWN = 60
BINS = 10
"""Bins of the figure: cosines in steps of 0.1, as in the article."""


@dataclass(frozen=True, slots=True)
class Known:
    """Pairs of documents known to belong together.

    Parameters
    ----------
    keys : uint64 array, shape (n_pairs,)
        Ascending: the left row in the upper 32 bits of each, the right row in the lower.
    """

    told_by: str
    keys: U64
    n_told: int

    def __len__(self) -> int:
        return len(self.keys)


def is_of_links(known: str | None) -> bool:
    """Whether known pairs are links between editions of Wikipedia: in the dump, or in a file of SQL."""
    return known == LINKS or (known is not None and known.endswith((".sql", ".sql.gz")))


def check_known(known: str | None) -> None:
    """Refuse what names no known pairs, before anything is read."""
    if known not in (None, SAME_IDS, LINKS) and not Path(str(known)).exists():
        raise ParameterError.of("known", f"{SAME_IDS}, {LINKS}, or an existing file of pairs", known)


def known_pairs(
    known: str, left: Collected, right: Collected, language: str | None, meter: Meter, *, takes_damaged: bool
) -> Known:
    """Return the known pairs, of links those to the edition in ``language``."""
    if known == SAME_IDS:
        return known_by_id(left, right)
    if not is_of_links(known):
        return known_by_file(Path(known), left, right)
    if language is None:
        raise ParameterError("the language of the right side is not known: give right_language.", parameter="known")
    langlinks = None if known == LINKS else Path(known)
    with meter.stage("links", 0, "bytes") as progress:
        return known_by_links(left, right, language, langlinks, progress, takes_damaged=takes_damaged)


def known_by_id(left: Collected, right: Collected) -> Known:
    """Return the documents that have the same id on both sides."""
    ids = [_ids(left), _ids(right)]
    place = pc.index_in(ids[0], value_set=ids[1])
    rows = np.flatnonzero(place.is_valid().to_numpy(zero_copy_only=False))
    if not len(rows):
        first, second = (shortened(doc_id[0].as_py()) for doc_id in ids)
        raise ParameterError(
            f"known={SAME_IDS!r}: left={left.name!r} and right={right.name!r} have no id in common ({first}, "
            f"{second}, …). Name the columns with 'left_id' and 'right_id', or give a file of pairs of "
            "ids."
        )
    return Known("equal ids", keys_of(rows, place.drop_null().to_numpy().astype(np.int64)), len(rows))


def known_by_file(path: Path, left: Collected, right: Collected) -> Known:
    """Return pairs of ids from the first two columns of a Parquet, CSV or TSV file."""
    try:
        sheet = read_sheet(path, "utf-8", lambda names: range(min(2, len(names))))
    except SourceError as error:
        error.parameter = "known"
        raise
    if len(sheet.names) < 2:
        raise SourceError(f"{path} must have two columns: left ids and right ids. Got fewer.", parameter="known")
    sides = left, right
    is_pair = sheet.first is not None and all(
        _ids(side).index(value).as_py() >= 0 for side, value in zip(sides, sheet.first)
    )
    header = () if sheet.first is None or is_pair else sheet.names[:2]
    sheet = sheet.without_header() if is_pair else sheet
    columns = [strings([sheet.text(place, row) for row in range(len(sheet.rows))]) for place in (0, 1)]
    return _by_ids(str(path), columns, left, right, header=header)


def known_by_links(
    left: Collected,
    right: Collected,
    language: str,
    langlinks: Path | None,
    progress: Progress,
    *,
    takes_damaged: bool = False,
) -> Known:
    """Return the pairs of articles that the left Wikipedia dump links to the other edition.

    Parameters
    ----------
    langlinks
        Dump of the table ``langlinks``, which holds the links since 2013; None: use the links in the articles.
    """
    dumps = [Path(source.path) for source in left.inputs if source.format == "wikipedia"]
    if not dumps:
        raise ParameterError(f"left={left.name!r} is not a Wikipedia dump and has no such links.", parameter="known")
    tables = [
        interwiki_links(dump, language, langlinks=langlinks, takes_damaged=takes_damaged, progress=progress.advance)
        for dump in dumps
    ]
    links = pa.concat_tables(tables)
    columns = [links[name].combine_chunks() for name in ("title", "other")]
    return _by_ids("links between editions", columns, left, right)


def judge(known: Known, told: KnownPairs, pairs: Ranked) -> KnownFound:
    """Judge how many known pairs were found."""
    n_found = int((told.ranks > 0).sum())
    n_reported = int(np.isin(pairs.left, rows_of(known.keys)[0]).sum())
    cosines = told.cosines[~np.isnan(told.cosines)]
    return KnownFound(
        told_by=known.told_by,
        n_told=known.n_told,
        n_known=len(known),
        n_comparable=len(cosines),
        n_found=n_found,
        n_first=int((told.ranks == 1).sum()),
        recall=_share(n_found, len(known)),
        n_pairs=len(pairs),
        precision_of_all_pairs=_share(n_found, len(pairs)),
        n_pairs_of_known_left=n_reported,
        precision_of_known_left=_share(n_found, n_reported),
        mean_cosine=round(float(cosines.mean()), 6) if len(cosines) else None,
        histogram=histogram(cosines),
    )


def told_of(known: Known, pairs: Ranked, vectors: PairVectors, threads: int) -> KnownPairs:
    """Return each known pair with its cosine, and its rank among the reported pairs."""
    left, right = rows_of(known.keys)
    is_there = (vectors.left.sizes[left] > 0) & (vectors.right.sizes[right] > 0)
    cosines = np.full(len(known), np.nan)
    cosines[is_there] = cosines_of(vectors, known.keys[is_there], threads)
    ranks = np.zeros(len(known), np.int64)
    keys = keys_of(pairs.left, pairs.right)
    place = np.searchsorted(known.keys, keys)
    is_known = np.isin(keys, known.keys)
    ranks[place[is_known]] = pairs.rank[is_known]
    return KnownPairs(known.keys, cosines, ranks)


def histogram(cosines: F64) -> tuple[int, ...]:
    """Count the cosines in each step of 0.1 from 0 to 1; 1 belongs to the last."""
    counts, _ = np.histogram(cosines, np.linspace(0.0, 1.0, BINS + 1))
    return tuple(counts.tolist())


def _by_ids(
    name: str, columns: Sequence[pa.Array], left: Collected, right: Collected, *, header: Sequence[str] = ()
) -> Known:
    places = []
    for side, column in zip((left, right), columns, strict=True):
        ids = _ids(side)
        places.append(pc.index_in(column, value_set=ids).fill_null(-1).to_numpy().astype(np.int64))
    is_there = (places[0] >= 0) & (places[1] >= 0)
    if not is_there.any():
        shown = " and ".join(shortened(column[0].as_py()) for column in columns) if len(columns[0]) else "nothing"
        taken = f" Its first line, {' and '.join(map(shortened, header))}, was taken as a header." if header else ""
        called = [shortened(_ids(side)[0].as_py()) if len(_ids(side)) else "nothing" for side in (left, right)]
        raise SourceError(
            f"{name}: none of its {counted(len(is_there), 'pair')} has documents on both sides (the first is {shown})."
            f"{taken} The first documents are {called[0]} on the left and {called[1]} on the right. If "
            "these are not your ids, name the columns of the ids."
        )
    return Known(name, np.unique(keys_of(places[0][is_there], places[1][is_there])), len(is_there))


def shortened(text: str) -> str:
    """Return an id, shortened for a message."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def _ids(side: Collected) -> pa.LargeStringArray:
    return side.documents["name"].combine_chunks()


def _share(n: int, of: int) -> float | None:
    return round(n / of, 6) if of else None
