"""The shingles of signed documents, read again: by them neighbours are verified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from nearkin.engines.local import map_ordered
from nearkin.errors import SourceError
from nearkin.nouns import counted
from nearkin.records import I64, U32, U64, Candidates, Matches, ShingleSets
from nearkin.runs.meter import Meter
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.features.shingles import Shingling
from nearkin.stages.verification.overlap import verify
from nearkin.workflows.reading.snapshots import texts_again
from nearkin.workflows.reading.texts import Texts
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing.signature_file import SignatureFile


@dataclass(frozen=True, slots=True)
class SignatureVerifier:
    """Shingle sets of some documents.

    Parameters
    ----------
    hashes : uint64 array
    starts, ends : int64 arrays, shape (n_documents,)
        The set of a row is ``hashes[starts[row]:ends[row]]``; empty for rows that were not asked for.
    """

    hashes: U64
    starts: I64
    ends: I64

    @classmethod
    def read(
        cls,
        file: SignatureFile,
        rows: U32,
        shingle: Shingling,
        normalise: Normalisation,
        resources: Resources,
        meter: Meter,
    ) -> SignatureVerifier:
        """Read the documents that were signed again, and keep the shingles of these rows.

        Raises
        ------
        SourceError
            A file is not there any more, has changed, or was a pipe.
        """
        texts = texts_again(file.about.inputs, file.about.encoding)
        wanted = np.zeros(len(file.documents), np.bool_)
        wanted[rows] = True
        numbered = _with_first_rows(texts, meter)

        def shingles(item: tuple[int, tuple[pa.RecordBatch, I64, str]]) -> tuple[int, int, I64, ShingleSets]:
            first, raw = item
            n = raw[0].num_rows
            chosen = np.flatnonzero(wanted[first : first + n])
            part = raw[0].take(pa.array(chosen))
            prepared = texts.prepare((part, raw[1][chosen], raw[2]), normalise)
            return first, n, chosen + first, shingle.sets(prepared.texts)

        hashes: list[U64] = [np.zeros(0, np.uint64)]
        starts, ends = np.zeros((2, len(wanted)), np.int64)
        at = n_read = 0
        with meter.stage("read again", texts.size_bytes, "bytes"):
            for _, n, chosen, sets in map_ordered(shingles, numbered, threads=resources.n_threads):
                starts[chosen], ends[chosen] = sets.offsets[:-1] + at, sets.offsets[1:] + at
                hashes.append(sets.hashes)
                at += len(sets.hashes)
                n_read += n
        if n_read != len(wanted):
            raise SourceError(
                f"{len(wanted):,} were signed, and {counted(n_read, 'document')} could be read again. Run nearkin "
                "sign again."
            )
        return cls(np.concatenate(hashes), starts, ends)

    @classmethod
    def joined(cls, first: SignatureVerifier, second: SignatureVerifier) -> SignatureVerifier:
        """The documents of both, those of the second numbered after those of the first."""
        n = len(first.hashes)
        return cls(
            np.concatenate([first.hashes, second.hashes]),
            np.concatenate([first.starts, second.starts + n]),
            np.concatenate([first.ends, second.ends + n]),
        )

    def verify(self, left: U32, right: U32) -> Matches:
        """The exact similarity of each pair of rows."""
        return verify(Candidates(left, right), self.hashes, self.starts, self.ends)


def _with_first_rows(texts: Texts, meter: Meter) -> Iterator[tuple[int, tuple[pa.RecordBatch, I64, str]]]:
    """Batches with the row of their first document."""
    first = 0
    for raw in texts.raw_batches(meter.progress):
        yield first, raw
        first += raw[0].num_rows
