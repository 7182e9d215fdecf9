"""Files → batches of texts with their ids; their unique names; checks of unreadable ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import DocumentError
from nearkin.paths import STDIN, printable
from nearkin.records import I32, I64, Bool, FeatureCounts
from nearkin.runs.progress import Progress
from nearkin.stages.documents.faults import is_beside, is_rest_missing, sentence_of
from nearkin.stages.documents.members import place_text
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.documents.preparing import prepare
from nearkin.stages.documents.rows import IdKind, given_ids
from nearkin.stages.documents.rules import STOPPED, ReadingRules
from nearkin.stages.documents.source import NotRead
from nearkin.stages.features.shingles import Shingling, count_features
from nearkin.workflows.reading.inputs import Input, places_in

if TYPE_CHECKING:
    from nearkin.manifests.stored import DamagedFile, InputFile
    from nearkin.runs.progress import Meter
    from nearkin.workflows.reading.exceptions import ExceptionRow
    from nearkin.workflows.resources import Resources

FACTS = pa.schema(
    [
        pa.field("name", pa.large_string(), nullable=False),  # from `preparing.prepare`; not unique
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
        from nearkin.manifests.stored import DamagedFile

        return tuple(DamagedFile(path=path, line=line, problem=fault) for (path, line), fault in self._damage.items())

    @property
    def exceptions(self) -> list[ExceptionRow]:
        """Documents without a text, or with a part of it, in reading order."""
        return [row for _, rows in sorted(self._exceptions.items()) for row in rows]

    def all_exceptions(self, documents: pa.Table) -> list[ExceptionRow]:
        """Return the exceptions with the ids and names of `documents`; those of collections without one follow."""
        from nearkin.workflows.reading.exceptions import exceptions_of_collections, named

        return named([*self.exceptions, *exceptions_of_collections(self.sources, self.exceptions)], documents)

    def exception_lines(
        self, documents: pa.Table, resources: Resources, meter: Meter, described: Sequence[InputFile] | None = None
    ) -> list[Sequence[object]]:
        """Return the lines of ``exceptions.csv``; None where nothing was extracted.

        The files are digested unless ``described`` has the digests of all sources.
        """
        from nearkin.workflows.reading.exceptions import exception_lines
        from nearkin.workflows.reading.identity import input_file, seen, with_digests

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
        if raw.first_row is not None:
            from nearkin.workflows.reading.exceptions import exceptions_in  # a question about one document has no list

            if exceptions := list(exceptions_in(prepared, raw.sources, raw.first_row)):
                self._exceptions[raw.first_row] = exceptions
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
    from nearkin.manifests.stored import DamagedFile

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
    """Return ``id``, ``name``, ``line``, ``problem`` and ``source`` of documents as `preparing.prepare` gives them."""
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
