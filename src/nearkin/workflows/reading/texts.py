"""Files → batches of texts with their ids, and exceptions: documents without a text, or with a part of it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import DocumentError, RunError
from nearkin.formats.delimited import SheetWriter, as_it_was
from nearkin.manifests.stored import DamagedFile, InputFile
from nearkin.paths import STDIN, printable
from nearkin.records import I32, I64, Bool, FeatureCounts
from nearkin.runs.files import published
from nearkin.runs.progress import Progress
from nearkin.stages.documents.encodings import kind_of_plain
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.members import NO_TEXT, place_text
from nearkin.stages.documents.normalisation import ONLY_IGNORED, ONLY_NUMBERS, ORIGIN, PARENT, Normalisation, prepare
from nearkin.stages.documents.rows import IdKind, given_ids
from nearkin.stages.documents.rules import STOPPED, ReadingRules, is_beside, is_rest_missing, reason_of, sentence_of
from nearkin.stages.documents.source import NotRead, Source
from nearkin.stages.features.shingles import Shingling, count_features
from nearkin.workflows.reading.inputs import Input, StoredSource, places_in

if TYPE_CHECKING:
    from nearkin.collection.listing.exceptions import StoredException
    from nearkin.runs.progress import Meter
    from nearkin.workflows.resources import Resources

FACTS = pa.schema(
    [
        pa.field("name", pa.large_string(), nullable=False),  # from `normalisation.prepare`; not unique
        pa.field("has_id", pa.bool_(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
        pa.field("problem", pa.large_string()),
        pa.field("source", pa.large_string(), nullable=False),
    ]
)
"""Columns that are kept of each document beside its text; see `with_distinct_names`."""


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Documents of `PREPARED_SCHEMA`, ready to be counted, with the number of the source of each."""

    prepared: pa.RecordBatch
    sources: I64

    @property
    def texts(self) -> pa.LargeStringArray:
        """Normalised texts; empty for documents without a text."""
        return self.prepared["text"]

    def counted(self, features: Shingling, normalise: Normalisation) -> FeatureCounts:
        """Return the features of each text."""
        return replace(count_features(self.texts, features), fingerprint=counts_fingerprint(features, normalise))


class RawBatch(NamedTuple):
    """Documents of `DOCUMENTS_SCHEMA`, with sources; ``name`` is the prefix of names of those without an id."""

    batch: pa.RecordBatch
    sources: I64
    name: str
    first_row: int | None = None


class Texts:
    """Sources that are read batch by batch; ``id_kind`` is known once everything is read."""

    def __init__(
        self,
        inputs: Sequence[Input],
        rules: ReadingRules,
        not_read: tuple[NotRead, ...] = (),
    ) -> None:
        self.not_read = not_read
        self.sources = [source for part in inputs for source in part.sources]
        self.inputs = inputs
        self.rules = rules
        self.id_kind = IdKind.NONE
        self.n_documents = 0
        self._damage: dict[tuple[str, int], str] = {}
        self._exceptions: dict[int, list[ExceptionRow]] = {}

    @property
    def damaged_files(self) -> tuple[DamagedFile, ...]:
        """Files of which only a part has been used so far."""
        return tuple(DamagedFile(path=path, line=line, problem=fault) for (path, line), fault in self._damage.items())

    @property
    def exceptions(self) -> list[ExceptionRow]:
        """Documents without a text, or with a part of it, in reading order."""
        return [row for _, rows in sorted(self._exceptions.items()) for row in rows]

    def all_exceptions(self, documents: pa.Table) -> list[ExceptionRow]:
        """Return the exceptions with the ids and names of `documents`; those of collections without one follow."""
        return named([*self.exceptions, *exceptions_of_collections(self.sources, self.exceptions)], documents)

    def exception_lines(
        self, documents: pa.Table, resources: Resources, meter: Meter, described: Sequence[InputFile] | None = None
    ) -> list[Sequence[object]]:
        """Return the lines of ``exceptions.csv``; None where nothing was extracted.

        The files are digested unless ``described`` has the digests of all sources.
        """
        from nearkin.workflows.reading.rereading import input_file, seen, with_digests

        exceptions, files = self.all_exceptions(documents), dict(enumerate(described or ()))
        if not any(exception.is_extracted for exception in exceptions):
            return []
        if described is None:
            needed = sorted({exception.source for exception in exceptions if exception.kind is None})
            sources = with_digests([seen(self.sources[number]) for number in needed], resources, meter)
            files = dict(zip(needed, map(input_file, sources), strict=True))
        return exception_lines(exceptions, self.places, files)

    def take_exceptions(self, first_row: int, exceptions: Sequence[ExceptionRow]) -> None:
        """Note the exceptions, with their rows, of documents that another process read."""
        self._exceptions[first_row] = [
            replace(exception, row=first_row + (exception.row or 0)) for exception in exceptions
        ]

    @property
    def names(self) -> list[str]:
        """Names of the sources, in the order of their numbers."""
        return [printable(name) for part in self.inputs for name in part.names]

    @property
    def paths(self) -> list[str]:
        """Paths of the sources."""
        return [source.path for source in self.sources]

    @property
    def places(self) -> list[str]:
        """Names of the sources in results; a file that shares its name with another has its path."""
        return places_in(self.inputs)

    @property
    def size_bytes(self) -> int:
        """Size of all files; 0 if unknown."""
        return sum(part.size_bytes for part in self.inputs)

    @property
    def can_be_read_again(self) -> bool:
        """Whether no source is a pipe."""
        return STDIN not in self.paths

    def raw_batches(self, progress: Progress) -> Iterator[RawBatch]:
        """Yield batches as read."""
        first, self.n_documents = 0, 0
        for part in self.inputs:
            for batch, sources in part.batches(progress):
                self.id_kind = max(self.id_kind, IdKind.of(batch["doc_id"]))
                if batch.num_rows == 1 and is_rest_missing(problem := batch["problem"][0].as_py()):
                    self._damage[printable(part.source.name), batch["line"][0].as_py()] = sentence_of(problem)
                yield RawBatch(batch, sources + first, part.source.name, self.n_documents)
                self.n_documents += batch.num_rows
            first += len(part.sources)

    def prepare(self, raw: RawBatch, normalise: Normalisation) -> TextBatch:
        """Check and normalise a batch, and note its exceptions; threads may share this.

        DocumentError if the rules stop the run at an unreadable document.
        """
        prepared = prepare(raw.batch, normalise, source_name=raw.name)
        if self.rules.on_error == "stop":
            stop_at_problem(prepared, lambda row: self.names[raw.sources[row]])
        if raw.first_row is not None:  # a question about one document has no list
            self._exceptions[raw.first_row] = list(exceptions_in(prepared, raw.sources, raw.first_row))
        return TextBatch(prepared, raw.sources)

    def facts(self, batch: TextBatch) -> pa.RecordBatch:
        """Return the documents of a batch without their texts, with the columns of `FACTS`."""
        sources = pa.array(self.places, pa.large_string()).take(pa.array(batch.sources))
        columns = [batch.prepared[name] for name in ("doc_id", "has_id", "line", "problem")]
        return pa.RecordBatch.from_arrays([*columns, sources], schema=FACTS)

    def documents(self, facts: Sequence[pa.RecordBatch]) -> pa.Table:
        """Return all documents with their ids and unique names; see `with_distinct_names`."""
        # in one chunk: batch boundaries would change the bytes of a file
        return with_distinct_names(pa.Table.from_batches(facts, FACTS), self.id_kind).combine_chunks()


def counts_fingerprint(features: Shingling, normalise: Normalisation) -> str:
    """Return the fingerprint of counted features: normalisation and features."""
    return f"{normalise.fingerprint};{features.fingerprint}"


def first_problem(documents: pa.Table | pa.RecordBatch, source_of: Callable[[int], str]) -> str:
    """Return the place (``line``) and the ``problem`` of the first unreadable document; empty if there is none."""
    problems = documents["problem"]
    if problems.null_count == len(problems):
        return ""
    row = problems.is_valid().index(True).as_py()
    doc_id = documents["doc_id"][row].as_py() if "doc_id" in documents.schema.names else None
    return f"{place_text(doc_id, source_of(row), documents['line'][row].as_py())}: {problems[row]}"


def stop_at_problem(documents: pa.RecordBatch, source_of: Callable[[int], str]) -> None:
    """Raise DocumentError for the first unreadable document; see `first_problem`."""
    if where := first_problem(documents, source_of):
        raise DocumentError(f"{where}. {STOPPED}")


def check_readable(documents: Sequence[pa.Table], rules: ReadingRules, *, of: str = "") -> None:
    """Check that not too many documents are unreadable; see `ReadingRules.check_readable`."""
    n_unreadable = sum(len(document) - document["problem"].null_count for document in documents)
    if n_unreadable:
        first = next(document for document in documents if document["problem"].null_count < len(document))
        where = first_problem(first, lambda row: str(first["source"][row]))
        problems = (problem for document in documents for problem in document["problem"].drop_null().to_pylist())
        n_beside = sum(is_beside(problem, with_ocr=rules.ocr is not None) for problem in problems)
        rules.check_readable(n_unreadable, sum(map(len, documents)), where, n_beside=n_beside, of=of)


def damaged_files(documents: Sequence[pa.Table]) -> tuple[DamagedFile, ...]:
    """Return the files of which only a part was used, by the same columns."""
    damaged: list[DamagedFile] = []
    for document in documents:
        if document["problem"].null_count < len(document):
            bad = document.select(["source", "line", "problem"]).filter(document["problem"].is_valid()).to_pylist()
            damaged += [
                DamagedFile(path=row["source"], line=row["line"], problem=sentence_of(row["problem"]))
                for row in bad
                if is_rest_missing(row["problem"])
            ]
    return tuple(damaged)


def with_distinct_names(table: pa.Table, kind: IdKind) -> pa.Table:
    """Return ``id``, ``name``, ``line``, ``problem`` and ``source`` of documents from the columns of `FACTS`."""
    names, problems = table["name"].combine_chunks(), table["problem"].combine_chunks()
    codes: I32 = names.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    is_repeated: Bool = np.ones(len(names), np.bool_)
    is_repeated[np.unique(codes, return_index=True)[1]] = False
    ids = given_ids(names, table["has_id"].combine_chunks(), kind)
    rows = np.flatnonzero(is_repeated).tolist()
    if rows:
        sources = table["source"].combine_chunks().dictionary_encode()
        of_sources, places = sources.dictionary.to_pylist(), sources.indices.to_numpy().astype(np.int64)
        distinct = renamed(names, rows, of_sources, places, table["line"].to_numpy())
        sentences = [
            f"id repeated: {names[row].as_py()!r} was used before; this document is called {distinct[row].as_py()}"
            for row in rows
        ]
        problems = pc.coalesce(
            problems, pc.replace_with_mask(problems, is_repeated, pa.array(sentences, problems.type))
        )
        names = distinct
    fields = [
        pa.field("id", ids.type), pa.field("name", names.type, nullable=False),
        *(table.schema.field(column) for column in ("line", "problem", "source")),
    ]  # fmt: skip
    return pa.table([ids, names, table["line"], problems, table["source"]], schema=pa.schema(fields))


def renamed(
    ids: pa.LargeStringArray, rows: Sequence[int], source_names: Sequence[str], source: I32 | I64, line: I64
) -> pa.LargeStringArray:
    """Return the ids; those of ``rows``, which were used before, get the place of the document appended."""
    names = [f"{ids[row]} ({source_names[int(source[row])]}:{int(line[row])})" for row in rows]
    number = 2
    while taken := set(ids.filter(pc.is_in(ids, pa.array(names, ids.type))).to_pylist()):
        names = [f"{name} [{number}]" if name in taken else name for name in names]
        number += 1
    mask = np.zeros(len(ids), np.bool_)
    mask[rows] = True
    return pc.replace_with_mask(ids, pa.array(mask), pa.array(names, pa.large_string()))


EXCEPTIONS_FILE = "exceptions.csv"
_HEADER = (
    "id", "parent", "exception", "is_partial", "sentence", "kind", "sha256", "size_bytes", "source", "line", "name",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionRow:
    """A document without a text, or with only a part of it.

    Parameters
    ----------
    row
        Number of the document in reading order; None for an exception of a collection that is none of its documents.
    kind, sha256
        None for a document that was not extracted: `exception_lines` takes those of its file.
    """

    row: int | None = None
    doc_id: str
    given_id: int | str | None
    parent: str | None
    exception: str
    is_partial: bool
    sentence: str
    kind: str | None
    sha256: str | None
    size_bytes: int | None
    source: int
    line: int | None = None
    is_extracted: bool


def exceptions_in(prepared: pa.RecordBatch, sources: I64, first_row: int) -> Iterator[ExceptionRow]:
    """Yield the exceptions in a batch of `PREPARED_SCHEMA`, which begins at ``first_row``."""
    problem, text, names = prepared["problem"], prepared["text"], prepared.schema.names
    has_nothing = pc.or_(pc.equal(pc.binary_length(text), 0), pc.utf8_is_space(text))
    for name in (ONLY_NUMBERS, ONLY_IGNORED):
        if name in names:
            has_nothing = pc.and_not(has_nothing, prepared[name])
    is_one = pc.or_(problem.is_valid(), has_nothing)
    if ORIGIN in names:
        is_one = pc.or_(is_one, pc.struct_field(prepared[ORIGIN], "exception").is_valid())
    for row in pc.indices_nonzero(is_one).to_pylist():
        origin: Mapping[str, Any] = (prepared[ORIGIN][row].as_py() if ORIGIN in names else None) or {}
        why, doc_id = problem[row].as_py(), prepared["doc_id"][row].as_py()
        exception, is_partial = origin.get("exception"), bool(origin.get("is_partial"))
        sentence = origin.get("sentence") if is_partial else sentence_of(why or "") or origin.get("sentence")
        sentences = [sentence, origin.get("warnings")]
        if not any(sentences) or (exception in (None, "empty") and sentence is None):
            sentences[0] = NO_TEXT
        yield ExceptionRow(
            row=first_row + row,
            doc_id=doc_id,
            given_id=doc_id if prepared["has_id"][row].as_py() else None,
            parent=prepared[PARENT][row].as_py() if PARENT in names else None,
            exception=exception or ("empty" if why is None else reason_of(why)),
            is_partial=is_partial,
            sentence="; ".join(dict.fromkeys(sentence for sentence in sentences if sentence)),
            kind=origin.get("kind"),
            sha256=origin.get("sha256"),
            size_bytes=origin.get("size_bytes"),
            source=int(sources[row]),
            line=prepared["line"][row].as_py(),
            is_extracted=origin.get("kind") is not None,
        )


def named(exceptions: Sequence[ExceptionRow], documents: pa.Table) -> list[ExceptionRow]:
    """Return exceptions with the ids and names of all documents, once all were read."""
    ids, names = documents["id"], documents["name"]
    return [
        exception
        if exception.row is None
        else replace(exception, given_id=ids[exception.row].as_py(), doc_id=names[exception.row].as_py())
        for exception in exceptions
    ]


def exception_lines(
    exceptions: Sequence[ExceptionRow], names: Sequence[str], files: Mapping[int, InputFile]
) -> list[Sequence[object]]:
    """Return the lines of ``exceptions.csv``."""
    lines = list[Sequence[object]]()
    for exception in exceptions:
        of_bytes: tuple[object, ...] = (exception.kind, exception.sha256, exception.size_bytes)
        if exception.kind is None and (file := files.get(exception.source)) is not None and file.format in FORMATS:
            kind = "text" if file.format == "file" else file.format
            of_bytes = (kind_of_plain(kind, exception.exception), file.sha256, file.size_bytes)
        what = (
            exception.given_id,
            exception.parent,
            exception.exception,
            str(exception.is_partial).lower(),
            exception.sentence,
        )
        lines.append((*what, *of_bytes, names[exception.source], exception.line, exception.doc_id))
    return lines


def write_exceptions(path: Path, lines: Sequence[Sequence[object]]) -> None:
    """Write ``exceptions.csv`` if there are exceptions, or an earlier list."""
    if lines or path.exists():
        with published(path) as aside, aside.open("w", encoding="utf-8", newline="") as file:
            writer = SheetWriter(file)
            writer.write(_HEADER)
            writer.write_all(lines)


def read_exceptions(path: Path) -> list[ExceptionRow]:
    """Read ``exceptions.csv``, if there is one, for a page."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        try:
            lines = [{name: as_it_was(cell) or None for name, cell in line.items()} for line in csv.DictReader(file)]
            return [
                ExceptionRow(
                    doc_id=str(line["name"]), given_id=line["id"], parent=line["parent"],
                    exception=str(line["exception"]), is_partial=line["is_partial"] == "true",
                    sentence=str(line["sentence"]), kind=line["kind"], sha256=line["sha256"],
                    size_bytes=None if line["size_bytes"] is None else int(line["size_bytes"]), source=0,
                    is_extracted=line["kind"] is not None,
                )
                for line in lines
            ]  # fmt: skip
        except (csv.Error, ValueError, KeyError, AttributeError, TypeError) as error:
            raise RunError(
                f"The run in {path.parent} is damaged ({path.name}: {error}). Run the command that made it again."
            ) from error


def exceptions_of_collections(sources: Sequence[Source], known: Sequence[ExceptionRow]) -> list[ExceptionRow]:
    """Return the exceptions of collections that are not among the ``known`` ones of documents that were read."""
    beside = list[ExceptionRow]()
    for number, source in enumerate(sources):
        if isinstance(source, StoredSource):
            listed = {exception.given_id for exception in known if exception.source == number}
            exceptions = (exception for exception in source.documents.exceptions() if exception.doc_id not in listed)
            beside += [listed_exception(exception, number) for exception in exceptions]
    return beside


def listed_exception(exception: StoredException, source: int) -> ExceptionRow:
    """Return a stored exception as it is listed in ``exceptions.csv``, without a place."""
    return ExceptionRow(
        doc_id=exception.doc_id,
        given_id=exception.doc_id,
        parent=exception.parent,
        exception=exception.exception,
        is_partial=exception.is_partial,
        sentence=exception.sentence,
        kind=exception.kind,
        sha256=exception.sha256,
        size_bytes=exception.size_bytes,
        source=source,
        is_extracted=exception.extractor is not None,
    )
