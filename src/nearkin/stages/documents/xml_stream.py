"""XML of any size through expat, which resolves nothing.

The document type that many files name is not fetched, and a file that declares entities of its own is refused, as
these can unfold to any size or name other files.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.parsers import expat

from nearkin.errors import SourceError
from nearkin.stages.documents.streams import ByteStream, StreamFault

_READ_BYTES = 1 << 18
_MAX_MARKUP_BYTES = 16 << 20
"""Of one tag or comment: expat holds it until its end comes."""
_CUT_SHORT = frozenset((expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN))


def guarded_parser(stream: ByteStream, name: str) -> expat.XMLParserType:
    """A parser for a stream, which raises SourceError where the file declares entities or a type of its own."""

    def refuse() -> None:
        raise SourceError(
            f"{name}: it declares a document type of its own, which may unfold to any size or name other files. "
            "Take the <!DOCTYPE ...> out, if you trust the file."
        )

    def doctype(name: str, system_id: str | None, public_id: str | None, has_internal_subset: int) -> None:
        if has_internal_subset:
            refuse()

    def entity(*declared: object) -> None:
        refuse()

    has_mark = bool(stream.byte_order_mark())  # then what comes is UTF-8, whatever the file says of itself
    parser = expat.ParserCreate("utf-8" if has_mark else None)
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = entity
    return parser


def parse(parser: expat.XMLParserType, stream: ByteStream) -> Iterator[bytes]:
    """Feed the stream to the parser; each piece is handed out after the parser has told all that it could of it.

    Raises
    ------
    StreamFault
        The file breaks off or is no XML.
    """
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
        return f"the encoding that the file names is not known ({error})"
    said = expat.ErrorString(error.code)
    if said in _CUT_SHORT:
        return f"the XML is truncated in line {error.lineno}"
    return f"the XML is not well-formed in line {error.lineno}, column {error.offset + 1}: {said}"
