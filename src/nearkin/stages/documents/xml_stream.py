"""Streaming XML reader based on expat, which resolves nothing.

A file with entities of its own is refused: they can expand to any size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.parsers import expat

from nearkin.errors import SourceError
from nearkin.stages.documents.rules import StreamFault
from nearkin.stages.documents.streams import ByteStream

_READ_BYTES = 1 << 18
_MAX_MARKUP_BYTES = 16 << 20
"""Maximum size of a tag or comment, which expat holds until its end."""
_CUT_SHORT = frozenset((expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN))


@dataclass(slots=True)
class Element:
    """An element that has ended: ``path`` is the name of its parent and its own.

    ``text`` is None if it is too long, and ``problem`` that it has an entity that is not declared.
    """

    path: str
    name: str
    line: int
    attributes: dict[str, str]
    text: str | None = ""
    problem: str | None = None


class ElementReader:
    """Reader of a stream whose outermost element has the name ``root``."""

    def __init__(
        self, stream: ByteStream, name: str, root: str, wanted: Mapping[str, int], omitted: frozenset[str] = frozenset()
    ) -> None:
        self._stream, self._name, self._root, self._wanted, self._omitted = stream, name, root, wanted, omitted
        has_mark = bool(stream.byte_order_mark())  # then the data is UTF-8, whatever the file declares
        parser = self._parser = expat.ParserCreate("utf-8" if has_mark else None)
        parser.buffer_text = True
        parser.buffer_size = 1 << 16
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._refuse
        parser.SkippedEntityHandler = self._skipped
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        self._open: list[Element] = []
        self._ended: list[Element] = []
        self._text: list[str] | None = None
        self._n_left = self._n_omitted = 0

    @property
    def line(self) -> int:
        """Line reached by the reader."""
        return self._parser.CurrentLineNumber

    def elements(self) -> Iterator[Element]:
        """Yield elements as they end. StreamFault, after the last one, if the file breaks off or is not XML."""
        fault: StreamFault | None = None
        n_fed, is_done = 0, False
        while not is_done:
            try:
                piece = self._stream.read(_READ_BYTES)
                is_done = not piece
                n_fed += len(piece)
                self._parser.Parse(piece, is_done)
                if not is_done and n_fed - self._parser.CurrentByteIndex > _MAX_MARKUP_BYTES:
                    most = f"{_MAX_MARKUP_BYTES >> 20} MiB"
                    raise StreamFault(f"it has a tag or a comment longer than {most} in line {self.line}")
            except StreamFault as broken:
                fault = broken
            except (expat.ExpatError, LookupError, ValueError) as error:
                fault = StreamFault(_why(error))
            yield from self._ended
            self._ended.clear()
            if fault is not None:
                raise fault

    def _refuse(self, *declared: object) -> None:
        raise SourceError(
            f"{self._name} declares its own document type, which may expand to any size or refer to other files. "
            "Remove the <!DOCTYPE ...> if you trust the file."
        )

    def _doctype(self, name: str, system_id: str | None, public_id: str | None, has_internal_subset: int) -> None:
        if has_internal_subset:
            self._refuse()

    def _skipped(self, name: str, is_parameter: int) -> None:
        for element in () if is_parameter else self._open:
            element.problem = f"damaged: it has the entity &{name};, which is not declared"

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        parent = self._open[-1].name if self._open else ""
        if not parent and name != self._root:
            raise SourceError(
                f"The outermost element of {self._name} must be <{self._root}>. Got <{name[:40]}> instead."
            )
        element = Element(f"{parent}/{name}", name, self._parser.CurrentLineNumber, attributes)
        self._open.append(element)
        if self._text is not None and (self._n_omitted or name in self._omitted):
            self._n_omitted += 1
            self._text.append(" " * (self._n_omitted == 1))
        elif most := self._wanted.get(element.path, 0):
            self._text, self._n_left = [], most

    def _characters(self, text: str) -> None:
        if self._text is not None and not self._n_omitted:
            self._n_left -= len(text)
            if self._n_left >= 0:
                self._text.append(text)

    def _end(self, name: str) -> None:
        element = self._open.pop()
        if self._n_omitted:
            self._n_omitted -= 1
        elif element.path in self._wanted:
            if self._text is not None and self._wanted[element.path]:
                element.text = "".join(self._text) if self._n_left >= 0 else None
                self._text = None
            self._ended.append(element)


def _why(error: Exception) -> str:
    if not isinstance(error, expat.ExpatError):
        return f"the encoding that the file declares is unknown ({error})"
    said = expat.ErrorString(error.code)
    if said in _CUT_SHORT:
        return f"the XML is truncated in line {error.lineno}"
    return f"the XML is not well-formed in line {error.lineno}, column {error.offset + 1}: {said}"
