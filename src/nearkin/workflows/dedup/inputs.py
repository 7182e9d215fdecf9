"""Input files of a run, and whether they change while it reads them."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nearkin._version import __version__
from nearkin.errors import MissingColumnError, OutputExistsError, ParameterError, SourceError
from nearkin.nouns import counted
from nearkin.paths import STDIN
from nearkin.reports.pages import counted_inputs
from nearkin.runs.progress import LabelledProgress, Progress
from nearkin.stages.documents.not_read import NotRead
from nearkin.stages.documents.sources import Source
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.reading.identity import SourceRecord, fingerprint_of, records_of
from nearkin.workflows.reading.inputs import StoredSource
from nearkin.workflows.reading.memory_documents import IN_MEMORY
from nearkin.workflows.reading.request import ReadingRequest, check_inputs

OTHER_SET = "other set"
"""Label of messages about its files."""
_OWN = {"text": "against_text", "id": "against_id"}
"""Parameters of its columns, by those of the input."""


@dataclass(frozen=True, slots=True)
class OtherColumns:
    """Columns of the files of the other set.

    Parameters
    ----------
    text, doc_id : str or None
        None: as for the input, or guessed in a file that has no such column.
    """

    text: str | None = None
    doc_id: str | None = None

    @property
    def given(self) -> dict[str, str]:
        """The given columns, by their parameters."""
        named = {"against_text": self.text, "against_id": self.doc_id}
        return {name: column for name, column in named.items() if column is not None}

    def lacks(self, parameter: str | None) -> bool:
        """Whether a parameter of the input, such as "text", has a counterpart that was not given."""
        return parameter in _OWN and _OWN[parameter] not in self.given

    @property
    def may_be_missing(self) -> frozenset[str]:
        """Parameters that were given for the input, if at all, so that a file of the other set may be without them."""
        named = {"file_format": None, "text": self.text, "doc_id": self.doc_id}
        return frozenset(name for name, column in named.items() if column is None)

    def check_fits(self, *, is_against: bool) -> None:
        """Refuse columns of another set if there is none.

        Raises
        ------
        ParameterError
        """
        for name in () if is_against else self.given:
            raise ParameterError("needs 'against'.", parameter=name)

    def request(self, asked: ReadingRequest, inputs: Sequence[str | StoredSource]) -> ReadingRequest:
        """Request the other set, read as the input except for its columns."""
        text = asked.text if self.text is None else self.text
        return replace(asked, inputs=inputs, text=text, doc_id=asked.doc_id if self.doc_id is None else self.doc_id)


AS_THE_INPUT = OtherColumns()


@contextlib.contextmanager
def about_the_other_set(columns: OtherColumns) -> Iterator[None]:
    """Name the parameters of the other set in messages about its columns.

    Examples
    --------
    >>> with about_the_other_set(OtherColumns(text="text")):
    ...     raise SourceError("eval.jsonl: there is no column 'text'.", parameter="text")
    Traceback (most recent call last):
    ...
    nearkin.errors.SourceError: against_text: eval.jsonl: there is no column 'text'.
    """
    try:
        yield
    except SourceError as error:
        if not (isinstance(error, MissingColumnError) and columns.lacks(error.parameter)):
            error.parameter = _OWN.get(error.parameter or "", error.parameter)
        raise


@dataclass(frozen=True, slots=True, kw_only=True)
class Sourced:
    """Files of a run.

    Parameters
    ----------
    asked : ReadingRequest
    sources, others : tuple of Source
        Sources of the input and of the other set.
    records : dict of str to tuple of SourceRecord
        The sources of "inputs" and "against" before they were read.
    is_against : bool
        Whether there is another set, which may have no files.
    against_columns : OtherColumns
        Columns of the other set.
    not_read : tuple of NotRead
        Files and folders of both that are not read.
    """

    asked: ReadingRequest
    sources: tuple[Source, ...]
    others: tuple[Source, ...]
    records: dict[str, tuple[SourceRecord, ...]]
    is_against: bool
    against_columns: OtherColumns = AS_THE_INPUT
    not_read: tuple[NotRead, ...] = ()

    @classmethod
    def of(
        cls,
        asked: ReadingRequest,
        out: Path,
        options: DedupOptions,
        progress: Progress,
        *,
        against: Sequence[str | StoredSource] = (),
        against_columns: OtherColumns = AS_THE_INPUT,
        twice: str | None = None,
    ) -> Sourced:
        """Find the input and check that it can be read; ``twice`` names what reads it a second time, if anything.

        If the first document is to be kept, the order of the arguments decides which is first.
        """
        mine = LabelledProgress("INPUT", progress) if against else progress
        found, not_read = _resolve(asked, out, mine, in_order=options.keep.rule == "first")
        others: tuple[Source, ...] = ()
        if against:
            request = against_columns.request(asked, against)
            with about_the_other_set(against_columns):
                theirs = LabelledProgress(OTHER_SET, progress)
                others, more = _resolve(request, out, theirs, optional=against_columns.may_be_missing)
            not_read = tuple(dict.fromkeys((*not_read, *more)))
            progress.say(f"INPUT: {counted_inputs(found)}; {OTHER_SET}: {counted_inputs(others)}")
        check_inputs(found, keep_column=options.keep.column, encoding=asked.encoding, stdin=asked.stdin)
        with about_the_other_set(against_columns):
            check_inputs(others, encoding=asked.encoding, stdin=asked.stdin)
        if sum(source.path == STDIN for source in found + others) > 1:
            raise ParameterError("Standard input ('-') can be read only once. Got it twice.")
        if twice and any(source.path == STDIN for source in found):
            raise ParameterError(
                "It reads its input twice, and standard input (-) can be read only once: save it to a file first.",
                parameter=twice,
            )
        return cls(
            asked=asked,
            sources=found,
            others=others,
            records={"inputs": records_of(found, asked.encoding), "against": records_of(others, asked.encoding)},
            is_against=bool(against),
            against_columns=against_columns,
            not_read=not_read,
        )

    def identity(self, command: str, options: DedupOptions) -> dict[str, object]:
        """Return everything that decides the result: a resumed run must share it with the interrupted one."""
        return {
            "nearkin": __version__,
            "command": command,
            "parameters": options.in_words(),
            "encoding": self.asked.encoding,
            "max_document_bytes": self.asked.rules.max_document_bytes,
            **({"extraction_limits": limits} if (limits := self.asked.rules.limits.given) else {}),
            **({"ocr": ocr} if (ocr := self.asked.rules.ocr) is not None else {}),
            **({"text_root": root} if (root := self.asked.rules.text_root) is not None else {}),
            **self.against_columns.given,
            "inputs": fingerprint_of(self.sources),
            "against": fingerprint_of(self.others),
        }


def _resolve(
    asked: ReadingRequest, out: Path, progress: Progress, *, optional: Collection[str] = (), in_order: bool = False
) -> tuple[tuple[Source, ...], tuple[NotRead, ...]]:
    """Return the sources without those in the output directory, which a run replaces; and what is not read."""
    resolved = asked.found(progress, optional=optional, in_order=in_order, without=out)
    found = resolved.sources
    place = out.resolve()
    on_disk = [s.path for s in found if s.path != STDIN and "://" not in s.path and s.format != IN_MEMORY]
    inside = {path for path in on_disk if Path(path).resolve().is_relative_to(place)}
    if named := sorted(inside.intersection(one for one in asked.inputs if isinstance(one, str))):
        where = "is also " if Path(named[0]).resolve() == place else f"lies in {out}, which is "
        raise OutputExistsError(f"The input {named[0]} {where}--out: the run would replace it. Choose another --out.")
    if inside:
        progress.say(f"omitted {counted(len(inside), 'file')} in {out}: results of an earlier run")
    return tuple(source for source in found if source.path not in inside), resolved.not_read
