"""Files → a wave of a collection."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.collection.collection import Collection
from nearkin.collection.loads.adding import Added, add_incoming
from nearkin.collection.loads.incoming import Incoming, PlainFile
from nearkin.errors import MissingCollectionError, ParameterError, SourceError
from nearkin.paths import STDIN
from nearkin.records import I64
from nearkin.runs.progress import Meter, Progress
from nearkin.stages.documents.columns import listed_columns
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.formats import FORMATS, is_of_documents
from nearkin.stages.documents.head import head_of_stdin, standard_input
from nearkin.stages.documents.source import Source
from nearkin.store.place import Place
from nearkin.store.store import refuse_other_files
from nearkin.workflows.reading.inputs import Input, StoredSource
from nearkin.workflows.reading.rereading import KeptDocuments
from nearkin.workflows.reading.texts import RawBatch, Texts
from nearkin.workflows.resources import Resources


def add_files(
    collection: Collection,
    texts: Texts,
    *,
    wave: str | None,
    resources: Resources,
    progress: Progress,
    dry_run: bool = False,
) -> Added:
    """Add every document of some files as one wave: all of them, or none if anything fails.

    A collection that was created for them stays empty if they fail. With ``dry_run`` nothing is stored.

    Raises
    ------
    InputError
        A file, or a column of it, cannot be used; a document cannot be read and the rules stop the run; or more
        documents are unreadable than the rules allow.
    ParameterError
        A file belongs to the collection itself.
    CollectionError, OutputError
        See `nearkin.errors`.
    """
    meter = Meter(progress)
    _check_apart(collection, texts)
    with meter.stage("add", texts.size_bytes, "bytes") as counted:
        return add_incoming(
            collection.opened,
            _incoming(texts, counted),
            wave=wave,
            threads=resources.n_threads,
            rules=texts.rules,
            dry_run=dry_run,
        )


def _incoming(texts: Texts, progress: Progress) -> Iterator[Incoming]:
    names = pa.array(texts.names, pa.large_string())
    named = NamedRecords(texts.sources)
    texts.check_columns(check_has_ids)
    for came in texts.raw_batches(progress):
        raw = named_by_run(came, texts.sources)
        yield Incoming(
            batch=named.of(raw),
            sources=names.take(pa.array(raw.sources)),
            name=raw.name,
            file_of=partial(_plain_file, texts.sources, raw.sources),
        )


def _plain_file(sources: Sequence[Source], numbers: I64, place: int) -> PlainFile | None:
    """Digest the file of a document if it is a text; None if it cannot be read any more."""
    source = sources[numbers[place]]
    if source.format not in FORMATS or FORMATS[source.format].holds != "one document" or source.path == STDIN:
        return None
    with contextlib.suppress(SourceError):
        kind = "text" if source.format == "file" else source.format
        return PlainFile(kind, file_sha256(source.path), source.size_bytes)
    return None


def _check_apart(collection: Collection, texts: Texts) -> None:
    """Refuse the collection's own files as documents."""
    directory = collection.place.directory
    if directory is None:
        return
    for source in texts.sources:
        if Path(source.path).resolve().is_relative_to(directory.resolve()):
            raise ParameterError(f"{source.path} is in the collection's own directory. Keep documents elsewhere.")


def named_by_run(raw: RawBatch, sources: Sequence[Source]) -> RawBatch:
    """Return the documents of a source; those of a run that have no id get their name in the run."""
    source = sources[raw.sources[0]]
    if not isinstance(source, StoredSource) or not isinstance(source.documents, KeptDocuments):
        return raw
    batch = raw.batch
    if batch["doc_id"].null_count:
        names = source.documents.named(batch["line"])
        ids = pc.coalesce(batch["doc_id"].cast(pa.large_string()), names)
        batch = pa.RecordBatch.from_arrays([ids, *batch.columns[1:]], names=batch.schema.names)
        batch = batch.replace_schema_metadata(raw.batch.schema.metadata)
    return raw._replace(batch=batch)


def refuse_unnamed(texts: Texts) -> None:
    """Refuse standard input whose format has no ids, or whose columns are visible, and of which none is the id.

    Raises
    ------
    SourceError
    """
    for one in texts.inputs:
        if one.source.id is not None or _has_lasting_names(one.source):
            continue
        form = FORMATS[one.source.format]
        if one.source.text is not None or not form.has_ids:
            raise _without_ids(one.source, _columns(one))


class NamedRecords:
    """Batches in which a record of standard input without an id is a problem.

    Parameters
    ----------
    sources : sequence of Source
        Files that the batches are from.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources

    def of(self, raw: RawBatch) -> pa.RecordBatch:
        """Return the batch of a source."""
        batch, source = raw.batch, self._sources[raw.sources[0]]
        if not batch["doc_id"].null_count or _has_lasting_names(source):
            return batch
        has_no_name = pc.and_(batch["doc_id"].is_null(), batch["problem"].is_null())
        is_one = np.asarray(has_no_name.to_numpy(zero_copy_only=False))
        if not is_one.any():
            return batch
        said = f"no such column: {_missing(source)}, and a record of standard input needs one"
        problems = pc.if_else(pa.array(is_one), pa.scalar(said, pa.large_string()), batch["problem"])
        return batch.set_column(batch.schema.get_field_index("problem"), batch.schema.field("problem"), problems)


def check_has_ids(source: Source, names: Sequence[str]) -> None:
    """Refuse standard input without an id among its columns, which are not known before it is read.

    Raises
    ------
    SourceError
    """
    if source.id is None and FORMATS[source.format].has_columns and not _has_lasting_names(source):
        raise _without_ids(source, names)


def _has_lasting_names(source: Source) -> bool:
    """Whether a document is named after a file; one in standard input is not."""
    if isinstance(source, StoredSource) or is_of_documents(source.format):
        return True
    return source.path != STDIN


def _missing(source: Source) -> str:
    if source.id is not None:
        return f"the id is missing: no value in {listed_columns([source.id])!r}"
    return "the id is missing: nothing before the tab" if source.format == "lines" else "the id is missing"


def _columns(one: Input) -> Sequence[str]:
    """Return the columns of standard input, before it is read."""
    source, form = one.source, FORMATS[one.source.format]
    head = head_of_stdin(standard_input(one.stdin), one.encoding)
    sample = form.reader.sample(source, head)
    return () if sample is None else sample.names


def _without_ids(source: Source, columns: Sequence[str]) -> SourceError:
    form = FORMATS[source.format]
    records = "records" if form.has_ids else "lines"
    save = f"write the {records} to a file, with a new name for each delivery: its documents are named FILE:LINE."
    among = f" Its columns are: {listed_columns(columns)}." if columns else ""
    if form.has_columns:
        advice = f"Name the column of the ids with --id.{among} If there is none, {save}"
    else:
        advice = f"Put an id and a tab before each text and use --format lines, or {save}"
    return SourceError(
        f"Standard input has {records} without ids. They would be named {source.name}:1, {source.name}:2, … in every "
        f"run, so the {records} of the next run would replace these. {advice}"
    )


@contextmanager
def opened_to_preview(path_or_url: str | Path, open_at: Callable[..., Collection]) -> Iterator[Collection]:
    """Open a collection, or an empty one in a temporary directory if there is none: nothing is left behind.

    Parameters
    ----------
    path_or_url : str or Path
    open_at : callable
        `Collection.open` with its settings: it takes a place, and ``create``.

    Raises
    ------
    CollectionError, OutputError
        The collection cannot be opened, or could not be created there.
    """
    with ExitStack() as stack:
        try:
            opened = open_at(path_or_url)
        except MissingCollectionError:
            directory = Place.parse(path_or_url).directory
            if directory is not None and directory.exists():
                refuse_other_files(directory)
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nearkin-")))
            opened = open_at(folder / "collection", create=True)
        yield stack.enter_context(opened)
