"""Streaming XML parser based on expat, which resolves nothing.

The document type is not fetched, and a file with entities of its own is refused: they can expand to any size.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.parsers import expat

from nearkin.errors import SourceError
from nearkin.stages.documents.faults import StreamFault
from nearkin.stages.documents.streams import ByteStream

_READ_BYTES = 1 << 18
_MAX_MARKUP_BYTES = 16 << 20
"""Maximum size of a tag or comment, which expat holds until its end."""
_CUT_SHORT = frozenset((expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN))


def guarded_parser(stream: ByteStream, name: str) -> expat.XMLParserType:
    """Return a parser for a stream; SourceError for entities or an own document type."""

    def refuse() -> None:
        raise SourceError(
            f"{name} declares its own document type, which may expand to any size or refer to other files. "
            "Remove the <!DOCTYPE ...> if you trust the file."
        )

    def doctype(name: str, system_id: str | None, public_id: str | None, has_internal_subset: int) -> None:
        if has_internal_subset:
            refuse()

    def entity(*declared: object) -> None:
        refuse()

    has_mark = bool(stream.byte_order_mark())  # then the data is UTF-8, whatever the file declares
    parser = expat.ParserCreate("utf-8" if has_mark else None)
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = entity
    return parser


def parse(parser: expat.XMLParserType, stream: ByteStream) -> Iterator[bytes]:
    """Feed the stream to the parser; yield each piece then. StreamFault if the file breaks off or is not XML."""
    n_fed = 0
    is_done = False
    while not is_done:
        piece = stream.read(_READ_BYTES)
        is_done = not piece
        n_fed += len(piece)
        try:
            parser.Parse(piece, is_done)
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise StreamFault(_why(error)) from error
        if not is_done and n_fed - parser.CurrentByteIndex > _MAX_MARKUP_BYTES:
            line = parser.CurrentLineNumber
            raise StreamFault(f"it has a tag or a comment longer than {_MAX_MARKUP_BYTES >> 20} MiB in line {line}")
        yield piece


def _why(error: Exception) -> str:
    if not isinstance(error, expat.ExpatError):
        return f"the encoding that the file declares is unknown ({error})"
    said = expat.ErrorString(error.code)
    if said in _CUT_SHORT:
        return f"the XML is truncated in line {error.lineno}"
    return f"the XML is not well-formed in line {error.lineno}, column {error.offset + 1}: {said}"
