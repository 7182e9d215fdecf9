"""One file → its text, with the id that adding it would give it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nearkin.errors import SourceError
from nearkin.runs.progress import Silent
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.documents.rules import ReadingRules
from nearkin.workflows.reading.request import ReadingRequest

_AS_IT_CAME = Normalisation(nfkc=False, case=False, space=False)


@dataclass(frozen=True, slots=True)
class OneDocument:
    """A file that is one document: its id, as `nearkin add` would make it, its text, and the name of the file."""

    doc_id: str
    text: str
    source: str


def read_one_text(path: Path, encoding: str = "utf-8", rules: ReadingRules | None = None) -> str:
    """The text of a file that is one document; see `read_one_document`."""
    return read_one_document(path, encoding, rules).text


def read_one_document(path: Path, encoding: str = "utf-8", rules: ReadingRules | None = None) -> OneDocument:
    """A file that is one document, text with markup too; of the rules, its maximum size counts.

    Raises
    ------
    SourceError
        It is not there, or is no text.
    """
    if path.is_dir():
        raise SourceError(f"{path} is a folder. Name one file.")
    reading = ReadingRequest([str(path)], file_format="file", encoding=encoding, rules=rules or ReadingRules())
    texts = reading.opened(Silent())
    for raw in texts.raw_batches(Silent()):
        prepared = texts.prepare(raw, _AS_IT_CAME).prepared
        if prepared.num_rows != 1:
            break
        if prepared["problem"][0].is_valid:
            raise SourceError(f"{path}: {prepared['problem'][0]}")
        return OneDocument(str(prepared["doc_id"][0]), str(prepared["text"][0]), texts.names[0])
    raise SourceError(f"{path} is not one file. Name the file that is asked for.")
