"""Body of a request → the text of a document: text as it is, or a file that is read in the sandbox."""

from __future__ import annotations

import codecs
import tempfile
from pathlib import Path, PurePosixPath

from nearkin.errors import DocumentError, SourceError
from nearkin.stages.documents.compression import COMPRESSION_OF_SUFFIX
from nearkin.stages.documents.extraction.kinds import KIND_OF_SUFFIX
from nearkin.web.api.operation import Sent
from nearkin.workflows.reading.one_text import OneDocument, read_one_document

TEXT = "text/plain"
_SUFFIXES = frozenset(KIND_OF_SUFFIX) | frozenset(COMPRESSION_OF_SUFFIX) | {".txt"}
_SHOWN = "the document"


def document_of(sent: Sent, name: str | None, encoding: str = "utf-8") -> OneDocument:
    """Return a document with its text, and what is known of its file.

    Parameters
    ----------
    sent : Sent
        "text/plain" is text; anything else is a file as it is, whose kind its bytes say, or the suffix of ``name``.
    name : str or None
        Name of the file. It never becomes a path.
    encoding : str
        Encoding of a file of text that is not valid UTF-8.

    Raises
    ------
    DocumentError
        The text is not in the encoding that the request names.
    SourceError
        The file cannot be read, or holds no text.
    """
    if sent.media_type == TEXT:
        return OneDocument(doc_id="", text=_decoded(sent), source="")
    suffix = PurePosixPath(name or "").suffix.lower()
    with tempfile.TemporaryDirectory(prefix="nearkin-api-") as folder:
        path = Path(folder, f"document{suffix if suffix in _SUFFIXES else ''}")
        path.write_bytes(sent.content)
        try:
            return read_one_document(path, encoding)
        except SourceError as error:
            raise SourceError(str(error).replace(str(path), _SHOWN)) from None


def _decoded(sent: Sent) -> str:
    try:
        if not codecs.lookup(sent.charset)._is_text_encoding:
            raise LookupError
        return sent.content.decode(sent.charset)
    except LookupError:
        raise DocumentError(f"The charset of the body must be that of a text. Got {sent.charset!r} instead.") from None
    except UnicodeError as error:
        raise DocumentError(
            f"The body must be text in {sent.charset}: {error}. Name its charset in Content-Type, or send "
            "application/octet-stream, so that it is read as a file."
        ) from None
