"""Body of a request → the text of a document: unchanged text, or a file that is read in the sandbox."""

from __future__ import annotations

import codecs
import io

from nearkin.errors import DocumentError
from nearkin.stages.documents.members import printable_id
from nearkin.web.api.operation import RequestBody
from nearkin.web.queries import InvalidRequestError
from nearkin.web.sent_files import SentFile
from nearkin.workflows.reading.one_text import OneDocument

TEXT = "text/plain"
_SHOWN = "the document"
"""Name, in messages, of a file that was sent without one."""


def document_of(sent: RequestBody, name: str | None, encoding: str = "utf-8") -> OneDocument:
    """Return a document with its text and the properties of its file.

    Parameters
    ----------
    sent : RequestBody
        "text/plain" is text; anything else is a file as it is, whose kind its bytes say, or the suffix of ``name``.
    name : str or None
        Name of the file, as messages show it. It never becomes a path.
    encoding : str
        Encoding of a file of text that is not valid UTF-8.

    Raises
    ------
    DocumentError
        The text is not in the encoding that the request names.
    InvalidRequestError
        An encoding of files is given for text.
    SourceError
        The file cannot be read, or holds no text.
    """
    if sent.media_type == TEXT:
        if not _is_utf8(encoding):
            raise InvalidRequestError("query.encoding", "this is for files. Name the charset of text in Content-Type.")
        return OneDocument(doc_id="", text=_decoded(sent), source="")
    return SentFile(name or "", io.BytesIO(sent.content)).document(encoding, shown=printable_id(name or "") or _SHOWN)


def _is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name == "utf-8"
    except (LookupError, ValueError):  # ValueError: NUL, or half a character
        return False


def _decoded(sent: RequestBody) -> str:
    try:
        if not codecs.lookup(sent.charset)._is_text_encoding:
            raise LookupError
        text = sent.content.decode(sent.charset)
        text.encode("utf-8")  # UTF-7 may have halves of characters
        return text
    except LookupError:
        raise DocumentError(f"The charset of the body must be that of a text. Got {sent.charset!r} instead.") from None
    except UnicodeError as error:
        raise DocumentError(
            f"The body must be text in {sent.charset}: {error}. Name its charset in Content-Type, or send "
            "application/octet-stream, so that it is read as a file."
        ) from None
