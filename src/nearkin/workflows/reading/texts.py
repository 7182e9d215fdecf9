"""Files → batches of texts with their ids, for signing and counting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from nearkin.errors import ParameterError
from nearkin.paths import STDIN, is_one_of, printable
from nearkin.records import I64, FeatureCounts
from nearkin.runs.progress import Progress
from nearkin.stages.documents.faults import is_rest_missing, sentence_of
from nearkin.stages.documents.ids import IdKind
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.documents.not_read import NotRead
from nearkin.stages.documents.preparing import prepare
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import Source
from nearkin.stages.features.shingles import Shingling, count_features
from nearkin.workflows.reading.inputs import FileInput, Input, LooseFilesInput, places_in
from nearkin.workflows.reading.problems import stop_at_problem

if TYPE_CHECKING:
    from nearkin.manifests.stored import DamagedFile
    from nearkin.workflows.reading.exceptions import ExceptionRow


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Documents, ready to be counted.

    Parameters
    ----------
    prepared : RecordBatch
        With the schema `preparing.PREPARED_SCHEMA`.
    sources : int64 array, shape (n_documents,)
        Number of the source of each document.
    """

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
    """Documents as they were read.

    Parameters
    ----------
    batch : RecordBatch
        Of `DOCUMENTS_SCHEMA`.
    sources : int64 array, shape (n_documents,)
        Number of the source of each document.
    name : str
        Prefix of the names of documents without an id.
    number : int or None
        Number of the batch; None for a part of one, whose exceptions are not noted.
    """

    batch: pa.RecordBatch
    sources: I64
    name: str
    number: int | None = None


class Texts:
    """Sources that are read batch by batch.

    Attributes
    ----------
    rules : ReadingRules
    id_kind : IdKind
        Known once everything is read.
    not_read : sequence of NotRead
        Files and folders beside the sources that are not read.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        inputs: Sequence[Input],
        rules: ReadingRules,
        not_read: Sequence[NotRead] = (),
    ) -> None:
        self.not_read = not_read
        self.sources = sources
        self.inputs = inputs
        self.rules = rules
        self.id_kind = IdKind.NONE
        self._damage: dict[tuple[str, int], str] = {}
        self._exceptions: dict[int, list[ExceptionRow]] = {}

    @property
    def damaged_files(self) -> tuple[DamagedFile, ...]:
        """Files of which only a part has been used so far."""
        from nearkin.manifests.stored import DamagedFile

        return tuple(DamagedFile(path=path, line=line, problem=fault) for (path, line), fault in self._damage.items())

    @property
    def exceptions(self) -> list[ExceptionRow]:
        """Documents without a text, or with a part of it, in reading order: of all batches that were prepared."""
        return [one for _, some in sorted(self._exceptions.items()) for one in some]

    def take_exceptions(self, number: int, found: Sequence[ExceptionRow]) -> None:
        """Note the exceptions of a part of the documents, which another process read; the parts are numbered."""
        self._exceptions[number] = list(found)

    @property
    def names(self) -> list[str]:
        """Names of the sources, in the order of their numbers."""
        return [printable(name) for one in self.inputs for name in one.names]

    @property
    def places(self) -> list[str]:
        """Names of the sources in results; a file that shares its name with another has its path."""
        return places_in(self.inputs)

    @property
    def encoding(self) -> str:
        """Encoding of what is not UTF-8 in the files."""
        files = [one for one in self.inputs if isinstance(one, FileInput | LooseFilesInput)]
        return files[0].encoding if files else "utf-8"

    @property
    def size_bytes(self) -> int:
        """Size of all files; 0 if unknown."""
        return sum(one.size_bytes for one in self.inputs)

    @property
    def can_be_read_again(self) -> bool:
        """Whether no source is a pipe."""
        return all(source.path != STDIN for source in self.sources)

    def raw_batches(self, progress: Progress) -> Iterator[RawBatch]:
        """Yield batches as read."""
        first, number = 0, 0
        for one in self.inputs:
            for batch, source in one.batches(progress):
                if batch.num_rows:
                    self.id_kind = max(self.id_kind, IdKind.of(batch["doc_id"]))
                    sources = np.broadcast_to(np.asarray(source, np.int64), batch.num_rows)
                    self._note_damage(batch, one.names)
                    yield RawBatch(batch, sources + first, one.names[0], number)
                    number += 1
            first += len(one.names)

    def check_columns(self, check: Callable[[Source, Sequence[str]], None]) -> None:
        """Refuse columns of a pipe as soon as they are seen, if ``check`` does; see `read_batches`."""
        self.inputs = [replace(one, check=check) if isinstance(one, FileInput) else one for one in self.inputs]

    def _note_damage(self, batch: pa.RecordBatch, names: Sequence[str]) -> None:
        """Record where a file breaks off: the damage is a batch with one row."""
        if batch.num_rows == 1 and is_rest_missing(batch["problem"][0].as_py()):
            self._damage[printable(names[0]), batch["line"][0].as_py()] = sentence_of(batch["problem"][0].as_py())

    def prepare(self, raw: RawBatch, normalise: Normalisation) -> TextBatch:
        """Check and normalise a batch, and note its exceptions: the part of reading that threads may share.

        What is read twice is noted once.

        Raises
        ------
        DocumentError
            A document cannot be read, and the rules stop the run.
        """
        prepared = prepare(raw.batch, normalise, source_name=raw.name)
        if self.rules.on_error == "stop":
            stop_at_problem(prepared, lambda row: self.names[raw.sources[row]])
        if raw.number is not None:
            from nearkin.workflows.reading.exceptions import exceptions_in  # a question about one document has no list

            if found := list(exceptions_in(prepared, raw.sources)):
                self._exceptions[raw.number] = found
        return TextBatch(prepared, raw.sources)


def check_not_an_input(out: Path, sources: Iterable[Source]) -> None:
    """Refuse to write over an input, whatever its path.

    Raises
    ------
    ParameterError
    """
    if not out.exists():
        return
    for one in sources:
        if is_one_of(out, [one.path]):
            shown = printable(one.path)
            raise ParameterError(f"{out} is one of the inputs ({shown}). Choose another file.", parameter="out")


def counts_fingerprint(features: Shingling, normalise: Normalisation) -> str:
    """Return the fingerprint of counted features: normalisation and features."""
    return f"{normalise.fingerprint};{features.fingerprint}"
