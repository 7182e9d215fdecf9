"""Two files of signatures → pairs of a document from each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from nearkin.errors import FingerprintError, ParameterError
from nearkin.formats.delimited import check_suffix
from nearkin.paths import on_disk
from nearkin.records import U32
from nearkin.runs.files import published
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.stages.search.hamming.neighbours import MAX_PAIRS, Nearest, nearest
from nearkin.stages.search.hamming.pairs import Neighbours
from nearkin.workflows.reading.texts import check_not_an_input
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing.expected import expected_of, say_expected
from nearkin.workflows.signing.neighbours import (
    Equal,
    NeighboursFound,
    chosen_distance,
    neighbours_of_signatures,
    write_pairs,
)
from nearkin.workflows.signing.signature_file import SignatureFile
from nearkin.workflows.signing.verifying import SignatureVerifier, Verification

_BLOCK_PAIRS = 1 << 20


def find_neighbours(
    file: SignatureFile,
    against: SignatureFile | None,
    out: Path,
    distance: int | None = None,
    *,
    verification: Verification | None = None,
    equal: Equal = "all",
    resources: Resources,
    progress: Progress | None = None,
) -> NeighboursFound:
    """Write all pairs within a Hamming distance: of two documents of ``file``, or of one and one of ``against``.

    Raises
    ------
    ParameterError
        ``equal`` is given with ``against``, to which it does nothing; or as in `check_place` and
        `neighbours_of_signatures`.
    FingerprintError, SourceError
        As in `neighbours_across`.
    """
    check_place(out, (file,) if against is None else (file, against), is_verified=verification is not None)
    if against is None:
        return neighbours_of_signatures(
            file, out, distance, verification=verification, equal=equal, resources=resources, progress=progress
        )
    if equal != "all":
        raise ParameterError("is about the pairs of one set of signatures: omit it with 'against'.", parameter="equal")
    return neighbours_across(
        file, against, out, distance, verification=verification, resources=resources, progress=progress
    )


def check_place(out: Path, signed: Iterable[SignatureFile], *, is_verified: bool) -> None:
    """Refuse a file for pairs that has no known format, or whose documents are read again to verify them.

    Raises
    ------
    ParameterError
    """
    check_suffix(out, "out", may_have_none=True)
    for one in signed if is_verified else ():
        sources = [replace(entry.source, path=on_disk(entry.source.path)) for entry in one.about.inputs]
        check_not_an_input(out, sources)


def neighbours_across(
    mine: SignatureFile,
    theirs: SignatureFile,
    out: Path,
    distance: int | None = None,
    *,
    verification: Verification | None = None,
    resources: Resources,
    progress: Progress | None = None,
) -> NeighboursFound:
    """Write all pairs of a document from each file within a Hamming distance to a file.

    The columns are those of `neighbours_of_signatures`; ``id_a`` and ``row_a`` are of ``mine``, ``id_b`` and ``row_b``
    of ``theirs``. Pairs are sorted by ``row_a``, the nearest first.

    Raises
    ------
    FingerprintError
        The signatures of the two files were made by different methods; the message names both.
    SourceError, ParameterError
        As in `neighbours_of_signatures`; there may be at most 134 million pairs.
    """
    meter = Meter(progress or Silent())
    if mine.about.fingerprint != theirs.about.fingerprint:
        both = (mine.name, mine.about.fingerprint), (theirs.name, theirs.about.fingerprint)
        raise FingerprintError.of("Signatures", "be compared", *both)
    distance = chosen_distance(distance, mine, meter.progress)
    expected = expected_of(mine, distance, theirs)
    say_expected(mine, expected, meter.progress)
    if verification is not None:
        verification.say(mine, meter.progress)
    found = nearest(
        mine.signatures, theirs.signatures, distance, threads=resources.n_threads, progress=meter.progress,
        max_pairs=MAX_PAIRS,
    )  # fmt: skip
    verifier = None
    if verification is not None:
        verifier = SignatureVerifier.joined(
            SignatureVerifier.read(mine, np.unique(found.query), verification, resources, meter),
            SignatureVerifier.read(theirs, np.unique(found.row), verification, resources, meter),
        )
    ids, other_ids = mine.documents["id"].combine_chunks(), theirs.documents["id"].combine_chunks()
    with meter.stage("write", 0, "steps"), published(out) as aside:
        blocks = _blocks(found, len(mine.documents))
        n_written = write_pairs(aside, blocks, (ids, other_ids), verifier, suffix=out.suffix)
    n_signed = int(mine.signatures.has_features.sum())
    return NeighboursFound(
        distance=distance,
        n_documents=len(mine.signatures),
        n_signed=n_signed,
        n_distinct=len(np.unique(mine.signatures.packed[mine.signatures.has_features], axis=0)),
        n_pairs=len(found),
        n_written=n_written,
        plan=found.plan.describe(),
        elapsed_s=meter.elapsed_s,
        expected=expected,
        verification=verification,
    )


def _blocks(found: Nearest, first_of_theirs: int) -> Iterator[Neighbours]:
    for start in range(0, len(found), _BLOCK_PAIRS):
        some = slice(start, start + _BLOCK_PAIRS)
        right: U32 = found.row[some] + np.uint32(first_of_theirs)
        yield Neighbours(found.query[some], right, found.distance[some])
