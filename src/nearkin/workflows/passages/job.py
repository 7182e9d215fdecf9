"""Passages of files that stand in several places: from arguments to a directory of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearkin.engines.local import LOCAL, Engine
from nearkin.errors import ParameterError
from nearkin.manifests.stored import PassageCounts, PassagesManifest
from nearkin.nouns import counted
from nearkin.options.dedup import DedupOptions
from nearkin.options.families import PassageDelivery, PassageOptions
from nearkin.paths import STDIN
from nearkin.records import I64
from nearkin.runs.files import make_work_folder, published
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.run import JobRun
from nearkin.runs.spool import SPOOL, Spool, array_in, mapped_batch, save_arrays
from nearkin.stages.documents.sources import Source, SourceSet
from nearkin.stages.passages.windows import BYTES_A_WINDOW, Windows
from nearkin.workflows.dedup.corpus import READABLE, UNREADABLE, survey
from nearkin.workflows.dedup.files import check_read_once, find_sources
from nearkin.workflows.dedup.kept_corpus import carried_columns, carried_name, check_carry
from nearkin.workflows.dedup.reading import read_all
from nearkin.workflows.dedup.row_places import check_problems, check_readable, extraction_counts, locate
from nearkin.workflows.passages.contamination import FoundItem, write_contaminations
from nearkin.workflows.passages.reporting import (
    Found,
    Written,
    items_table,
    write_boilerplate,
    write_corpora,
    write_page,
)
from nearkin.workflows.passages.searching import SpooledTexts, Tokens, find_windows, read_words
from nearkin.workflows.passages.tables import (
    OriginalTexts,
    Passages,
    RepeatedCharacters,
    boilerplate,
    write_documents,
    write_passages,
)
from nearkin.workflows.reading.inputs import inputs_of, places_in, sides_apart
from nearkin.workflows.reading.request import ReadingRequest, is_one_collection
from nearkin.workflows.reading.rereading import check_unchanged, digested_sides, fingerprint_of, input_file
from nearkin.workflows.reading.texts import EXCEPTIONS_FILE, damaged_files, exception_lines, write_exceptions
from nearkin.workflows.resources import Resources

if TYPE_CHECKING:
    from nearkin.engines.spark.session import Cluster

COMMAND = "passages"
BOILERPLATE_FILE = "boilerplate.txt"
_AS_READ = DedupOptions(normalise="none", keep="first")
"""Texts are spooled as they are, in the order of the arguments, which decides which copy is the first."""


def passages_files(
    request: ReadingRequest,
    out: Path,
    options: PassageOptions,
    *,
    against: ReadingRequest | None = None,
    delivery: PassageDelivery,
    resources: Resources,
    progress: Progress | None = None,
    engine: Engine = LOCAL,
) -> PassagesManifest:
    """Find the passages of documents that stand in several places, and write them into a directory."""
    run = JobRun(out, Meter(progress or Silent()))
    resolved, others = find_sources(request, against, run.path, _AS_READ, run.progress)
    is_read_once = _check_sources(request, resolved, others, options, engine, resume=delivery.resume)
    run = replace(run, is_resumable=not is_read_once)
    fingerprint = {
        "command": COMMAND, "parameters": options.in_words(), "encoding": request.encoding,
        "max_document_bytes": request.rules.max_document_bytes, "inputs": fingerprint_of(resolved.sources),
        "against": fingerprint_of(others.sources), "engine": engine.name,
    }  # fmt: skip
    with run.claimed(fingerprint, resume=delivery.resume, overwrite=delivery.overwrite):
        records = digested_sides({"inputs": resolved.sources, "against": others.sources}, run, resources)
        fields = () if against is None else _fields(against)
        sides = records["inputs"], None if against is None else records["against"]
        result, cluster = _find(request, *sides, fields, options, run, resources, engine)
        write_passages(
            run.results / "passages.parquet", result.passages, result.places, result.texts.n_inputs,
            is_against=against is not None,
        )  # fmt: skip
        items = list[FoundItem]()
        if against is not None:
            items = write_contaminations(
                run.results / "contamination.parquet", result.texts, result.windows, result.flags, result.places,
                fields,
            )  # fmt: skip
        written = write_corpora(result, resolved.sources, request, options, run)
        write_documents(
            run.results / "documents.parquet", result.shares, result.places, is_emptied=written.is_emptied,
            keep=written.keep,
        )  # fmt: skip
        proposed = boilerplate(result.passages, _groups(result, options), options.boilerplate)
        if proposed:
            with published(run.results / BOILERPLATE_FILE) as aside:
                write_boilerplate(aside, result.passages, proposed, result.corpus.chunks)
        files, other_files = ([*map(input_file, sources)] for sources in records.values())
        lines = exception_lines(
            result.places.exceptions, result.places.source_names, dict(enumerate([*files, *other_files]))
        )
        write_exceptions(run.results / EXCEPTIONS_FILE, lines)
        n_by_source = np.bincount(result.places.source, minlength=len(files) + len(other_files)).tolist()
        with_counts = [
            replace(file, n_documents=n) for file, n in zip([*files, *other_files], n_by_source, strict=True)
        ]
        manifest = PassagesManifest(
            parameters=options.in_words(), inputs=tuple(with_counts[: len(files)]),
            against=None if against is None else tuple(with_counts[len(files) :]), encoding=request.encoding,
            engine=cluster, reading=request.as_read(), counts=_counts(result, written, len(proposed), len(items)),
            written=written.files or None,
            extraction=extraction_counts(result.places.origins, result.places.exceptions),
            damaged_files=damaged_files([result.places.unreadable()]) or None,
            not_read=tuple(dict.fromkeys((*resolved.not_read, *others.not_read))) or None,
        )  # fmt: skip
        check_unchanged(chain.from_iterable(records.values()))
        if delivery.report:
            manifest = write_page(run, manifest, result, items_table(items, fields, result.places))
        if options.store:
            _store(result, resolved.sources[0], options.min_words)
        return run.finish(manifest)


def _check_sources(
    request: ReadingRequest,
    sources: SourceSet,
    others: SourceSet,
    options: PassageOptions,
    engine: Engine,
    *,
    resume: bool,
) -> bool:
    """Refuse options that do not fit the sources; return whether a source can be read only once."""
    if options.store and (others.sources or options.min_lines is not None or not is_one_collection(request)):
        raise ParameterError("is for one collection as the input, without against or min_lines.", parameter="store")
    if options.within is not None:
        check_carry((options.within,), sources.sources, "within")
    if engine.name != "local":
        from nearkin.workflows.reading.on_spark.tasks import check_can_be_shared

        check_can_be_shared(sources.sources + others.sources)
    if all(source.path != STDIN for source in sources.sources + others.sources):
        return False
    again = {name: getattr(options, name) for name in ("cut", "drop_over", "annotate")}
    check_read_once(sources.sources, others.sources, again, resume=resume)
    return True


def _find(
    request: ReadingRequest,
    mine: Sequence[Source],
    others: Sequence[Source] | None,
    fields: Sequence[str],
    options: PassageOptions,
    run: JobRun,
    resources: Resources,
    engine: Engine,
) -> tuple[Found, Mapping[str, object] | None]:
    """Read the documents, and find their passages; also return the record of the cluster."""
    inputs = inputs_of(mine, carry=() if options.within is None else (options.within,))
    other_inputs = () if others is None else inputs_of(others, carry=fields if len(fields) > 1 else ())
    if others is not None:
        inputs, other_inputs = sides_apart(inputs, other_inputs)
    everything = [*inputs, *other_inputs]

    def read_here() -> SpooledTexts:
        spool = Spool(run.work / SPOOL)
        with run.stage("read", sum(part.size_bytes for part in everything), "bytes") as progress:
            reads = read_all(
                everything, spool, _AS_READ, rules=request.rules, threads=resources.n_threads, progress=progress
            )
        return SpooledTexts(
            chunks=spool.chunks(), n_inputs=sum(read.n_documents for read in reads[: len(inputs)]),
            id_kinds=[read.id_kind for read in reads], tokens_of=partial(Tokens.of, options=options),
        )  # fmt: skip

    def read_on_cluster(cluster: Cluster) -> SpooledTexts:
        from nearkin.engines.spark import stages
        from nearkin.workflows.passages.on_spark import read_by_tasks

        with stages.stages_on(cluster, run.work, run.meter) as on_cluster:
            return read_by_tasks(
                on_cluster, everything, len(inputs), run.work, _AS_READ, options, rules=request.rules,
                progress=run.progress,
            )  # fmt: skip

    spooled = engine.choose(local=read_here, cluster=read_on_cluster)
    n_inputs, kinds = spooled.n_inputs, spooled.id_kinds
    corpus = survey(spooled.chunks, n_inputs, is_against=others is not None)
    places = locate(corpus, places_in(everything), kinds[: len(inputs)], kinds[len(inputs) :])
    check_problems(places, request.rules)
    check_readable(corpus, places, request.rules)
    if options.within is not None:
        places = replace(places, carried=carried_columns((options.within,), corpus.chunks, n_inputs))
    chunks = sorted(corpus.chunks, key=lambda chunk: (chunk.start < n_inputs, chunk.start))
    make_work_folder(run.work / "words")
    words, fingerprints = read_words(
        chunks, spooled.tokens_of, run.work / "words", options.length, resources, run.meter
    )
    stored = run.work / "windows.arrow"
    if not stored.exists():
        save_arrays(stored, _arrays(find_windows(words, fingerprints, run.work, options.length, resources, run.meter)))
    batch = mapped_batch(stored)
    arrays: Any = {name: array_in(batch, name, stored) for name in batch.schema.names}
    windows = Windows(length=options.length, starts=words.starts, **arrays)
    _check_memory(len(windows.places), resources)
    if others is not None:
        windows = windows.across(len(corpus) - n_inputs)
    with run.stage("passages"):
        texts = OriginalTexts(chunks=chunks, words=words, n_inputs=n_inputs, n_others=len(corpus) - n_inputs)
        flags = windows.flags()
        passages = Passages.of(texts, windows, flags)
        shares = RepeatedCharacters.of(texts, corpus, windows, flags, passages)
    found = Found(
        corpus=corpus, places=places, texts=texts, passages=passages, shares=shares, windows=windows, flags=flags
    )
    return found, spooled.engine


def _fields(against: ReadingRequest) -> list[str]:
    return [name.strip() for name in (against.text or "text").split(",")]


def _store(result: Found, source: Source, min_words: int) -> None:
    from nearkin.collection.stored.passages import PassagesOfTexts
    from nearkin.workflows.reading.collection_documents import CollectionDocuments

    documents, passages, parts = getattr(source, "documents", None), result.passages, result.passages.parts
    if not isinstance(documents, CollectionDocuments):
        return
    places = PassagesOfTexts(
        n_documents=passages.documents, passage=passages.passage, content=documents.contents[parts.row],
        start=parts.start, end=parts.end,
    )  # fmt: skip
    with documents.opened() as store:
        store.refuse_read_only()
        places.store(store, min_words=min_words, end_content=int(documents.contents.max(initial=-1)) + 1)


def _check_memory(n_windows: int, resources: Resources) -> None:
    needed = BYTES_A_WINDOW * n_windows
    if needed > resources.memory_bytes:
        raise ParameterError(
            f"{counted(n_windows, 'repeated word')} need about {needed >> 20:,} MiB. Allow it, and continue with "
            f"resume, or raise min_words. Got: {resources.memory_bytes >> 20:,} MiB",
            parameter="memory",
        )


def _arrays(windows: Windows) -> Mapping[str, np.ndarray]:
    return {"places": windows.places, "first": windows.first, "counts": windows.counts}


def _groups(result: Found, options: PassageOptions) -> I64:
    n = result.texts.n_inputs
    group: I64 = np.zeros(n, np.int64)
    if options.within is not None:
        values = result.places.carried[carried_name(options.within)].dictionary_encode()
        group = values.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.where(result.corpus.status[:n] == READABLE, group, -1)


def _counts(result: Found, written: Written, n_boilerplate: int, n_items: int) -> PassageCounts:
    n, shares, passages = result.texts.n_inputs, result.shares, result.passages
    is_readable = result.corpus.status[:n] != UNREADABLE
    return PassageCounts(
        documents=n,
        others=result.texts.n_others,
        unreadable=int((~is_readable).sum()),
        too_short=int((is_readable & (shares.n_words < result.windows.length)).sum()),
        with_passages=int((shares.n_passages > 0).sum()),
        passages=len(passages),
        occurrences=len(passages.passage),
        inside_one_document=int((passages.documents == 1).sum()),
        longest_words=int(passages.words.max(initial=0)),
        most_documents=int(passages.documents.max(initial=0)),
        characters=int(shares.characters.sum()),
        repeated_characters=int(shares.repeated.sum()),
        copied_characters=int(shares.copied.sum()),
        own_characters=int(shares.own.sum()),
        boilerplate=n_boilerplate,
        items_found=n_items if result.corpus.is_against else None,
        cut_characters=None if written.cuts is None else int((written.cuts.end - written.cuts.start).sum()),
        emptied=None if written.is_emptied is None else int(written.is_emptied[:n].sum()),
        dropped=None if written.keep is None else int((is_readable & ~written.keep).sum()),
    )
