"""A file of signatures: Parquet, a row a document in reading order, and in its metadata what the signatures are.

Columns: ``id``, ``signature`` (bytes, the first bit first), ``has_features`` (false: no text, nobody's neighbour),
``source`` and ``line`` (where the document came from), ``problem`` (why it could not be read).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nearkin._version import __version__
from nearkin.errors import SourceError
from nearkin.records import BitSignatures
from nearkin.runs.files import printable
from nearkin.stages.documents.sources import STDIN, Source

FORMAT_VERSION = 1
_KEY = b"nearkin.signatures"


@dataclass(frozen=True, slots=True)
class SignedInput:
    """A file that was signed: enough to read it again, and to see that it is the same.

    Parameters
    ----------
    source : Source
        How it was read, and its size.
    changed_ns : int or None
        When it was last changed, in nanoseconds since 1970; None for a pipe.
    """

    source: Source
    changed_ns: int | None

    @classmethod
    def of(cls, source: Source) -> SignedInput:
        """A source as it is now."""
        named = replace(source, path=printable(source.path), name=printable(source.name))
        if source.path == STDIN or not os.path.isfile(source.path):
            return cls(named, None)
        found = os.stat(source.path)
        return cls(replace(named, size_bytes=found.st_size), found.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class About:
    """What the signatures of a file are.

    Parameters
    ----------
    parameters : mapping
        Method, bits, features, normalise, seed, density.
    fingerprint : str
        Signatures may be compared if theirs are equal.
    statistics : str or None
        Fingerprint of the statistics they were weighted by.
    inputs : sequence of SignedInput
    encoding : str
    """

    parameters: Mapping[str, str | int | float]
    fingerprint: str
    statistics: str | None
    inputs: Sequence[SignedInput]
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class SignatureFile:
    """Signatures with the documents they are of.

    Parameters
    ----------
    documents : Table
        The columns but for the signatures.
    signatures : BitSignatures
    about : About
    """

    documents: pa.Table
    signatures: BitSignatures
    about: About

    def save(self, path: Path) -> None:
        """Write to a file, as it is; publish it whole with `runs.files.published`."""
        packed = self.signatures.packed
        column = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(packed.shape[1]), len(packed), [None, pa.py_buffer(np.ascontiguousarray(packed))]
        )
        table = self.documents.add_column(1, "signature", column)
        table = table.add_column(2, "has_features", pa.array(self.signatures.has_features))
        told = {"version": FORMAT_VERSION, "nearkin": __version__, **asdict(self.about)}
        metadata = {_KEY: json.dumps(told, sort_keys=True)}
        pq.write_table(table.replace_schema_metadata(metadata), path, compression="zstd")

    @classmethod
    def load(cls, path: Path) -> SignatureFile:
        """Read a file that `save` wrote.

        Raises
        ------
        SourceError
            If it is no such file, of another version, or a part of one.
        """
        try:
            with pq.ParquetFile(path) as file:  # one file, never a folder of them
                table = file.read()
        except (OSError, pa.ArrowInvalid) as error:
            reason = getattr(error, "strerror", None) or "it is not a Parquet file, or only a part of one"
            reason = reason if path.exists() else "there is no such file"
            raise SourceError(f"{path}: cannot be read as signatures: {reason}.") from error
        about = _about(path, table.schema)
        _check_columns(path, table, about)
        column = table["signature"].combine_chunks()
        has_features = table["has_features"].to_numpy()
        documents = table.drop_columns(["signature", "has_features"])
        n_bytes = column.type.byte_width
        packed = np.frombuffer(column.buffers()[1], np.uint8, n_bytes * len(column), column.offset * n_bytes)
        signatures = BitSignatures(packed.reshape(len(column), n_bytes), has_features, about.fingerprint)
        return cls(documents.replace_schema_metadata(None), signatures, about)


def _about(path: Path, schema: pa.Schema) -> About:
    told = (schema.metadata or {}).get(_KEY)
    if told is None:
        raise SourceError(f"{path}: is not a file of signatures. Make one with: nearkin sign INPUT --out FILE.")
    try:
        about = json.loads(told)
        if about["version"] != FORMAT_VERSION:
            raise SourceError(
                f"{path}: signatures of format {about['version']}; this version of Nearkin reads {FORMAT_VERSION}."
            )
        method, bits = about["parameters"]["method"], about["parameters"]["bits"]
        if not isinstance(method, str) or not isinstance(bits, int) or not isinstance(about["fingerprint"], str):
            raise SourceError(f"{path}: is damaged: method, bits or fingerprint are not what they must be.")
        return About(
            about["parameters"],
            about["fingerprint"],
            about["statistics"],
            tuple(SignedInput(Source.stored(one["source"]), one["changed_ns"]) for one in about["inputs"]),
            about["encoding"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise SourceError(f"{path}: is damaged: what it tells of its signatures cannot be read ({error}).") from error


def _check_columns(path: Path, table: pa.Table, about: About) -> None:
    """Refuse a table that no `save` wrote."""
    kinds = {
        "id": (pa.large_string(), pa.int64()),
        "signature": (pa.binary(about.parameters["bits"] // 8),),  # type: ignore[operator]  # it was seen to be an int
        "has_features": (pa.bool_(),),
        "source": (pa.large_string(),),
        "line": (pa.int64(),),
        "problem": (pa.large_string(),),
    }
    for name, types in kinds.items():
        if table.column_names.count(name) != 1:
            raise SourceError(f"{path}: is damaged: it has no column {name!r}, or more than one.")
        column = table[name]
        if column.type not in types or (column.null_count and name != "problem"):
            raise SourceError(
                f"{path}: is damaged: its column {name!r} must be {' or '.join(map(str, types))} without nulls. It is "
                f"{column.type} with {column.null_count:,} nulls."
            )
