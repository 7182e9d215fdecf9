"""Files → a wave of a collection."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.collection.collection import Collection
from nearkin.collection.loads.adding import Added, add_incoming
from nearkin.collection.loads.incoming import Incoming, PlainFile
from nearkin.errors import MissingCollectionError, ParameterError, SourceError
from nearkin.paths import STDIN, file_sha256
from nearkin.records import I64
from nearkin.runs.progress import Meter, Progress
from nearkin.stages.documents.formats import FORMATS, is_of_documents
from nearkin.stages.documents.source import Source
from nearkin.store.place import Place
from nearkin.store.store import refuse_other_files
from nearkin.workflows.reading.inputs import StoredSource
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
    """Add every document of some files as one wave: all of them, or none if anything fails."""
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
    for raw in texts.raw_batches(progress):
        yield Incoming(
            batch=named(raw, texts.sources[raw.sources[0]]),
            sources=names.take(pa.array(raw.sources)),
            name=raw.name,
            file_of=partial(_plain_file, texts.sources, raw.sources),
        )


def _plain_file(sources: Sequence[Source], numbers: I64, place: int) -> PlainFile | None:
    source = sources[numbers[place]]
    if source.format not in FORMATS or FORMATS[source.format].holds != "one document" or source.path == STDIN:
        return None
    with contextlib.suppress(SourceError):
        kind = "text" if source.format == "file" else source.format
        return kind, file_sha256(source.path), source.size_bytes
    return None


def _check_apart(collection: Collection, texts: Texts) -> None:
    directory = collection.place.directory
    if directory is None:
        return
    for source in texts.sources:
        if Path(source.path).resolve().is_relative_to(directory.resolve()):
            raise ParameterError(f"{source.path} is in the collection's own directory. Keep documents elsewhere.")


def named(raw: RawBatch, source: Source) -> pa.RecordBatch:
    """Return the documents of a source, with its name in the run; those of standard input need an id."""
    batch = raw.batch
    if not batch["doc_id"].null_count:
        return batch
    if isinstance(source, StoredSource) and isinstance(source.documents, KeptDocuments):
        names = source.documents.named(batch["line"])
        return _with_column(batch, "doc_id", pc.coalesce(batch["doc_id"].cast(pa.large_string()), names))
    if isinstance(source, StoredSource) or is_of_documents(source.format) or source.path != STDIN:
        return batch  # named after a file
    lacks_id = pc.and_(batch["doc_id"].is_null(), batch["problem"].is_null())
    problem = pa.scalar(NO_ID, pa.large_string())
    return _with_column(batch, "problem", pc.if_else(lacks_id, problem, batch["problem"]))


NO_ID = (
    "no such column: the id is missing, and a record of standard input needs one; name the column of the ids with "
    "--id, or write the records to a file"
)


def _with_column(batch: pa.RecordBatch, name: str, values: pa.Array) -> pa.RecordBatch:
    place = batch.schema.get_field_index(name)
    return batch.set_column(place, pa.field(name, values.type), values)


@contextmanager
def opened_to_preview(path_or_url: str | Path, open_at: Callable[..., Collection]) -> Iterator[Collection]:
    """Open a collection, or an empty temporary one if there is none: nothing is left behind."""
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
