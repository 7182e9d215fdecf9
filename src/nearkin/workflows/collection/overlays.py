"""Groups of a collection for review tools: an overlay keyed on the control number, a row for each current document."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from nearkin.collection.collection import Collection
from nearkin.collection.stored.documents import contents_of_current
from nearkin.errors import ParameterError, SourceError
from nearkin.formats.delimited import safe
from nearkin.runs.files import published
from nearkin.stages.documents.listed_files import is_load_file
from nearkin.stages.documents.load_files.controls import controls_of
from nearkin.stages.documents.load_files.dialect import Dialect
from nearkin.stages.documents.load_files.vendors import OverlayRow, Vendor
from nearkin.stages.documents.load_files.writing import LoadFileWriter
from nearkin.stages.documents.source import Source

KEY = "DOCID"
_DIALECTS = {
    ".dat": Dialect(has_mark=True),
    ".csv": Dialect(separator=",", qualifier='"', newline="", quotes_all=False),
}
"""Dialects of overlays of documents whose load file is not there any more."""


def check_overlay(out: Path | None, *, is_since: bool) -> None:
    """Refuse an overlay without a file for it.

    Raises
    ------
    ParameterError
    """
    if out is None or out.suffix.lower() not in _DIALECTS:
        raise ParameterError("--overlay needs --out FILE, a file that ends in .dat or .csv.")
    if is_since:
        raise ParameterError("--overlay writes the groups, and --since lists changes. Omit one of them.")


def write_group_overlay(collection: Collection, members: pa.Table, vendor: Vendor, out: Path) -> Dialect:
    """Write the overlay; return the dialect, which is that of the load file that the documents came from, if it exists.

    Parameters
    ----------
    collection : Collection
    members : Table
        Of `CollectionGroups`.
    vendor : Vendor
    out : Path

    Raises
    ------
    OutputError
        An id cannot be written in the dialect.
    """
    listed = collection.documents().table
    dialect, key, is_of_load_file = _dialect(listed["source"], out.suffix.lower())
    with collection.opened.store.reading() as connection:
        texts = contents_of_current(connection)
    rows = _rows(members, texts)
    with published(out) as aside, open(aside, "wb") as file:
        writer = LoadFileWriter(file, dialect)
        writer.write([key, *vendor.fields])
        for doc_id in listed["doc_id"].to_pylist():
            values = [doc_id, *vendor.values(rows.get(doc_id, OverlayRow(reason="unique")))]
            # a spreadsheet may open a CSV of ours; what came from a load file goes back as it came
            writer.write(values if is_of_load_file or not dialect.is_csv else [safe(one) for one in values])
    return dialect


def _rows(members: pa.Table, texts: Mapping[str, int]) -> dict[str, OverlayRow]:
    """Return what is known of each document in a group, and of each that has the same text as another one."""
    principals: dict[int, str] = {}
    rows: dict[str, OverlayRow] = {}
    n_documents, copy_numbers = Counter(texts.values()), dict[int, int]()
    for text in texts.values():
        if n_documents[text] > 1:
            copy_numbers.setdefault(text, len(copy_numbers) + 1)
    columns = ("group", "doc_id", "is_principal", "jaccard")
    for group, doc_id, is_principal, jaccard in zip(*(members[name].to_pylist() for name in columns), strict=True):
        principal = principals.setdefault(group, doc_id)
        reason = "exact copy" if texts[doc_id] == texts[principal] else "near-duplicate"
        rows[doc_id] = OverlayRow(
            group=principal,
            group_number=group,
            is_principal=is_principal,
            similarity=jaccard,
            copy_number=copy_numbers.get(texts[doc_id], 0),
            reason="unique" if is_principal else reason,
            measure="jaccard words:5",
        )
    seen = set[int]()
    for doc_id, text in texts.items():
        if doc_id not in rows and text in copy_numbers:
            rows[doc_id] = OverlayRow(copy_number=copy_numbers[text], reason="exact copy" if text in seen else "unique")
        seen.add(text)
    return rows


def _dialect(sources: pa.ChunkedArray, suffix: str) -> tuple[Dialect, str, bool]:
    """Return the dialect and the name of the control numbers of the first load file that still exists."""
    for path in sources.unique().to_pylist():
        if path is None or not path.lower().endswith(suffix) or not os.path.isfile(path) or not is_load_file(path):
            continue
        try:
            with open(path, "rb", buffering=0) as raw:
                source = Source(path=path, name=path, format="load-file")
                controls = controls_of(cast(BinaryIO, raw), source, "utf-8")
        except (OSError, SourceError):
            continue
        return controls.dialect, controls.column, True
    return _DIALECTS[suffix], KEY, False
