"""The two sides of a search for pairs, as its run and its plan read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nearkin.errors import ParameterError, SourceError
from nearkin.jobs.documents import Documents, check_have_effect, inputs_of, readable_twice
from nearkin.runs.progress import Progress
from nearkin.stages.documents.rules import ReadingRules
from nearkin.workflows.pairing.inputs import PairInput, names_of_columns
from nearkin.workflows.reading.request import ReadingRequest


@dataclass(frozen=True, slots=True)
class SideReading:
    """Options for reading the documents of a side."""

    file_format: str | None
    encoding: str
    rules: ReadingRules
    progress: Progress

    def request(
        self,
        documents: Documents,
        name: str,
        *,
        text: str | None = None,
        id: str | None = None,
        own_text: str | None = None,
        own_id: str | None = None,
    ) -> ReadingRequest:
        """Ask for the documents of a side to be read; an error of documents in memory names the side.

        The columns of both sides are ``text`` and ``id``, unless the side has its own.
        """
        named = names_of_columns(name, text=(own_text, text), id=(own_id, id))
        text, id = own_text or text, own_id or id
        try:
            inputs = inputs_of(documents, name=name, text=text, id=id, progress=self.progress)
        except SourceError as error:
            error.parameter = named.get(error.parameter or "", error.parameter)
            raise
        return ReadingRequest(
            inputs=inputs, file_format=self.file_format, text=text, doc_id=id, encoding=self.encoding,
            rules=self.rules, named=named,
        )  # fmt: skip


def readable_sides(
    left: Documents,
    right: Documents,
    *,
    names: tuple[str, str] = ("left", "right"),
    columns: Mapping[str, object],
    of_files: Mapping[str, bool],
    translated: Documents = None,
) -> tuple[Documents, Documents]:
    """Return the documents of both sides, which can be read twice; refuse parameters without an effect.

    Parameters
    ----------
    left, right : Documents
    names : tuple of str
        Parameters of the two sides, for messages.
    columns : mapping
        Names of columns by parameter; those of one side begin with ``left_`` or ``right_``.
    of_files : mapping of str to bool
        As for `check_have_effect`.
    translated : Documents, optional
        Documents of the left side in the language of the right one, which may be files.

    Raises
    ------
    ParameterError
    """
    is_one = right is left  # an iterator is read once, for both
    left = readable_twice(left, names[0])
    right = left if is_one else readable_twice(right, names[1])
    own = [{name: one for name, one in columns.items() if name.startswith(side)} for side in ("left_", "right_")]
    check_have_effect(left, of_columns=own[0], of_files={})
    check_have_effect(right, of_columns=own[1], of_files={})
    both = {name: one for name, one in columns.items() if name not in own[0] | own[1]}
    sets = [left, right] if translated is None else [left, right, translated]
    check_have_effect(*sets, of_columns=both, of_files=of_files)
    return left, right


def check_two_sides(left: Documents, right: Documents, given: PairInput, owner: str) -> None:
    """Refuse the same documents in memory on both sides, unless the sides have different columns."""
    columns = [one.text for side in (given.left, given.right) for one in side.inputs if not isinstance(one, str)]
    if left is right and len(columns) == 2 and columns[0] == columns[1]:
        raise ParameterError(
            f"The documents on both sides of {owner} are the same. Name a column for each side by 'left_text' and "
            "'right_text'; for pairs inside one corpus use nearkin.dedup."
        )
