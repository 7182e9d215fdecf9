"""Columns of a source, as its first records show them: the text, the id, and the one that chooses what to keep."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from nearkin.arguments import plain_number
from nearkin.errors import MissingColumnError, ParameterError, SourceError
from nearkin.nouns import counted, first_of
from nearkin.stages.documents.arrays import as_binary, holds_characters, is_binary, plain
from nearkin.stages.documents.values import ColumnPath, KeepColumn, has_own_text, in_words, text_paths, value_in

TABLE_IN_MEMORY = "the table"
"""Name of an Arrow table in messages."""
TEXT_NAMES = (
    "text", "content", "body", "document", "raw_content", "text_content", "contents", "full_text", "fulltext",
    "raw_text", "page_content", "plain_text", "extracted_text", "article", "message", "passage",
)  # fmt: skip
"""Usual names of text columns, the likeliest first."""

ID_NAMES = (
    "id", "doc_id", "docid", "document_id", "_id", "uid", "uuid", "guid", "url", "name", "key", "control_number",
    "control number", "docno", "uri", "warc_record_id", "task_id", "filename", "file_name", "path",
)  # fmt: skip
"""Usual names of id columns, the likeliest first."""

NESTED_NAMES = frozenset((
    "messages", "conversations", "conversation", "dialog", "dialogue", "chat", "turns", "paragraphs", "sections",
))  # fmt: skip
"""Names of lists and objects that hold the text; what stands beside them, such as a system prompt, is not the text."""

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

INSIDE = " A text inside an object or a list is named by its path, such as doc.body or messages[].content."
SAMPLE_ROWS = 20
_FEW_WORDS = 3
_MAX_NAME, _N_SHOWN, _MAX_LISTED = 120, 40, 30
_NUMBER = re.compile(r"[\d\W]*\d[\d\W]*")
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
class Column:
    """A column, as the first records show it.

    Parameters
    ----------
    is_text
        Whether it holds strings, at most as many other values.
    is_code
        Whether the values are strings that all look like ids, numbers, dates, hashes or addresses.
    """

    is_text: bool = False
    mean_words: float = 0.0
    may_be_id: bool = False
    is_nested: bool = False
    unfit: str = ""
    is_empty: bool = False
    is_code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSample:
    """The columns of a source, and the first records that show them.

    Parameters
    ----------
    header
        Names as the source has them, which can repeat; empty if each record names its own.
    """

    columns: Mapping[str, Column]
    header: Sequence[str] = ()
    records: Sequence[Mapping[str, object]] = ()
    table: pa.Table | None = None
    delimiter: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, each once."""
        return tuple(self.columns)


def sample_of_records(
    records: Iterable[Mapping[str, object]],
    *,
    header: Sequence[str] = (),
    delimiter: str | None = None,
) -> ColumnSample:
    """Return the columns of a few records from JSON or Python.

    A few values of another type are bad records.
    """
    records = list(records)
    values: dict[str, list[object]] = {}
    for record in records:
        for name, value in record.items():
            values.setdefault(name, []).append(plain_number(value))
    columns = {name: _column(of) for name, of in values.items()}
    return ColumnSample(columns=columns, header=header, records=records, delimiter=delimiter)


def sample_of_table(table: pa.Table) -> ColumnSample:
    """Return the columns of the first rows of a table."""
    columns = {}
    for name, type_, column in zip(table.schema.names, table.schema.types, table.columns, strict=True):
        if holds_characters(type_):
            columns[name] = replace(_column(_characters(column.slice(0, SAMPLE_ROWS))), may_be_id=True, is_text=True)
        elif pa.types.is_null(type_):
            columns[name] = Column(is_empty=True)
        else:
            may_be_id = pa.types.is_primitive(type_) or pa.types.is_decimal(type_)
            may_be_id = may_be_id and not pa.types.is_boolean(type_)
            columns[name] = Column(unfit=str(type_), may_be_id=may_be_id, is_nested=pa.types.is_nested(type_))
    return ColumnSample(columns=columns, header=table.schema.names, table=table)


def _column(values: Sequence[object]) -> Column:
    strings = [value for value in values if isinstance(value, (str, bytes))]
    others = [value for value in values if value is not None and not isinstance(value, (str, bytes))]
    n_not_ids = sum(
        isinstance(other, bool) or not (isinstance(other, (int, float)) or has_own_text(other)) for other in others
    )
    words = [n for n in map(_n_words, strings) if n]
    return Column(
        is_text=bool(strings) and len(strings) >= len(others),
        mean_words=sum(words) / len(words) if words else 0.0,
        may_be_id=len(strings) + len(others) > 2 * n_not_ids,
        is_nested=any(isinstance(other, (Mapping, list)) for other in others),
        unfit=in_words(others[0]) if others and not strings else "",
        is_empty=not others and not any(strings),
        is_code=any(strings) and all(map(_is_code, strings)),
    )


def _characters(column: pa.ChunkedArray) -> list[bytes | str | None]:
    values = [value for chunk in column.chunks for value in as_binary(plain(chunk)).to_pylist()]
    if is_binary(column.type):
        return values
    return [None if value is None else value.decode("utf-8", "replace") for value in values]


def _is_code(value: str | bytes) -> bool:
    characters = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return len(characters) <= _MAX_CODE and (not characters.strip() or _CODE.fullmatch(characters) is not None)


def _n_words(value: str | bytes) -> float:
    """Count words by spaces, or pairs of letters of a script without spaces."""
    if isinstance(value, bytes):
        return len(value.split())
    if not any(map(str.isalpha, value)):
        return 0
    return len(value.split()) + len(_WITHOUT_SPACES.findall(value)) / 2


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns to read, and a sentence for each that was guessed."""

    text: str
    id: str | None
    guesses: tuple[str, ...]


def choose_columns(sample: ColumnSample, label: str, *, text: str | None, doc_id: str | None) -> Columns:
    """Return the named columns, or guess them from names and, for the text, from contents."""
    for path in [] if text is None else text_paths(text, sample.names):
        if path.column not in sample.names:
            raise missing_column(label, "text", path.column, sample.names)
    if doc_id is not None and not has_column(sample, doc_id):
        raise missing_column(label, "id", doc_id, sample.names)
    if text is not None and text == doc_id:
        raise ParameterError(f"{label}: the id and the text must be different columns. Got '{text}' for both.")
    guesses = []
    every = listed_columns(sample.names)
    if text is None:
        text = _guess_text(sample, label, doc_id)
        guesses.append(f"text column: '{_shortened(text)}' (guessed from the columns {every})")
    if doc_id is None:
        others = {name: column for name, column in sample.columns.items() if name != text}
        doc_id = _first_named(ID_NAMES, [name for name, column in others.items() if column.may_be_id])
        doc_id = doc_id or _first_named(ID_NAMES, [name for name, column in others.items() if column.is_empty])
        if doc_id is not None:
            guesses.append(f"id column: '{doc_id}' (guessed from the columns {every})")
        else:
            guesses.append(f"id column: none found among the columns {every}; documents are named file:line")
    return Columns(text, doc_id, tuple(guesses))


def has_column(sample: ColumnSample, name: str) -> bool:
    """Whether there is a column, or a member of an object in one, with this name or path."""
    if sample.table is not None:
        return is_in_schema(name, sample.table.schema)
    path = ColumnPath.of(name, sample.names, may_repeat=False)
    if path.column not in sample.names or not path.steps:
        return path.column in sample.names
    return any(value_in(record, name) is not None for record in sample.records)


def is_in_schema(name: str, schema: pa.Schema) -> bool:
    """Whether a table has a column, or a member of an object in one, with this name or path."""
    path = ColumnPath.of(name, schema.names, may_repeat=False)
    if path.column not in schema.names:
        return False
    return path.type_in(schema.types[schema.names.index(path.column)]) is not None


def _guess_text(sample: ColumnSample, label: str, doc_id: str | None) -> str:
    columns = listed_columns(sample.names) or "none"
    others = [name for name in sample.names if name != doc_id]
    fit = _first_named(TEXT_NAMES, [name for name in others if not sample.columns[name].unfit])
    named = fit or _first_named(TEXT_NAMES, others)
    if named is not None and (unfit := sample.columns[named].unfit):
        raise SourceError(
            f"{label}: the column '{named}' has the name of a text but holds {_shortened(unfit)}, not strings. Name "
            f"the text column (the columns are: {columns}).",
            parameter="text",
        )
    if named is not None:
        return named
    nested = [name for name, column in sample.columns.items() if column.is_nested]
    is_inside = any(_folded(name) in NESTED_NAMES for name in nested)
    candidates = [] if is_inside else _texts(sample, doc_id, has_nested=bool(nested))
    if not candidates:
        sentence = f"{label}: no column holds text, as far as the first rows show. The columns are: {columns}."
        hint = INSIDE if nested else ""
        raise SourceError(f"{sentence} Name the text column.{hint}", parameter="text")
    if len(candidates) > 1:
        raise SourceError(
            f"{label}: several columns hold text, and none has a likely name: "
            f"{listed_columns(candidates)}. Name the one to compare (the columns are: {columns}).",
            parameter="text",
        )
    return candidates[0]


def _texts(sample: ColumnSample, doc_id: str | None, *, has_nested: bool) -> list[str]:
    """Return the columns that may be the text.

    Labels, names and numbers as strings do not count beside a column with more than a few words, or with objects or
    lists; ids, and what looks like ids, numbers, dates, hashes or addresses, never.
    """
    columns = sample.columns
    ids = doc_id or _first_named(ID_NAMES, sample.names)
    strings = [name for name, sampled in columns.items() if sampled.is_text or sampled.is_empty]
    others = [
        name for name in strings if not columns[name].is_code and name != doc_id and _folded(name) not in ID_NAMES
    ]
    if all(column.is_empty for column in columns.values()):  # so nothing can be misread
        return others[:1]
    parts = [name for name in others if _folded(name) in PART_NAMES]
    if len(parts) > 1:
        return parts
    wordy = [name for name in others if columns[name].mean_words >= _FEW_WORDS]
    if wordy:
        return wordy
    unknown = [name for name in others if columns[name].is_empty]
    if not has_nested:  # the text may be inside the objects
        if with_words := [name for name in others if columns[name].mean_words >= 1]:
            return [*with_words, *unknown]
        if others != unknown:
            return others
    rest = [name for name in strings if name not in (ids, *others) and columns[name].mean_words >= _FEW_WORDS]
    return [*rest, *unknown]


def _folded(name: str) -> str:
    return name.strip().casefold()


def _first_named(likely: Sequence[str], names: Sequence[str]) -> str | None:
    by_folded: dict[str, str] = {}
    for name in names:
        by_folded.setdefault(_folded(name), name)
    return next((by_folded[name] for name in likely if name in by_folded), None)


def check_header(names: Sequence[str], label: str) -> None:
    """Raise SourceError if the first line of a table is probably its first record."""
    if not {_folded(name) for name in names}.isdisjoint(KNOWN_NAMES | PART_NAMES):
        return
    if any(len(name) > _MAX_NAME or _NUMBER.fullmatch(name) for name in names):
        shown = first_of([repr(_shortened(name)) for name in names], 3)
        raise SourceError(
            f"{label} has no header: its first line, {shown}, looks like a record. Put a line with the "
            "names of the columns, such as id,text, before it (psql: COPY … WITH (FORMAT csv, "
            "HEADER)); if it is a header, name the text column.",
            parameter="text",
        )


def check_unique(label: str, used: Mapping[str, str | None], names: Sequence[str]) -> None:
    """Raise SourceError if several columns have the name of a used one."""
    for parameter, named in used.items():
        if named is not None and (n_alike := list(names).count(named)) > 1:
            raise SourceError(
                f"{label}: {counted(n_alike, 'column')} have the name '{named}'; it must "
                f"be unique. Rename the others. The columns are: {listed_columns(names)}.",
                parameter=parameter or None,
            )


def check_column(label: str, parameter: str, named: str, schema: pa.Schema) -> pa.DataType:
    """Return the type of a column, or of a member of its objects; SourceError unless there is exactly one of it."""
    path = ColumnPath.of(named, schema.names, may_repeat=parameter == "text")
    check_unique(label, {parameter: path.column}, schema.names)
    type_ = path.type_in(schema.field(path.column).type) if path.column in schema.names else None
    if type_ is None:
        raise missing_column(label, parameter, named, schema.names)
    return type_


def missing_column(label: str, parameter: str, named: str, names: Sequence[str]) -> MissingColumnError:
    """Return the error for a missing column."""
    columns = listed_columns(names) or "none"
    return MissingColumnError(
        f"{label}: there is no column '{named}'. The columns are: {columns}.", parameter=parameter
    )


def listed_columns(names: Sequence[str]) -> str:
    """List names of columns for a message: the first ones, and the number of the others.

    Examples
    --------
    >>> listed_columns(["id", "text"]), listed_columns([f"c{i}" for i in range(5000)])[-23:]
    ('id, text', 'c28, c29 and 4,970 more')
    """
    return first_of([_shortened(name) for name in names[:_MAX_LISTED]], _MAX_LISTED, len(names))


def _shortened(name: str) -> str:
    return name if len(name) <= _MAX_NAME else f"{name[:_N_SHOWN]}…"


_KEEP_RULE = (
    "the column that chooses what to keep must hold numbers, true and false, dates or times (in strings: 2004-02-03, "
    "2004-02-03T10:00:00Z)"
)


def check_keep(name: str, sample: ColumnSample, column: str, *, is_text: bool) -> bool | None:
    """Return whether the first values of a column are dates; SourceError if they are neither dates nor numbers."""
    if not has_column(sample, column):
        raise missing_column(name, "keep", column, sample.names)
    path, keep = ColumnPath.of(column, sample.names, may_repeat=False), KeepColumn(column)
    check_unique(name, {"keep": path.column}, sample.header)
    if sample.table is not None:
        in_table = plain(path.values(sample.table[path.column].combine_chunks())).drop_null()
        values, numbers = in_table.slice(0, 1).to_pylist(), keep.numbers(in_table)
    else:
        values = [value for record in sample.records if (value := value_in(record, column)) not in (None, "")]
        numbers = keep.of_values(values, is_text=is_text)
        others = KeepColumn(column, holds_dates=not keep.holds_dates).of_values(values, is_text=is_text)
        if others.null_count < len(others):
            raise SourceError(
                f"{name}: the column '{column}' holds numbers and dates, which cannot be compared. Write all of its "
                "values in one way."
            )
    if values and numbers.null_count == len(numbers):
        raise SourceError(
            f"{name}: {_KEEP_RULE}. The column '{column}' holds {str(values[0])[:60]!r}. "
            f"The columns are: {listed_columns(sample.names)}."
        )
    return keep.holds_dates
