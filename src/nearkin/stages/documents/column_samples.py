"""Columns of a source, as its first rows show them: names, lengths of texts, types that are no texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from nearkin.arguments import plain_number
from nearkin.stages.documents.arrow_values import as_binary, holds_characters, is_binary, plain
from nearkin.stages.documents.values import WrittenNumber, has_own_text, in_words

_CODE = re.compile(
    r"""(?x) \s* (?:
      [!-~]* \d [!-~]*              # one word with a digit: an id, a number, a date, a hash
    | [a-z][a-z0-9+.-]*://\S+ | www\.\S+ | [^\s@]+@[^\s@]+\.[^\s@]+
    | [\d\W_]+ (?: (?:T|Z|UTC|GMT|[AaPp][Mm]) [\d\W_]* )*   # dates and times, numbers with units of their own
    ) \s*"""
)
_MAX_CODE = 2048
_WITHOUT_SPACES = re.compile("[^\0-\u0dff]")  # compiled in a tenth of the time of a range up to the last character


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSample:
    """Information about columns from the first rows of a source.

    Parameters
    ----------
    names : tuple of str
        All columns, in the order of the source.
    mean_length : mapping of str to float
        Average length of the values, for each string column.
    id_names : frozenset of str
        Columns whose values may be ids: strings or integers.
    is_partial : bool
        Whether only the beginning of the first record was visible, so that there may be more columns.
    mean_words : mapping of str to float
        Average number of words in the values that are not empty, for each string column.
    objects : mapping of str to str
        Columns that hold objects or lists, of JSON or of Arrow, with "an object" or "a list".
    unfit : mapping of str to str
        Columns that cannot hold texts, with the type of their values.
    without_values : frozenset of str
        Columns whose values are all null or empty, though they may hold texts.
    codes : frozenset of str
        Columns of strings that all look like ids, numbers, dates, hashes or addresses.
    """

    names: tuple[str, ...]
    mean_length: Mapping[str, float]
    id_names: frozenset[str]
    is_partial: bool = False
    mean_words: Mapping[str, float] = field(default_factory=dict)
    objects: Mapping[str, str] = field(default_factory=dict)
    unfit: Mapping[str, str] = field(default_factory=dict)
    without_values: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()


def sample_of_records(records: Iterable[Mapping[str, object]], *, is_partial: bool = False) -> ColumnSample:
    """Return the columns of a few records from JSON or Python.

    A few values of another type are bad records; they do not change the type of the column.
    """
    records = list(records)
    lengths: dict[str, list[int]] = {}
    words: dict[str, list[float]] = {}
    n_texts: dict[str, int] = {}
    n_others: dict[str, int] = {}
    n_not_ids: dict[str, int] = {}
    unfit: dict[str, str] = {}
    names: dict[str, None] = {}
    for record in records:
        for name, given in record.items():
            names[name], value = None, plain_number(given)
            if isinstance(value, (str, bytes)) and not isinstance(value, WrittenNumber):
                lengths.setdefault(name, []).append(len(value))
                words.setdefault(name, []).append(_n_words(value))
                n_texts[name] = n_texts.get(name, 0) + (not _is_code(value))
            elif value is not None:
                n_others[name] = n_others.get(name, 0) + 1
                unfit.setdefault(name, in_words(value))
                if isinstance(value, bool) or not (isinstance(value, (int, WrittenNumber)) or has_own_text(value)):
                    n_not_ids[name] = n_not_ids.get(name, 0) + 1
    mean_length = {name: sum(of) / len(of) for name, of in lengths.items() if len(of) >= n_others.get(name, 0)}
    n_values = {name: len(lengths.get(name, ())) + n_others.get(name, 0) for name in names}
    ids = frozenset(name for name in names if n_values[name] > 2 * n_not_ids.get(name, 0))
    return ColumnSample(
        names=tuple(names),
        mean_length=mean_length,
        id_names=ids,
        is_partial=is_partial,
        mean_words={name: _mean_words(of) for name, of in words.items()},
        objects=objects_of_records(records),
        unfit={name: kind for name, kind in unfit.items() if name not in lengths},
        without_values=frozenset(name for name in names if name not in n_others and not any(lengths.get(name, ()))),
        codes=frozenset(name for name, n in n_texts.items() if not n and any(lengths[name])),
    )


def _is_code(value: str | bytes) -> bool:
    """Whether a string is empty, or looks like an id, a number, a date, a hash or an address."""
    characters = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return len(characters) <= _MAX_CODE and (not characters.strip() or _CODE.fullmatch(characters) is not None)


def objects_of_records(records: Iterable[Mapping[str, object]]) -> dict[str, str]:
    """Return the keys whose value is an object or a list in some record; see `ColumnSample`."""
    return {
        name: "an object" if isinstance(value, Mapping) else "a list"
        for record in records
        for name, value in record.items()
        if isinstance(value, (Mapping, list))
    }


def objects_of_schema(schema: pa.Schema) -> dict[str, str]:
    """Return the columns of structs, maps and lists; see `ColumnSample`."""
    found = {}
    for name, type_ in zip(schema.names, schema.types):
        if pa.types.is_struct(type_) or pa.types.is_map(type_):
            found[name] = "an object"
        elif pa.types.is_nested(type_):
            found[name] = "a list"
    return found


def _n_words(value: str | bytes) -> float:
    """Count words by spaces; two letters of a script without spaces count as one; without letters there are none."""
    if isinstance(value, bytes):
        return len(value.split())
    if not any(map(str.isalpha, value)):
        return 0
    return len(value.split()) + len(_WITHOUT_SPACES.findall(value)) / 2


def _mean_words(of_values: Iterable[float]) -> float:
    """Return the average of the values that have words."""
    found = [n for n in of_values if n]
    return sum(found) / len(found) if found else 0.0


def sample_of_table(table: pa.Table) -> ColumnSample:
    """Return the columns of the first rows of a table."""
    mean_length: dict[str, float] = {}
    mean_words: dict[str, float] = {}
    unfit: dict[str, str] = {}
    ids = set()
    without_values = set()
    codes = set()
    for name, type_, column in zip(table.schema.names, table.schema.types, table.columns, strict=True):
        if holds_characters(type_):
            values = [value for value in _characters(column.slice(0, 20)) if value is not None]
            mean_length[name] = sum(map(len, values)) / len(values) if values else 0.0
            mean_words[name] = _mean_words(map(_n_words, values))
            ids.add(name)
            if not mean_length[name]:
                without_values.add(name)
            elif all(map(_is_code, values)):
                codes.add(name)
        elif pa.types.is_null(type_):
            without_values.add(name)
        else:
            unfit[name] = str(type_)
            if pa.types.is_integer(type_):
                ids.add(name)
    return ColumnSample(
        names=tuple(table.schema.names),
        mean_length=mean_length,
        id_names=frozenset(ids),
        mean_words=mean_words,
        objects=objects_of_schema(table.schema),
        unfit=unfit,
        without_values=frozenset(without_values),
        codes=frozenset(codes),
    )


def _characters(column: pa.ChunkedArray) -> list[bytes | str | None]:
    """Return string or binary values; strings may contain bytes that are not UTF-8."""
    values: list[bytes | None] = []
    for chunk in column.chunks:
        values += as_binary(plain(chunk)).to_pylist()
    if is_binary(column.type):
        return list(values)
    return [None if value is None else value.decode("utf-8", "replace") for value in values]
