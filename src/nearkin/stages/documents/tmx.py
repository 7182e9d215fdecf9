"""TMX, the exchange format of translation memories: units of a text in several languages.

Source: "TMX 1.4b Specification", LISA OSCAR, 2005. A file of any size streams through expat (see :mod:`.xml_stream`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from nearkin.stages.documents.faults import StreamFault
from nearkin.stages.documents.rows import RowList
from nearkin.stages.documents.streams import ByteStream
from nearkin.stages.documents.xml_stream import guarded_parser, parse

_BATCH_ROWS = 1 << 14
_MAX_CHARACTERS = 1 << 20
_CODES = frozenset(("bpt", "ept", "it", "ph", "ut"))
"""Elements inside a text that contain a program's markup instead of words."""


@dataclass
class _Unit:
    line: int
    texts: list[tuple[str, str | None]] = field(default_factory=list)
    problem: str | None = None


class TmxReader:
    """Reader of the units of a TMX file that have a text in two languages; ``de`` includes ``de-AT``."""

    def __init__(self, stream: ByteStream, name: str, source: str, target: str) -> None:
        self._stream = stream
        self._name = name
        self._wanted = _normal(source), _normal(target)
        self.languages: Counter[str] = Counter()
        self.n_units = 0
        self._unit: _Unit | None = None
        self._language = ""
        self._text: list[str] | None = None
        self._n_characters = 0
        self._depth_in_code = 0
        self._sides = RowList(), RowList()

    def batches(self) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
        """Yield batches of source texts, each with that of their translations; ``line`` is where a unit begins."""
        parser = self._parser = guarded_parser(self._stream, self._name)
        parser.SkippedEntityHandler = self._skipped
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        fault: StreamFault | None = None
        try:
            for _ in parse(parser, self._stream):
                if len(self._sides[0].lines) >= _BATCH_ROWS:
                    yield self._batch()
        except StreamFault as broken:
            fault = broken
        if self._sides[0].lines:
            yield self._batch()
        if fault is not None:
            raise fault

    def _batch(self) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        source, target = (side.batch() for side in self._sides)
        return source, target

    def _skipped(self, name: str, is_parameter: int) -> None:
        if self._unit is not None and not is_parameter:
            self._unit.problem = f"damaged: it has the entity &{name};, which is not declared"

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "tu":
            self._unit = _Unit(self._parser.CurrentLineNumber)
        elif name == "tuv":
            self._language = attributes.get("xml:lang", attributes.get("lang", "")).strip()
        elif name == "seg":
            self._text, self._n_characters, self._depth_in_code = [], 0, 0
        elif self._text is not None and (self._depth_in_code or name in _CODES):
            self._depth_in_code += 1
            self._text.append(" " * (self._depth_in_code == 1))  # markup may be a line break

    def _end(self, name: str) -> None:
        if name == "tu" and self._unit is not None:
            self._close()
            self._unit = None
        elif name == "seg" and self._text is not None:
            if self._unit is not None:
                is_too_long = self._n_characters > _MAX_CHARACTERS
                self._unit.texts.append((self._language, None if is_too_long else "".join(self._text)))
            self._text = None
        elif self._depth_in_code:
            self._depth_in_code -= 1

    def _characters(self, text: str) -> None:
        if self._text is not None and not self._depth_in_code:
            self._n_characters += len(text)
            if self._n_characters <= _MAX_CHARACTERS:
                self._text.append(text)

    def _close(self) -> None:
        unit = self._unit
        if unit is None:
            return
        self.n_units += 1
        self.languages.update(language for language, _ in unit.texts)
        found = [next((v for v in unit.texts if _is_of(v[0], wanted)), None) for wanted in self._wanted]
        if found[0] is None or found[1] is None:
            return
        texts = found[0][1], found[1][1]
        problem = f"too large: a text is longer than {_MAX_CHARACTERS:,} characters" if None in texts else unit.problem
        for side, text in zip(self._sides, texts, strict=True):
            side.add(unit.line, None, None if problem or text is None else text.encode(), problem)


def _normal(language: str) -> str:
    return language.strip().lower().replace("_", "-")


def _is_of(language: str, wanted: str) -> bool:
    return _normal(language) == wanted or _normal(language).startswith(f"{wanted}-")
