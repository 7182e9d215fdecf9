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
    changed_ns : int
        When it was last changed, in nanoseconds since 1970; 0 for a pipe.
    """

    source: Source
    changed_ns: int

    @classmethod
    def of(cls, source: Source) -> SignedInput:
        """A source as it is now."""
        named = replace(source, path=printable(source.path), name=printable(source.name))
        is_file = source.path != STDIN and os.path.isfile(source.path)
        return cls(named, os.stat(source.path).st_mtime_ns if is_file else 0)


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
            table = pq.read_table(path)
        except (OSError, pa.ArrowInvalid) as error:
            reason = getattr(error, "strerror", None) or "it is not a Parquet file, or only a part of one"
            raise SourceError(f"{path}: cannot be read as signatures: {reason}.") from error
        about = _about(path, table.schema)
        try:
            column = table["signature"].combine_chunks()
            has_features = table["has_features"].to_numpy()
            documents = table.drop_columns(["signature", "has_features"])
            n_bytes = column.type.byte_width
        except (KeyError, AttributeError) as error:
            raise SourceError(f"{path}: has no column of signatures, though it says that it is such a file.") from error
        packed = np.frombuffer(column.buffers()[1], np.uint8, n_bytes * len(column), column.offset * n_bytes)
        if 8 * n_bytes != about.parameters["bits"] or column.null_count:
            raise SourceError(f"{path}: is damaged: it says {about.parameters['bits']} bits and holds {8 * n_bytes}.")
        signatures = BitSignatures(packed.reshape(len(column), n_bytes), has_features, about.fingerprint)
        return cls(documents.replace_schema_metadata(None), signatures, about)


def _about(path: Path, schema: pa.Schema) -> About:
    told = (schema.metadata or {}).get(_KEY)
    if told is None:
        raise SourceError(f"{path}: is not a file of signatures. Make one with: nearkin sign INPUT --out FILE.")
    about = json.loads(told)
    if about["version"] != FORMAT_VERSION:
        raise SourceError(
            f"{path}: signatures of format {about['version']}, written by Nearkin {about['nearkin']}; this version "
            f"reads format {FORMAT_VERSION}."
        )
    return About(
        about["parameters"],
        about["fingerprint"],
        about["statistics"],
        tuple(SignedInput(Source(**one["source"]), one["changed_ns"]) for one in about["inputs"]),
        about["encoding"],
    )
