"""One file → its text."""

from __future__ import annotations

from pathlib import Path

from nearkin.errors import SourceError
from nearkin.runs.progress import Silent
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.workflows.signing.texts import Reading

_AS_IT_CAME = Normalisation(nfkc=False, case=False, space=False)


def read_one_text(path: Path, encoding: str = "utf-8") -> str:
    """The text of a file that is one document.

    Raises
    ------
    SourceError
        It is not there, or is no text.
    """
    texts = Reading([str(path)], file_format="file", encoding=encoding).opened(Silent())
    for raw in texts.raw_batches(Silent()):
        prepared = texts.prepare(raw, _AS_IT_CAME).prepared
        if prepared.num_rows != 1:
            break
        if prepared["problem"][0].is_valid:
            raise SourceError(f"{path}: {prepared['problem'][0]}")
        return str(prepared["text"][0])
    raise SourceError(f"{path} is not one file. Name the file that is asked for.")
