"""TMX, the exchange format of translation memories: units of a text in several languages.

Source: "TMX 1.4b Specification", LISA OSCAR, 2005.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa

from nearkin.stages.documents.rows import Row, RowList
from nearkin.stages.documents.rules import StreamFault
from nearkin.stages.documents.streams import ByteStream
from nearkin.stages.documents.xml_stream import Element, ElementReader

_BATCH_ROWS = 1 << 14
_MAX_CHARACTERS = 1 << 20
_UNIT, _VARIANT, _SEGMENT = "body/tu", "tu/tuv", "tuv/seg"
_CODES = frozenset(("bpt", "ept", "it", "ph", "ut"))
"""Elements inside a text that contain a program's markup, perhaps a line break, instead of words."""


class TmxReader:
    """Reader of the units of a TMX file that have a text in two languages; ``de`` includes ``de-AT``."""

    def __init__(self, stream: ByteStream, name: str, source: str, target: str) -> None:
        wanted = {_UNIT: 0, _VARIANT: 0, _SEGMENT: _MAX_CHARACTERS}
        self._reader = ElementReader(stream, name, "tmx", wanted, _CODES)
        self._wanted = _normal(source), _normal(target)
        self.languages: Counter[str] = Counter()
        self.n_units = 0
        self._sides = RowList(), RowList()

    def batches(self) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
        """Yield batches of source texts, each with that of their translations; ``line`` is where a unit begins."""
        segment: Element | None = None
        texts = list[tuple[str, str | None]]()
        try:
            for element in self._reader.elements():
                if element.path == _SEGMENT:
                    segment = element
                elif element.path == _VARIANT and segment is not None:
                    language = element.attributes.get("xml:lang", element.attributes.get("lang", "")).strip()
                    texts.append((language, segment.text))
                    segment = None
                elif element.path == _UNIT:
                    self._add(element, texts)
                    texts.clear()
                if len(self._sides[0].rows) >= _BATCH_ROWS:
                    yield self._batch()
        except StreamFault:
            if self._sides[0].rows:
                yield self._batch()
            raise
        if self._sides[0].rows:
            yield self._batch()

    def _batch(self) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        source, target = (side.batch() for side in self._sides)
        return source, target

    def _add(self, unit: Element, texts: list[tuple[str, str | None]]) -> None:
        self.n_units += 1
        self.languages.update(language for language, _ in texts)
        chosen = [next((text for text in texts if _is_of(text[0], wanted)), None) for wanted in self._wanted]
        if chosen[0] is None or chosen[1] is None:
            return
        sides, problem = (chosen[0][1], chosen[1][1]), unit.problem
        if None in sides:
            problem = f"too large: a text is longer than {_MAX_CHARACTERS:,} characters"
        for side, text in zip(self._sides, sides, strict=True):
            side.add(Row(unit.line, None, None if problem or text is None else text.encode(), problem))


def _normal(language: str) -> str:
    return language.strip().lower().replace("_", "-")


def _is_of(language: str, wanted: str) -> bool:
    return _normal(language) == wanted or _normal(language).startswith(f"{wanted}-")
