"""Files → a wave of a collection."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.collection.collection import Collection
from nearkin.collection.loads.adding import Added, add_incoming
from nearkin.collection.loads.incoming import Incoming, PlainFile
from nearkin.errors import ParameterError, SourceError
from nearkin.paths import STDIN
from nearkin.records import I64
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Progress
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.formats import FORMATS, is_of_documents
from nearkin.stages.documents.formats.whole_file import WholeFile
from nearkin.stages.documents.sources import Source
from nearkin.workflows.collection.run_names import named_by_run
from nearkin.workflows.collection.shared_names import files_with_shared_names
from nearkin.workflows.collection.undoing_creation import undo_creation
from nearkin.workflows.collection.unnamed import NamedRecords, check_has_ids
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources


def add_files(
    collection: Collection,
    texts: Texts,
    *,
    wave: str | None,
    resources: Resources,
    progress: Progress,
    re_extract: bool = False,
    dry_run: bool = False,
) -> Added:
    """Add every document of some files as one wave: all of them, or none if anything fails.

    A collection that was created for them is removed if they fail. With ``re_extract`` texts replace those that
    another extractor made of the same bytes. What a file contained when it was added before, and contains no more, is
    removed. With ``dry_run`` nothing is stored.

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
    try:
        _check_apart(collection, texts)
        shared = files_with_shared_names(texts)
        with meter.stage("add", texts.size_bytes, "bytes") as counted:
            added = add_incoming(
                collection.opened,
                _incoming(texts, shared.paths, counted),
                wave=wave,
                threads=resources.n_threads,
                rules=texts.rules,
                re_extract=re_extract,
                are_files=True,
                dry_run=dry_run,
            )
    except BaseException as error:
        undo_creation(collection, error)
        raise
    return replace(added, folder_above=shared.folder) if added.n_shared_ids else added


def _incoming(texts: Texts, paths: Mapping[int, str], progress: Progress) -> Iterator[Incoming]:
    names = pa.array(texts.names, pa.large_string())
    are_files = np.array([is_of_documents(source.format) for source in texts.sources], np.bool_)
    named = NamedRecords(texts.sources)
    texts.check_columns(check_has_ids)
    for came in texts.raw_batches(progress):
        raw, are_places = named_by_run(came, texts.sources)
        file_of = partial(_plain_file, texts.sources, raw.sources)
        sources = raw.sources.tolist() if paths else []
        shared = {row: paths[number] for row, number in enumerate(sources) if number in paths}
        yield Incoming(
            batch=named.of(raw),
            sources=names.take(pa.array(raw.sources)),
            name=raw.name,
            file_of=file_of,
            are_files=are_files[raw.sources],
            paths=shared,
            are_places=are_places,
        )


def _plain_file(sources: Sequence[Source], numbers: I64, place: int) -> PlainFile | None:
    """Digest the file of a document if it is a text; None if it cannot be read any more."""
    source = sources[numbers[place]]
    if not isinstance(FORMATS.get(source.format), WholeFile) or source.path == STDIN:
        return None
    with contextlib.suppress(SourceError):
        kind = "text" if source.format == WholeFile.name else source.format
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
