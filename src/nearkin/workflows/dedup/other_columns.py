"""Columns of the other set, which may have other names than those of the input."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nearkin.errors import MissingColumnError, ParameterError, SourceError
from nearkin.stages.documents.columns import TABLE_IN_MEMORY
from nearkin.workflows.reading.inputs import StoredSource
from nearkin.workflows.reading.request import ReadingRequest

OTHER_SET = "other set"
"""Label of messages about its files."""
_OPTION = re.compile(r"(?<=[ (])--(text|id)(?=\)|\. |\.$| )")
"""An option where a message about columns names it."""
_NAMED = re.compile(r"(?<= \()(?:--)?(text|id)(?=\))|(?<=Omit )--(text|id)(?=\.$)")
"""The option or, about documents in memory, the parameter that named a column which a message says cannot be read."""


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
            raise ParameterError(f"'{name}' needs 'against'.", named=(name, "against"))

    def request(self, asked: ReadingRequest, inputs: Sequence[str | StoredSource]) -> ReadingRequest:
        """Request the other set, read as the input except for its columns."""
        text = asked.text if self.text is None else self.text
        return replace(asked, inputs=inputs, text=text, doc_id=asked.doc_id if self.doc_id is None else self.doc_id)


AS_THE_INPUT = OtherColumns()


@contextlib.contextmanager
def about_the_other_set(columns: OtherColumns) -> Iterator[None]:
    """Name the options of the other set in messages about its columns.

    Examples
    --------
    >>> with about_the_other_set(OtherColumns(text="text")):
    ...     raise SourceError("eval.jsonl: there is no column 'text' (--text). The columns are: question.")
    Traceback (most recent call last):
    ...
    nearkin.errors.SourceError: eval.jsonl: there is no column 'text' (--against-text). The columns are: question.
    """
    try:
        yield
    except SourceError as error:
        message = str(error)
        named = _NAMED.search(message) if message.startswith(TABLE_IN_MEMORY) else None
        if named is not None and f"against_{named[1]}" in columns.given:
            message = f"{message[: named.start()]}against_{message[named.start() :]}"
        elif named is not None and isinstance(error, MissingColumnError):  # the name is that of a column of the input
            message = _with_hint(message, named)
        raise type(error)(_OPTION.sub(r"--against-\1", message)) from error


@contextlib.contextmanager
def about_the_input(columns: OtherColumns, *, is_against: bool) -> Iterator[None]:
    """Say in messages about a named column of the input how that of the other set is named, if there is one.

    Examples
    --------
    >>> with about_the_input(AS_THE_INPUT, is_against=True):
    ...     raise MissingColumnError("a.jsonl: there is no column 'question' (--text). The columns are: id, text.")
    Traceback (most recent call last):
    ...
    nearkin.errors.MissingColumnError: a.jsonl: there is no column 'question' (--text). The columns are: id, text. To
    name a column of --against, use --against-text.
    """
    try:
        yield
    except SourceError as error:
        named = _NAMED.search(str(error))
        if not is_against or named is None or f"against_{named[1] or named[2]}" in columns.given:
            raise
        if not (isinstance(error, MissingColumnError) or named[2]):
            raise
        raise type(error)(_with_hint(str(error), named)) from error


def _with_hint(message: str, named: re.Match[str]) -> str:
    name = named[1] or named[2]
    if message.startswith(TABLE_IN_MEMORY):
        return f"{message} To name a column of 'against', use 'against_{name}'."
    return f"{message} To name a column of --against, use --against-{name}."
