"""Columns of the other set, which may have other names than those of the input."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nearkin.errors import MissingColumnError, ParameterError, SourceError
from nearkin.workflows.reading.inputs import StoredSource
from nearkin.workflows.reading.request import ReadingRequest

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
