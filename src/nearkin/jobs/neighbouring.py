"""`nearkin.neighbours`: all pairs of documents whose signatures differ in few bits."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from nearkin.arguments import checking_arguments
from nearkin.errors import ParameterError
from nearkin.formats import parquet
from nearkin.formats.by_suffix import table_writer
from nearkin.jobs.places import Listener, Where, file_for, progress_of
from nearkin.jobs.signing import SignedDocuments
from nearkin.nouns import counted
from nearkin.paths import path_of
from nearkin.runs.files import published
from nearkin.stages.documents.normalisation import Normalisation, Steps
from nearkin.stages.features.shingles import Shingling
from nearkin.tabular.page import Histogram
from nearkin.tabular.tabular import Tabular, histogram_of_bits
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing.across import check_place, find_neighbours
from nearkin.workflows.signing.neighbours import Equal
from nearkin.workflows.signing.verifying import Verification


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NeighboursResult(Tabular):
    """Result of `nearkin.neighbours`.

    Parameters
    ----------
    pairs : pyarrow.Table
        id_a, id_b, row_a, row_b (rows of the signed documents, from 0) and distance. If the pairs were verified, also a
        column for each measure of similarity: jaccard, containment_a_in_b, …
    distance : int
        Maximum number of different bits.
    n_within : int
        Number of pairs within the distance, before verification.
    manifest : mapping
        Counts, the search method, and the expected recall.
    out : Path or None
        File of the pairs, if one was given.
    """

    tables: ClassVar[tuple[str, ...]] = ("pairs",)
    pairs: pa.Table
    distance: int
    n_within: int
    manifest: Mapping[str, Any]
    out: Path | None

    def _bars(self) -> Histogram:
        return histogram_of_bits(self.pairs["distance"], self.distance, "pairs by distance in bits")

    def __repr__(self) -> str:
        return f"NeighboursResult({counted(len(self.pairs), 'pair')} within {counted(self.distance, 'bit')})"


@checking_arguments
def neighbours(
    signed: SignedDocuments | Where,
    against: SignedDocuments | Where | None = None,
    *,
    distance: int | None = None,
    verify: str | None = None,
    shingle: Shingling | str = "words:5",
    normalise: Normalisation | Steps = "nfkc,case,space",
    equal: Equal = "all",
    out: Where | None = None,
    threads: int = 0,
    overwrite: bool = False,
    progress: Listener | None = None,
) -> NeighboursResult:
    """Find all pairs of documents whose signatures differ in at most ``distance`` bits.

    Similar documents whose signatures differ in more bits are not found.

    Parameters
    ----------
    signed : SignedDocuments or path
        Result of `nearkin.sign`, or a file of signatures.
    against : SignedDocuments or path, optional
        Other signatures by the same method: each pair then has one document of ``signed`` and one of these.
    distance : int, optional
        Maximum number of different bits; by default the usual one of the signature method.
    verify : str, optional
        Measure and minimum similarity of the texts, such as ``jaccard:0.8``: report only such pairs. The documents are
        read again: files must be unchanged.
    shingle, normalise
        Shingles and normalisation of this verification; refused without ``verify``.
    equal : {"all", "first"}
        Pairs of documents with the same signature: "all" of them, or each document only with the "first". Not with
        ``against``.
    out : path, optional
        File for the pairs, in the format of its suffix, as `nearkin neighbours` writes it. By default no file remains.
    threads : int
        Worker threads; 0 means one per CPU core.
    overwrite : bool
        Replace the file ``out``.
    progress : callable or Progress, optional
        Receives messages and the names of stages, for example ``print``.

    Returns
    -------
    nearkin.results.NeighboursResult

    Raises
    ------
    ParameterError
        A parameter is invalid, or there are more than 100 million pairs.
    SourceError
        A file does not hold signatures, or the documents to verify have changed.
    FingerprintError
        The signatures of ``signed`` and ``against`` were made by different methods.

    Examples
    --------
    >>> import nearkin
    >>> signed = nearkin.sign([("a", "the rent is due on Monday"), ("b", "the rent is due on monday"), ("c", "no")])
    >>> nearkin.neighbours(signed, distance=64).pairs.select(["id_a", "id_b"]).to_pylist()
    [{'id_a': 'a', 'id_b': 'b'}]
    """
    listening = progress_of(progress)
    mine, resources = _signed(signed, "signed"), Resources(threads)
    theirs = None if against is None else _signed(against, "against")
    verification = Verification.if_given(verify, shingle, normalise)
    with file_for(out, "neighbours", overwrite=overwrite) as path:
        for one in (mine, theirs):
            if one is not None and one.out is not None and path.exists() and one.out.samefile(path):
                raise ParameterError(f"{path} is a file of these signatures. Choose another file.", parameter="out")
        signed_files = [one.file for one in (mine, theirs) if one is not None]
        check_place(path, signed_files, is_verified=verification is not None)
        is_parquet = path.suffix.lower() in ("", ".parquet")
        with contextlib.nullcontext(path) if is_parquet else file_for(None, "neighbours", overwrite=False) as written:
            found = find_neighbours(
                mine.file, None if theirs is None else theirs.file, written, distance, verification=verification,
                equal=equal, resources=resources, progress=listening,
            )  # fmt: skip
            pairs = parquet.read_table(written)
        if not is_parquet:
            with published(path) as aside, table_writer(aside, pairs.schema, path.suffix) as write:
                for batch in pairs.to_batches():
                    write(batch)
    return NeighboursResult(
        pairs=pairs,
        distance=found.distance,
        n_within=found.n_pairs,
        manifest=found.summary(),
        out=None if out is None else path,
    )


def _signed(given: SignedDocuments | Where, parameter: str) -> SignedDocuments:
    """Return signatures, read from a file if a path was given."""
    if isinstance(given, SignedDocuments):
        return given
    return SignedDocuments.open(path_of(given, parameter))
