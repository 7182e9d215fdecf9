"""Exceptions: documents that gave no text, or only a part of it, in ``exceptions.csv``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.formats.delimited import SheetWriter
from nearkin.runs.files import published

EXCEPTIONS_FILE = "exceptions.csv"
_HEADER = ("id", "parent", "exception", "is_partial", "sentence", "kind", "sha256", "size_bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionRow:
    """A document without a text, or with a part of it.

    Parameters
    ----------
    row : int
    exception : str
    is_partial : bool
    sentence : str
    kind, sha256 : str or None
        None for a file that was not extracted.
    size_bytes : int or None
    """

    row: int
    exception: str
    is_partial: bool
    sentence: str
    kind: str | None
    sha256: str | None
    size_bytes: int | None


def exceptions_in(batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[tuple[str, str | None, ExceptionRow]]:
    """Yield the exceptions in a batch of a reader, with the id and the parent of each.

    Parameters
    ----------
    batch : RecordBatch
        Of `DOCUMENTS_SCHEMA`.
    names : sequence of str
        Source of each document; one without an id is called after its place.
    """
    problem, origin = batch["problem"], batch["origin"]
    is_one = problem.is_valid()
    if origin.null_count < len(origin):
        is_one = pc.or_(is_one, pc.struct_field(origin, "exception").is_valid())
    for row in pc.indices_nonzero(is_one).to_pylist():
        told: Mapping[str, Any] = origin[row].as_py() or {}
        said = [told.get("sentence") or problem[row].as_py(), told.get("warnings")]
        doc_id = batch["doc_id"][row].as_py()
        found = ExceptionRow(
            row=row,
            exception=told.get("exception") or "unreadable",
            is_partial=bool(told.get("is_partial")),
            sentence="; ".join(one for one in said if one),
            kind=told.get("kind"),
            sha256=told.get("sha256"),
            size_bytes=told.get("size_bytes"),
        )
        yield (
            f"{names[row]}:{batch['line'][row]}" if doc_id is None else str(doc_id),
            batch["parent"][row].as_py(),
            found,
        )


def write_exceptions(path: Path, rows: Sequence[tuple[str | None, str | None, ExceptionRow]]) -> None:
    """Write ``exceptions.csv``, with the id and the parent of each document."""
    with published(path) as aside, aside.open("w", encoding="utf-8", newline="") as file:
        writer = SheetWriter(file)
        writer.write(_HEADER)
        for doc_id, parent, one in rows:
            told: list[Any] = [doc_id, parent, one.exception, str(one.is_partial).lower(), one.sentence, one.kind]
            writer.write([*told, one.sha256, one.size_bytes])
