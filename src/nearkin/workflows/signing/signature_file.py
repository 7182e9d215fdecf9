"""File of signatures: Parquet, a row per document in reading order, and a description of the signatures as metadata.

Columns: ``id``, ``signature`` (bytes, the first bit first), ``has_features`` (false: no text, no neighbours), ``name``,
``source``, ``line`` and ``problem``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin._version import __version__
from nearkin.errors import SourceError
from nearkin.formats import parquet
from nearkin.formats.sealed import has_right_checksum, with_checksum
from nearkin.manifests.stored import HowRead, UndigestedFile
from nearkin.records import BitSignatures
from nearkin.runs.tables import for_pandas
from nearkin.workflows.reading.rereading import GivenAgain

FORMAT_VERSION = 1
_KEY = b"nearkin.signatures"
_HAS_FEATURES = pa.field("has_features", pa.bool_(), nullable=False)


@dataclass(frozen=True, slots=True)
class About:
    """Description of the signatures of a file; signatures with equal fingerprints are comparable.

    Parameters
    ----------
    parameters
        Method, bits, features, normalise, seed, density.
    statistics
        Fingerprint of the statistics that weighted them.
    """

    parameters: Mapping[str, str | int | float]
    fingerprint: str
    statistics: str | None
    inputs: Sequence[UndigestedFile]
    encoding: str = "utf-8"
    reading: HowRead | None = None


@dataclass(frozen=True, slots=True)
class SignatureFile:
    """Signatures, with the other columns of their documents; ``name`` stands in messages.

    ``in_memory`` are the documents that this process has in memory.
    """

    documents: pa.Table
    signatures: BitSignatures
    about: About
    name: str
    in_memory: GivenAgain = field(default_factory=dict)

    def table(self) -> pa.Table:
        """Return the table that `save` writes."""
        packed = self.signatures.packed
        column = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(packed.shape[1]), len(packed), [None, pa.py_buffer(np.ascontiguousarray(packed))]
        )
        table = self.documents.add_column(1, "signature", column)
        table = table.add_column(2, _HAS_FEATURES, pa.array(self.signatures.has_features))
        stored = {name: getattr(self.about, name) for name in ("parameters", "fingerprint", "statistics", "encoding")}
        stored |= {"version": FORMAT_VERSION, "nearkin": __version__}
        stored["reading"] = None if self.about.reading is None else self.about.reading.as_stored()
        stored = with_checksum({**stored, "inputs": [file.as_stored() for file in self.about.inputs]})
        schema = table.schema.with_metadata({_KEY: json.dumps(stored, sort_keys=True)})
        return table.cast(for_pandas(schema))

    def save(self, path: Path) -> None:
        """Write directly to a file; use `runs.files.published` to write it atomically."""
        parquet.write_table(self.table(), path)

    @classmethod
    def load(cls, path: Path) -> SignatureFile:
        """Read a file that `save` wrote."""
        try:
            table = parquet.read_table(path)
        except parquet.UNREADABLE as error:
            reason = parquet.why_unreadable(path, error)
            raise SourceError(f"{path} cannot be read as signatures: {reason}.") from error
        about = _about(path, table.schema)
        _check_columns(path, table, about)
        column = table["signature"].combine_chunks()
        has_features = table["has_features"].to_numpy()
        documents = table.drop_columns(["signature", "has_features"])
        n_bytes = column.type.byte_width
        packed = np.frombuffer(column.buffers()[1], np.uint8, n_bytes * len(column), column.offset * n_bytes)
        signatures = BitSignatures(packed.reshape(len(column), n_bytes), has_features, about.fingerprint)
        return cls(documents.replace_schema_metadata(None), signatures, about, str(path))


def _about(path: Path, schema: pa.Schema) -> About:
    stored = (schema.metadata or {}).get(_KEY)
    if stored is None:
        raise SourceError(f"{path} is not a file of signatures. Create one with: nearkin sign INPUT --out FILE.")
    try:
        about = json.loads(stored)
        if not has_right_checksum(about):
            raise SourceError(f"{path} is damaged: the description of its signatures was changed.")
        if about["version"] != FORMAT_VERSION:
            raise SourceError(
                f"{path} has signatures of format {about['version']}; this version of Nearkin reads {FORMAT_VERSION}."
            )
        return About(
            about["parameters"],
            about["fingerprint"],
            about["statistics"],
            tuple(map(UndigestedFile.of, about["inputs"])),
            about["encoding"],
            None if about["reading"] is None else HowRead.of(about["reading"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise SourceError(f"{path} is damaged: the description of its signatures cannot be read ({error}).") from error


def _check_columns(path: Path, table: pa.Table, about: About) -> None:
    kinds = {
        "id": (pa.large_string(), pa.int64()),
        "name": (pa.large_string(),),
        "signature": (pa.binary(about.parameters["bits"] // 8),),  # type: ignore[operator]  # checked above
        "has_features": (pa.bool_(),),
        "source": (pa.large_string(),),
        "line": (pa.int64(),),
        "problem": (pa.large_string(),),
    }
    for name, types in kinds.items():
        is_once = table.column_names.count(name) == 1
        if not is_once or table[name].type not in types or (table[name].null_count and name not in ("id", "problem")):
            raise SourceError(f"{path} is damaged: its column {name!r} is not as nearkin sign wrote it.")
