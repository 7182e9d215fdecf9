"""Choice of the columns with texts and ids if the user did not name them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa

from nearkin.errors import MissingColumnError, ParameterError, SourceError
from nearkin.nouns import counted, first_of
from nearkin.stages.documents.column_samples import ColumnSample, objects_of_schema
from nearkin.stages.documents.text_path import column_of

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

_FEW_WORDS = 3
_MAX_NAME, _N_SHOWN = 120, 40
_MAX_LISTED = 30
_NUMBER = re.compile(r"[\d\W]*\d[\d\W]*")


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns to read, and a sentence for each that was guessed."""

    text: str
    id: str | None
    guesses: tuple[str, ...]


def inside_hint(names: Iterable[str], objects: Mapping[str, str], parameter: str = "text") -> str:
    """Say of the first of some names that is a column of objects or lists how a text inside it is named.

    Examples
    --------
    >>> inside_hint(["id", "messages"], {"messages": "a list"})
    " A text inside a list ('messages') is named by its path, such as messages[].content or messages[]."
    >>> inside_hint(["meta"], {"meta": "an object"}, "id")
    " Fields inside an object ('meta') cannot be named; lift them to the top level."
    """
    inside = next((name for name in names if name in objects), None)
    if inside is None:
        return ""
    if parameter != "text":
        return f" Fields inside {objects[inside]} ('{inside}') cannot be named; lift them to the top level."
    such = f"{inside}[].content or {inside}[]" if objects[inside] == "a list" else f"{inside}.content"
    return f" A text inside {objects[inside]} ('{inside}') is named by its path, such as {such}."


def check_header(names: Sequence[str], label: str) -> None:
    """Raise SourceError if the first line of a table is probably its first record: nothing says that it is a header.

    Examples
    --------
    >>> check_header(["number", "wording"], "in.csv")
    >>> check_header(["17", "It was a dark night."], "in.csv")
    Traceback (most recent call last):
    ...
    nearkin.errors.SourceError: text: in.csv has no header: its first line, '17', 'It was a dark night.', looks like a
    record. Put a line with the names of the columns, such as id,text, before it (psql: COPY … WITH (FORMAT csv,
    HEADER)); if it is a header, name the text column.
    """
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
        column = named if named is None or parameter != "text" else column_of(named, sample.names)
        if named is not None and column not in sample.names and not sample.is_partial:
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
    hint = inside_hint((named[:at] for at, letter in enumerate(named) if letter in ".["), objects, parameter)
    columns, seen = listed_columns(names) or "none", ". The"
    if n_seen is not None:
        which = "at least one file" if parameter == "by" else "every file"
        where = "" if label == TABLE_IN_MEMORY else f", in {which}"
        seen = f" in the first {counted(n_seen, 'record')}; at least one of these must have it{where}. Their"
    return MissingColumnError(
        f"{label}: there is no column '{named}'{seen} columns are: {columns}.{hint}", parameter=parameter
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
            raise SourceError(
                f"{label}: {counted(n_alike, 'column')} have the name '{named}'; it must "
                f"be unique. Rename the others. The columns are: {listed_columns(names)}.",
                parameter=parameter or None,
            )


def likely_text(sample: ColumnSample, doc_id: str | None) -> str | None:
    """Return the column with the likeliest name of a text, even if its first values are null; one that fits first."""
    names = [name for name in sample.names if name != doc_id]
    fit = _first_named(TEXT_NAMES, [name for name in names if name not in sample.unfit])
    return fit if fit is not None else _first_named(TEXT_NAMES, names)


def _guess_text(sample: ColumnSample, label: str, doc_id: str | None) -> str:
    """Return the column with a likely name, else the only one with texts that are not ids."""
    columns = listed_columns(sample.names) or "none"
    named = likely_text(sample, doc_id)
    if named is not None and named in sample.unfit:
        raise SourceError(
            f"{label}: the column '{named}' has the name of a text but holds "
            f"{_shortened(sample.unfit[named])}, not strings. Name the text column (the "
            f"columns are: {columns}).",
            parameter="text",
        )
    if named is not None:
        return named
    if sample.is_partial:
        raise SourceError(
            f"{label}: the first record is so long that only its beginning was inspected, and no column "
            f"there has a likely name (columns seen: {columns}). Name the text column.",
            parameter="text",
        )
    nested = [name for name in sample.objects if _folded(name) in NESTED_NAMES]
    candidates = [] if nested else _texts(sample, doc_id)
    if not candidates:
        said = f"{label}: no column holds text, as far as the first rows show. The columns are: {columns}."
        hint = inside_hint(nested or sample.names, sample.objects)
        raise SourceError(f"{said} Name the text column.{hint}", parameter="text")
    if len(candidates) > 1:
        raise SourceError(
            f"{label}: several columns hold text, and none has a likely name: "
            f"{listed_columns(candidates)}. Name the one to compare (the columns are: {columns}).",
            parameter="text",
        )
    return candidates[0]


def _texts(sample: ColumnSample, doc_id: str | None) -> list[str]:
    """Return the columns that may be the text; if there are several, the choice is ambiguous.

    Labels, names and numbers as strings do not count beside a column with more than a few words, or with objects or
    lists. The column of the ids, and those of values that look like ids, numbers, dates, hashes or addresses,
    never count, and a column without values does where no other has more than a few words: its texts may come later.
    """
    ids = doc_id or _first_named(ID_NAMES, sample.names)
    strings = [name for name in sample.names if name in sample.mean_length or name in sample.without_values]
    others = [name for name in strings if name not in sample.codes | {doc_id} and _folded(name) not in ID_NAMES]
    if sample.without_values.issuperset(sample.names):  # so nothing can be misread
        return others[:1]
    parts = [name for name in others if _folded(name) in PART_NAMES]
    if len(parts) > 1:
        return parts
    wordy = _with_words(sample, others, _FEW_WORDS)
    if wordy:
        return wordy
    unknown = [name for name in others if name in sample.without_values]
    if found := [] if sample.objects else _with_words(sample, others, 1):  # the text may be inside the objects
        return [*found, *unknown]
    if others != unknown and not sample.objects:
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
