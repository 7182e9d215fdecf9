"""Families → ``families.parquet`` and ``families.csv``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from nearkin.formats import parquet
from nearkin.formats.delimited import SheetWriter
from nearkin.runs.files import published
from nearkin.runs.for_pandas import for_pandas
from nearkin.stages.differences.relating import MemberComparison
from nearkin.wording import reveal, share_text

_ROWS_AT_ONCE = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """Document of a family.

    Parameters
    ----------
    family : int
        Number of the family; the largest is 1.
    family_size : int
    principal, doc_id : str, int or None
        Ids.
    name : str
        Unique name of the document.
    row : int
        Number of the document in ``documents.parquet``.
    source : str
    line : int
        Line of the document in its source.
    similarity, containment_in_principal, containment_of_principal : float
    comparison : MemberComparison or None
        None for the principal.
    text_row : int
        Row that represents all documents with the same normalised text.
    place : str
        Place, formatted for display; see `Places.shown_place`.
    """

    family: int
    family_size: int
    principal: str | int | None
    doc_id: str | int | None
    name: str
    row: int
    source: str
    line: int
    similarity: float
    containment_in_principal: float
    containment_of_principal: float
    comparison: MemberComparison | None
    text_row: int
    place: str


def schema(id_type: pa.DataType) -> pa.Schema:
    """Return the columns of both files, in their order."""
    text, whole, number = pa.large_string(), pa.int64(), pa.float64()
    return pa.schema(
        [
            ("family", whole), ("family_size", whole), ("role", text), ("principal", id_type), ("id", id_type),
            ("name", text), ("row", whole), ("source", text), ("line", whole), ("similarity", number),
            ("containment_in_principal", number),
            ("containment_of_principal", number), ("relation", text), ("filled_in", text), ("n_differences", whole),
            ("n_words_only_in_principal", whole), ("n_words_only_in_member", whole), ("n_particulars", whole),
            ("is_compared_whole", pa.bool_()), ("first_difference_principal", text),
            ("first_difference_member", text), ("line_principal", whole), ("line_member", whole),
        ]
    )  # fmt: skip


def write_families(folder: Path, kin: Iterable[Kin], id_type: pa.DataType) -> None:
    """Write ``families.parquet`` and ``families.csv``, a row for each document of a family."""
    columns = for_pandas(schema(id_type))
    with (
        published(folder / "families.parquet") as aside_parquet,
        published(folder / "families.csv") as aside_csv,
        parquet.table_writer(aside_parquet, columns) as writer,
        # the byte order mark shows spreadsheets that it is UTF-8
        open(aside_csv, "w", encoding="utf-8-sig", newline="") as file,
    ):
        lines = SheetWriter(file, line_end="\r\n")
        lines.write(columns.names)
        held: list[tuple[object, ...]] = []
        for one in kin:
            held.append(_row(one))
            lines.write(_cell(value) for value in held[-1])
            if len(held) == _ROWS_AT_ONCE:
                writer.write_table(_table(held, columns))
                held.clear()
        if held:
            writer.write_table(_table(held, columns))


def _table(rows: list[tuple[object, ...]], columns: pa.Schema) -> pa.Table:
    return pa.Table.from_arrays(
        [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), columns.types, strict=True)],
        schema=columns,
    )


def _row(one: Kin) -> tuple[object, ...]:
    head = (one.family, one.family_size, "principal" if one.comparison is None else "member", one.principal)
    place = (one.doc_id, one.name, one.row, one.source, one.line)
    measures = (one.similarity, one.containment_in_principal, one.containment_of_principal)
    if one.comparison is None:
        return (*head, *place, *measures, *(None,) * 11)
    judgement, first = one.comparison.judgement, one.comparison.first
    found = judgement.measured
    return (
        *head, *place, *measures, judgement.relation, judgement.filled_in or None, found.n_differences,
        found.n_words_only_in_principal, found.n_words_only_in_member, found.n_particulars, one.comparison.is_whole,
        *((first.principal, first.member, first.line_principal, first.line_member) if first else (None,) * 4),
    )  # fmt: skip


def _cell(value: object) -> object:
    """Format a value for display: hidden characters revealed, numbers with few digits.

    Examples
    --------
    >>> print(_cell("Clause 1"), _cell(-1.5), _cell(True), _cell(0.99999999))
    Clause 1 -1.5 yes 0.999999
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return float(share_text(value, 6))
    return reveal(value) if isinstance(value, str) else value
