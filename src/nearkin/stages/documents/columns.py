"""Choice of the columns with texts and ids if the user did not name them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import pyarrow as pa

from nearkin.arguments import plain_number
from nearkin.errors import MissingColumnError, ParameterError, SourceError
from nearkin.message_pieces import NamedParameter
from nearkin.nouns import counted, first_of
from nearkin.stages.documents.values import WrittenNumber, has_own_text, in_words

TABLE_IN_MEMORY = "the table"
"""Name of an Arrow table in messages."""
TEXT_NAMES = (
    "text", "content", "body", "document", "raw_content", "text_content", "contents", "full_text", "fulltext",
    "raw_text", "page_content", "plain_text", "extracted_text", "article", "message", "passage",
)  # fmt: skip
"""Usual names of text columns, the likeliest first."""

ID_NAMES = (
    "id", "doc_id", "docid", "document_id", "_id", "url", "name", "key", "control_number", "control number", "docno",
    "uuid", "guid", "uri", "warc_record_id", "task_id", "filename", "file_name", "path",
)  # fmt: skip
"""Usual names of id columns, the likeliest first."""

KNOWN_NAMES = frozenset((*TEXT_NAMES, *ID_NAMES, "title"))
"""Names by which the first line of a file is recognised as a header."""

PART_NAMES = frozenset(
    (
        "instruction", "input", "output", "prompt", "completion", "response", "question", "answer", "query", "context",
        "chosen", "rejected", "premise", "hypothesis", "sentence1", "sentence2", "source", "target", "src", "tgt",
        "user", "assistant", "summary", "highlights",
    )
)  # fmt: skip
"""Names of texts that belong together: if there are two of them, neither alone is the document."""

_FEW_WORDS = 3
_MAX_NAME, _N_SHOWN = 120, 40
_MAX_LISTED = 30
_NUMBER = re.compile(r"[\d\W]*\d[\d\W]*")
_WITHOUT_SPACES = re.compile("[^\0-\u0dff]")  # compiled in a tenth of the time of a range up to the last character

WITHOUT_CHECK = {
    pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view(),
}  # fmt: skip
"""String types, and the binary type with the same layout."""
WITHOUT_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
"""View types, for which Arrow lacks functions, and equivalent types that have them all."""
_ARE_BINARY = (
    pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary,
)  # fmt: skip


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
    """

    names: tuple[str, ...]
    mean_length: Mapping[str, float]
    id_names: frozenset[str]
    is_partial: bool = False
    mean_words: Mapping[str, float] = field(default_factory=dict)
    objects: Mapping[str, str] = field(default_factory=dict)
    unfit: Mapping[str, str] = field(default_factory=dict)
    without_values: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns to read, and a sentence for each that was guessed."""

    text: str
    id: str | None
    guesses: tuple[str, ...]


def sample_of_records(records: Iterable[Mapping[str, object]], *, is_partial: bool = False) -> ColumnSample:
    """Return the columns of a few records from JSON or Python.

    A few values of another type are bad records; they do not change the type of the column.
    """
    records = list(records)
    lengths: dict[str, list[int]] = {}
    words: dict[str, list[float]] = {}
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
    )


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


def inside_hint(names: Iterable[str], objects: Mapping[str, str]) -> str:
    """Say of the first of some names that is a column of objects or lists that what is inside cannot be named.

    Examples
    --------
    >>> inside_hint(["id", "messages"], {"messages": "a list"})
    " Fields inside a list ('messages') cannot be named; lift them to the top level."
    """
    inside = next((name for name in names if name in objects), None)
    if inside is None:
        return ""
    return f" Fields inside {objects[inside]} ('{inside}') cannot be named; lift them to the top level."


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
    for name, type_, column in zip(table.schema.names, table.schema.types, table.columns, strict=True):
        if holds_characters(type_):
            values = [value for value in _characters(column.slice(0, 20)) if value is not None]
            mean_length[name] = sum(map(len, values)) / len(values) if values else 0.0
            mean_words[name] = _mean_words(map(_n_words, values))
            ids.add(name)
            if not mean_length[name]:
                without_values.add(name)
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
    )


def _characters(column: pa.ChunkedArray) -> list[bytes | str | None]:
    """Return string or binary values; strings may contain bytes that are not UTF-8."""
    values: list[bytes | None] = []
    for chunk in column.chunks:
        values += as_binary(plain(chunk)).to_pylist()
    is_binary = any(check(value_type(column.type)) for check in _ARE_BINARY)
    if is_binary:
        return list(values)
    return [None if value is None else value.decode("utf-8", "replace") for value in values]


def as_binary(values: pa.Array) -> pa.Array:
    """Return strings of any type as large_binary, unchecked: a string may contain bytes that are not UTF-8."""
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), pa.large_binary())
    if values.type in WITHOUT_CHECK:
        values = values.view(WITHOUT_CHECK[values.type])
    return values.cast(pa.large_binary())


def plain(values: pa.Array) -> pa.Array:
    """Return values without dictionary, extension or views."""
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if pa.types.is_dictionary(values.type):
        if values.type.value_type not in WITHOUT_VIEWS:
            return values.dictionary_decode()
        return plain(values.dictionary).take(values.indices)
    without_views = WITHOUT_VIEWS.get(values.type)
    return values if without_views is None else as_binary(values).view(without_views)  # a cast would check strings


def value_type(type_: pa.DataType) -> pa.DataType:
    """Return the type of the values, without dictionary or extension."""
    if isinstance(type_, pa.BaseExtensionType):
        type_ = type_.storage_type
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def holds_characters(type_: pa.DataType) -> bool:
    """Whether a column of this type can hold texts."""
    type_ = value_type(type_)
    return type_ in WITHOUT_CHECK or any(check(type_) for check in _ARE_BINARY)


def check_header(names: Sequence[str], label: str) -> None:
    """Raise SourceError if the first line of a table is probably its first record: nothing says that it is a header.

    Examples
    --------
    >>> check_header(["number", "wording"], "in.csv")
    >>> check_header(["17", "It was a dark night."], "in.csv")
    Traceback (most recent call last):
    ...
    nearkin.errors.SourceError: in.csv has no header: its first line, '17', 'It was a dark night.', looks like a record.
    Put a line with the names of the columns, such as id,text, before it (psql: COPY … WITH (FORMAT csv, HEADER)); if it
    is a header, name the text column with --text.
    """
    if not {_folded(name) for name in names}.isdisjoint(KNOWN_NAMES | PART_NAMES):
        return
    if any(len(name) > _MAX_NAME or _NUMBER.fullmatch(name) for name in names):
        shown = first_of([repr(_shortened(name)) for name in names], 3)
        raise SourceError(
            f"{label} has no header: its first line, {shown}, looks like a record. "
            "Put a line with the names of the columns, such as id,text, before it (psql: COPY … WITH (FORMAT csv, "
            "HEADER)); if it is a header, name the text column with ",
            NamedParameter("text"),
            ".",
        )


def _shortened(name: str) -> str:
    return name if len(name) <= _MAX_NAME else f"{name[:_N_SHOWN]}…"


def listed_columns(names: Sequence[str]) -> str:
    """List names of columns for a message: the first ones, long ones shortened, and the number of the others.

    Examples
    --------
    >>> listed_columns(["id", "text"]), listed_columns([f"c{i}" for i in range(5000)])[-23:]
    ('id, text', 'c28, c29 and 4,970 more')
    """
    return first_of([_shortened(name) for name in names[:_MAX_LISTED]], _MAX_LISTED, len(names))


def choose_columns(sample: ColumnSample, label: str, *, text: str | None, doc_id: str | None) -> Columns:
    """Return the named columns, or guess them from names and, for the text, from contents.

    Raises
    ------
    SourceError
        A named column is missing, or no column, or more than one, can be the text.
    """
    for parameter, named in (("text", text), ("id", doc_id)):
        if named is not None and named not in sample.names and not sample.is_partial:
            raise missing_column(label, parameter, named, sample.names, objects=sample.objects)
    if text is not None and text == doc_id:
        raise ParameterError(f"{label}: the id and the text must be different columns. Got '{text}' for both.")
    guesses = []
    every = listed_columns(sample.names)
    if text is None:
        text = _guess_text(sample, label, doc_id)
        guesses.append(f"text column: '{_shortened(text)}' (guessed from the columns {every})")
    if doc_id is None:
        doc_id = _first_named(ID_NAMES, [name for name in sample.names if name in sample.id_names and name != text])
        doc_id = doc_id or _first_named(
            ID_NAMES, [name for name in sample.names if name in sample.without_values - {text}]
        )
        if doc_id is not None:
            guesses.append(f"id column: '{doc_id}' (guessed from the columns {every})")
        else:
            guesses.append(f"id column: none found among the columns {every}; documents are named file:line")
    return Columns(text, doc_id, tuple(guesses))


def missing_column(
    label: str,
    parameter: str,
    named: str,
    names: Sequence[str],
    *,
    n_seen: int | None = None,
    objects: Mapping[str, str] = MappingProxyType({}),
) -> MissingColumnError:
    """Return the error for a missing column; ``n_seen`` records were read where each may have other columns.

    If one of the ``objects`` is named with a field of it, such as ``meta.site``, the error says that fields have no
    names.
    """
    hint = inside_hint((named[:at] for at, letter in enumerate(named) if letter == "."), objects)
    columns, seen = listed_columns(names) or "none", ". The"
    if n_seen is not None:
        seen = f" in the first {counted(n_seen, 'record')}; at least one must have it. Their"
    return MissingColumnError(
        f"{label}: there is no column '{named}' (",
        NamedParameter(parameter, is_bare=True),
        f"){seen} columns are: {columns}.{hint}",
        in_python=label == TABLE_IN_MEMORY,
    )


def check_column(label: str, parameter: str, named: str, schema: pa.Schema) -> None:
    """Raise SourceError unless a table has exactly one column of that name."""
    names = schema.names
    if named not in names:
        raise missing_column(label, parameter, named, names, objects=objects_of_schema(schema))
    check_unique(label, {parameter: named}, names)


def check_unique(label: str, used: Mapping[str, str | None], names: Sequence[str]) -> None:
    """Raise SourceError if several columns have the name of a used one; names of unused columns may repeat.

    ``used`` has the names by their parameters, of which "" is none.
    """
    for parameter, named in used.items():
        if named is not None and (n_alike := names.count(named)) > 1:
            option = (" (", NamedParameter(parameter, is_bare=True), ")") if parameter else ()
            raise SourceError(
                f"{label}: {counted(n_alike, 'column')} have the name '{named}'",
                *option,
                f"; it must be unique. Rename the others. The columns are: {listed_columns(names)}.",
                in_python=label == TABLE_IN_MEMORY,
            )


def likely_text(sample: ColumnSample, doc_id: str | None) -> str | None:
    """Return the column with the likeliest name of a text, even if its first values are null; one that fits first."""
    names = [name for name in sample.names if name != doc_id]
    fit = _first_named(TEXT_NAMES, [name for name in names if name not in sample.unfit])
    return fit if fit is not None else _first_named(TEXT_NAMES, names)


def _guess_text(sample: ColumnSample, label: str, doc_id: str | None) -> str:
    """Return the column with a likely name, else the only one with texts that are not ids."""
    columns, in_python = listed_columns(sample.names) or "none", label == TABLE_IN_MEMORY
    named = likely_text(sample, doc_id)
    if named is not None and named in sample.unfit:
        raise SourceError(
            f"{label}: the column '{named}' has the name of a text but holds {_shortened(sample.unfit[named])}, not "
            "strings. Name the text column with ",
            NamedParameter("text"),
            f" (the columns are: {columns}).",
            in_python=in_python,
        )
    if named is not None:
        return named
    if sample.is_partial:
        raise SourceError(
            f"{label}: the first record is so long that only its beginning was inspected, and no column there has a "
            f"likely name (columns seen: {columns}). Name the text column with ",
            NamedParameter("text"),
            ".",
            in_python=in_python,
        )
    candidates = _texts(sample, doc_id)
    if not candidates:
        beside = f" beside the ids ({listed_columns([*sample.mean_length])})" if sample.mean_length else ""
        said = f"{label}: no column holds text{beside}. The columns are: {columns}. Name it with "
        hint = inside_hint(sample.names, sample.objects)
        raise SourceError(said, NamedParameter("text"), f".{hint}", in_python=in_python)
    if len(candidates) > 1:
        raise SourceError(
            f"{label}: several columns hold text, and none has a likely name: {listed_columns(candidates)}. Name the "
            "one to compare with ",
            NamedParameter("text"),
            f" (the columns are: {columns}).",
            in_python=in_python,
        )
    return candidates[0]


def _texts(sample: ColumnSample, doc_id: str | None) -> list[str]:
    """Return the columns that may be the text; if there are several, the choice is ambiguous.

    Labels, names and numbers as strings do not count beside a column with more than a few words. The column of the ids
    never counts, and a column without values does where no other has more than a few words: its texts may come later.
    """
    ids = doc_id or _first_named(ID_NAMES, sample.names)
    strings = [name for name in sample.names if name in sample.mean_length or name in sample.without_values]
    others = [name for name in strings if name != doc_id and _folded(name) not in ID_NAMES]
    if sample.without_values.issuperset(sample.names):  # so nothing can be misread
        return others[:1]
    parts = [name for name in others if _folded(name) in PART_NAMES]
    if len(parts) > 1:
        return parts
    wordy = _with_words(sample, others, _FEW_WORDS)
    if wordy:
        return wordy
    unknown = [name for name in others if name in sample.without_values]
    if found := _with_words(sample, others, 1):
        return [*found, *unknown]
    if others != unknown:
        return others
    return [*_with_words(sample, [name for name in strings if name not in (ids, *others)], _FEW_WORDS), *unknown]


def _with_words(sample: ColumnSample, names: Iterable[str], least: int) -> list[str]:
    return [name for name in names if sample.mean_words.get(name, 0.0) >= least]


def _folded(name: str) -> str:
    return name.strip().casefold()


def _first_named(likely: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the first of the likely names that exists, ignoring case."""
    by_folded: dict[str, str] = {}
    for name in names:
        by_folded.setdefault(_folded(name), name)
    return next((by_folded[name] for name in likely if name in by_folded), None)
