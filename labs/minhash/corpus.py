"""First documents of a corpus, prepared as in the article: headline, a space, the text, in lower case."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import get_args

import pyarrow as pa
import pyarrow.compute as pc

from labs.corpus import BATCH_BYTES, batches_of, first_rows, shown_inputs
from nearkin.errors import ParameterError, SourceError
from nearkin.paths import STDIN
from nearkin.records import DOCUMENTS_SCHEMA
from nearkin.runs.progress import Progress
from nearkin.stages.documents.formats import StoredFormat, has_columns
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.sources import Source, resolve_sources
from nearkin.workflows.reading.request import ReadingRequest

_AS_THE_ARTICLE = Normalisation.parse("case")


@dataclass(frozen=True, slots=True, kw_only=True)
class TitledRequest(ReadingRequest):
    """Request for documents with headlines.

    Parameters
    ----------
    inputs, file_format, text, doc_id, encoding, rules, stdin
        See `ReadingRequest`.
    title : str, optional
        Column whose value is put before the text, with a space between.
    """

    title: str | None = None

    @classmethod
    def of(cls, request: ReadingRequest, title: str | None) -> TitledRequest:
        """Return the request with headlines."""
        return cls(**{one.name: getattr(request, one.name) for one in fields(request)}, title=title)


@dataclass(frozen=True, slots=True)
class FirstDocuments:
    """The documents that were read.

    Parameters
    ----------
    ids, texts : arrays of large strings, shape (n_documents,)
        Texts in lower case, otherwise unchanged.
    n_empty, n_unreadable : int
        Number of records that were skipped.
    """

    ids: pa.LargeStringArray
    texts: pa.LargeStringArray
    n_empty: int
    n_unreadable: int

    def __len__(self) -> int:
        return len(self.ids)


def read_first(files: TitledRequest, n_documents: int, progress: Progress) -> FirstDocuments:
    """Read the first ``n_documents`` that are readable and not empty; all if there are fewer.

    Raises
    ------
    SourceError
        Nothing can be read, or only one document.
    DocumentError
        A document cannot be read, or more documents are unreadable than the rules allow.
    ParameterError
        A title is requested of input without columns, or of standard input, which can be read only once.
    """
    batches = _batches(files.found(progress).sources, files, progress)
    found = first_rows(batches, n_documents, _AS_THE_ARTICLE, files.rules, counts_empty=False)
    if len(found.table) < 2:
        raise SourceError(
            f"The experiment needs at least 2 documents with a text. {shown_inputs(files)[0]} has {len(found.table)}."
        )
    ids, texts = (found.table[name].combine_chunks() for name in ("doc_id", "text"))
    return FirstDocuments(ids, texts, found.n_without_text, found.n_unreadable)


def _batches(
    sources: Sequence[Source], files: TitledRequest, progress: Progress
) -> Iterator[tuple[pa.RecordBatch, str]]:
    """Yield batches of documents, with the title before the text if requested, and the source of each."""
    titled = _with_titles(sources, files) if files.title is not None else [None] * len(sources)
    for source, title_source in zip(sources, titled, strict=True):
        texts = batches_of(source, progress.say)
        if title_source is not None:
            texts = _titled(texts, read_batches(title_source, batch_bytes=BATCH_BYTES))
        yield from ((batch, source.name) for batch in texts)


def _with_titles(sources: Sequence[Source], files: TitledRequest) -> Sequence[Source]:
    """Return the sources, read for their titles; a missing column is an error here, not an empty title."""
    stored = get_args(StoredFormat)
    if any(s.path == STDIN or s.format in stored or not has_columns(s.format) for s in sources):
        raise ParameterError.of("title", "omitted for input without columns and for '-'", files.title)
    found = resolve_sources(
        [one for one in files.inputs if isinstance(one, str)],
        file_format=files.file_format,
        text=files.title,
        encoding=files.encoding,
        rules=files.rules,
    )
    return found.sources


def _titled(texts: Iterator[pa.RecordBatch], titles: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Put titles before texts; both come in the same order, one row per record, in batches of different sizes."""
    headlines = itertools.chain.from_iterable(batch["text"] for batch in titles)
    for batch in texts:
        here = pa.array([h.as_py() or b"" for h in itertools.islice(headlines, len(batch))], pa.large_binary())
        joined = pc.binary_join_element_wise(here, batch["text"], pa.scalar(b" ", pa.large_binary()))
        columns = [joined if name == "text" else batch[name] for name in DOCUMENTS_SCHEMA.names]
        yield pa.RecordBatch.from_arrays(columns, names=DOCUMENTS_SCHEMA.names)
