"""Files of the groups: their members as a table, and overlays for review tools."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.collection.groups.current import stored_members
from nearkin.collection.groups.listed import ids_not_grouped, stored_groups
from nearkin.stages.documents.load_files.vendors import vendor_of
from nearkin.web.queries import OverlayQuery, SizesQuery
from nearkin.web.service import ReviewService
from nearkin.web.sign_in import Visitor
from nearkin.workflows.collection.overlays import WrittenOverlay, write_group_overlays
from nearkin.workflows.collection.tables import write_table

PARAMETERS, LEFT_OUT = "parameters.json", "left-out.csv"
_SAME_TIME = (1980, 1, 1, 0, 0, 0)
"""Time of the files in an archive, so that the same groups give the same bytes."""


def members_table(service: ReviewService, asked: SizesQuery) -> pa.Table:
    """Return a row for each member of the stored groups of the requested sizes."""
    members = stored_members(service.collection.opened, asked.tolerance)
    numbers, sizes = np.unique(members["group"].to_numpy(), return_counts=True)
    most = len(members) if asked.max_documents is None else asked.max_documents
    wanted = numbers[(sizes >= asked.min_documents) & (sizes <= most)]
    return members.filter(pa.array(np.isin(members["group"].to_numpy(), wanted)))


def overlay_archive(service: ReviewService, _: Visitor, asked: OverlayQuery) -> bytes:
    """Return a ZIP archive of the overlays, one for each kind of load file, and of the parameters that made them.

    Documents that were added or changed since the groups were updated, and have the text of no member, are left out,
    and listed in a file of their own: an overlay would overwrite their values in the review tool with "no group".
    """
    members = stored_members(service.collection.opened, asked.tolerance)
    with service.collection.opened.store.reading() as connection:
        late = set(ids_not_grouped(connection, asked.tolerance))
    left_out = sorted(late.difference(members["doc_id"].to_pylist()))
    with tempfile.TemporaryDirectory(prefix="nearkin-") as folder:
        out = Path(folder, f"overlay.{asked.format}")
        written = write_group_overlays(
            service.collection, members, vendor_of(asked.tool), out, overwrite=False, left_out=left_out
        )
        files = {one.path.name: one.path.read_bytes() for one in written}
        if left_out:
            write_table(pa.table({"doc_id": left_out}), Path(folder, LEFT_OUT))
            files[LEFT_OUT] = Path(folder, LEFT_OUT).read_bytes()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        files[PARAMETERS] = _parameters(service, asked, written, len(left_out)).encode()
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _SAME_TIME), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _parameters(service: ReviewService, asked: OverlayQuery, written: list[WrittenOverlay], n_left_out: int) -> str:
    with service.collection.opened.store.reading() as connection:
        stored = stored_groups(connection, asked.tolerance, limit=1)
    told = {
        **service.parameters("/groups.zip", asked),
        **asked.tolerance.to_dict(),
        "n_groups": stored.n_groups,
        "n_documents_in_groups": stored.n_documents,
        "n_documents_added_since": stored.n_not_grouped,
        "n_decisions_since": stored.n_decisions,
        "n_documents_left_out": n_left_out,
        "overlays": [one.to_dict() | {"path": one.path.name} for one in written],
    }
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"
