"""The two sides of a search for pairs, as its run and its plan read them."""

from __future__ import annotations

from dataclasses import dataclass

from nearkin.errors import ParameterError, SourceError
from nearkin.jobs.documents import Documents, inputs_of
from nearkin.runs.progress import Progress
from nearkin.stages.documents.rules import ReadingRules
from nearkin.workflows.pairing.inputs import PairInput
from nearkin.workflows.reading.request import ReadingRequest


@dataclass(frozen=True, slots=True)
class SideReading:
    """Options for reading the documents of a side."""

    file_format: str | None
    encoding: str
    rules: ReadingRules
    progress: Progress
    owner: str

    def request(self, documents: Documents, name: str, text: str | None, id: str | None) -> ReadingRequest:
        """Ask for the documents of a side to be read; an error of documents in memory names the side."""
        try:
            inputs = inputs_of(documents, self.owner, name=name, text=text, id=id, progress=self.progress)
        except SourceError as error:
            raise SourceError(f"{name}: {error}") from error
        return ReadingRequest(
            inputs=inputs, file_format=self.file_format, text=text, doc_id=id, encoding=self.encoding, rules=self.rules
        )


def check_two_sides(left: Documents, right: Documents, given: PairInput, owner: str) -> None:
    """Refuse the same documents in memory on both sides, unless the sides have different columns."""
    columns = [one.text for side in (given.left, given.right) for one in side.inputs if not isinstance(one, str)]
    if left is right and len(columns) == 2 and columns[0] == columns[1]:
        raise ParameterError(
            f"The documents on both sides of {owner} are the same. Name a column for each side by 'left_text' and "
            "'right_text'; for pairs inside one corpus use nearkin.dedup."
        )
