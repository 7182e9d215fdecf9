"""Texts inside the values of a column: ``messages[].content`` is a member of each object of a list."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

_STEP = re.compile(r"\[\]|\.([^.\[\]]+)")
_PATH = re.compile(r"([^.\[\]]+)((?:\[\]|\.[^.\[\]]+)+)")
_EACH = "[]"


@dataclass(frozen=True, slots=True)
class TextPath:
    r"""A column, and the way from its values to texts: ``[]`` for each element of a list, or the name of a member.

    Examples
    --------
    >>> path = TextPath.of("messages[].content", ["id", "messages"])
    >>> path.text([{"role": "user", "content": "Where is it?"}, {"role": "assistant", "content": "Here."}])
    'Where is it?\nHere.'
    """

    column: str
    steps: tuple[str, ...]

    @classmethod
    def of(cls, name: str, columns: Collection[str] = ()) -> TextPath | None:
        """Return the path that a name is, unless it is the name of a column."""
        found = None if name in columns else _PATH.fullmatch(name)
        return None if found is None else cls(found[1], tuple(step[1] or _EACH for step in _STEP.finditer(found[2])))

    def type_in(self, type_: pa.DataType) -> pa.DataType | None:
        """Return the type of the texts in a column of this type; None if the path leads nowhere."""
        for step in self.steps:
            if step == _EACH and pa.types.is_nested(type_) and hasattr(type_, "value_type"):
                type_ = type_.value_type
            elif step != _EACH and pa.types.is_struct(type_) and type_.get_field_index(step) >= 0:
                type_ = type_.field(step).type
            else:
                return None
        return type_

    def text(self, value: object) -> object:
        """Return the strings that a value holds, joined by line ends; None if it holds none.

        If one of them is no string, it is returned instead.
        """
        texts = [text for text in _inside(value, self.steps) if text is not None]
        odd = next((text for text in texts if not isinstance(text, (str, bytes))), None)
        if odd is not None or not texts:
            return odd
        if all(isinstance(text, str) for text in texts):
            return "\n".join(texts)  # type: ignore[arg-type]  # they are strings
        return b"\n".join(text.encode() if isinstance(text, str) else text for text in texts)  # type: ignore[misc]

    def texts(self, column: pa.Array) -> pa.LargeBinaryArray:
        """Return the text of each value of a column; null where there is none, or it is not valid UTF-8."""
        texts: list[bytes | None] = []
        for value in column:
            try:
                text = self.text(value.as_py())
            except UnicodeDecodeError:
                text = None
            texts.append(text.encode() if isinstance(text, str) else text if isinstance(text, bytes) else None)
        return pa.array(texts, pa.large_binary())


def _inside(value: object, steps: Sequence[str]) -> Iterator[object]:
    if not steps:
        yield value
    elif steps[0] == _EACH and isinstance(value, (list, tuple)):
        for element in value:
            yield from _inside(element, steps[1:])
    elif isinstance(value, Mapping) and steps[0] in value:
        yield from _inside(value[steps[0]], steps[1:])


def column_of(name: str, columns: Collection[str]) -> str:
    """Return the column that a text is in.

    Examples
    --------
    >>> column_of("meta.text", ["id", "meta"]), column_of("meta.text", ["meta.text"])
    ('meta', 'meta.text')
    """
    path = TextPath.of(name, columns)
    return name if path is None else path.column


def has_text(record: Mapping[str, object], name: str) -> bool:
    """Whether a record has the column of a text."""
    return column_of(name, record) in record


def text_in(record: Mapping[str, object], name: str) -> object:
    """Return the text of a record that has its column."""
    path = TextPath.of(name, record)
    return record[name] if path is None else path.text(record[path.column])
