"""`nearkin.sign`: bit signatures of documents in files or in memory."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearkin.formats import parquet
from nearkin.formats.delimited import table_writer
from nearkin.jobs.documents import Documents, check_files_are_read, request_of
from nearkin.jobs.places import Where, file_for, progress_of
from nearkin.nouns import counted
from nearkin.options.declared import taking
from nearkin.options.signatures import NeighboursJob, SigningOptions, SignJob
from nearkin.paths import path_of
from nearkin.records import BitSignatures
from nearkin.runs.files import published
from nearkin.tabular import Tabular
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing.job import sign as sign_texts
from nearkin.workflows.signing.neighbours import check_place, find_neighbours, nearest_documents
from nearkin.workflows.signing.signature_file import SignatureFile
from nearkin.workflows.signing.verifying import Verification


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SignedDocuments(Tabular):
    """Result of `nearkin.sign`: documents with their signatures.

    Parameters
    ----------
    documents
        One row per document: id, signature (bytes, the first bit first), has_features, name, source, line, problem.
    manifest
        Counts, parameters and the fingerprint; a result of `open` has no counts.
    file
        The signatures, as input of the search.
    """

    documents: pa.Table
    manifest: Mapping[str, Any]
    out: Path | None
    file: SignatureFile = field(repr=False)

    @classmethod
    def open(cls, path: Where) -> SignedDocuments:
        """Read a file of signatures that `nearkin sign` wrote.

        Raises
        ------
        SourceError
            The file is not such a file, or is damaged.
        """
        place = path_of(path, "path")
        file = SignatureFile.load(place)
        manifest = {"command": "sign", "parameters": file.about.parameters, "fingerprint": file.about.fingerprint}
        return cls(documents=file.table(), manifest=manifest, out=place, file=file)

    @property
    def signatures(self) -> BitSignatures:
        """The signatures, for `nearkin.signatures.neighbour_pairs` and `nearkin.signatures.nearest`."""
        return self.file.signatures

    def nearest(self, doc_id: object, distance: int | None = None, *, threads: int = 0) -> pa.Table:
        """Return the documents within a Hamming distance of a document, the nearest first.

        Parameters
        ----------
        doc_id
            Id or name of the document.
        distance
            Maximum distance in bits; by default the one with the best F1 in a sample of the texts.

        Returns
        -------
        pyarrow.Table
            ``id``, ``name``, ``distance``, ``source``, ``line``.

        Raises
        ------
        ParameterError
            No document has this id, or the document has no features.
        """
        return nearest_documents(self.file, str(doc_id), distance, Resources(threads))

    def __repr__(self) -> str:
        parameters = self.manifest["parameters"]
        method = f"{parameters['method']}, {parameters['bits']} bits"
        return f"SignedDocuments({counted(len(self.documents), 'document')}: {method})"


@taking(SignJob)
def sign(documents: Documents, job: SignJob) -> SignedDocuments:
    """Make a bit signature of every document: signatures of similar documents differ in few bits.

    Parameters
    ----------
    documents : path, table, data frame, data set or list
        As for `nearkin.dedup`.
    out : path, optional
        File for the signatures, as `nearkin sign` writes it. By default no file remains.
    method, bits, features, normalise, ignore, ignore_numbers, seed, statistics, online
        As on the command line.
    density : float, optional
        Density of the vectors of topsig and weighted-topsig, in (0, 1]; by default ``1 / sqrt(bits)``.
    overwrite : bool
        Replace the file ``out``.
    text, id, file_format, encoding, on_error, max_unreadable, max_document_size, text_root, extraction_limits, ocr,
    threads, progress
        As for `nearkin.dedup`.

    Raises
    ------
    ParameterError, DocumentError, SourceError
        As for `nearkin.dedup`.
    FingerprintError
        The statistics count other features.

    Examples
    --------
    >>> import nearkin
    >>> signed = nearkin.sign([("a", "the rent is due on Monday"), ("b", "the rent is due on Tuesday")], bits=64)
    >>> signed
    SignedDocuments(2 documents: minhash, 64 bits)
    >>> [len(signature) for signature in signed.documents["signature"].to_pylist()]
    [8, 8]
    """
    progress = progress_of(job.progress)
    statistics = None if job.statistics is None else path_of(job.statistics, "statistics")
    with file_for(job.out, "sign", overwrite=job.overwrite) as path:
        request = request_of(documents, job, progress=progress)
        check_files_are_read(request)
        place = None if job.out is None else path
        file, record = sign_texts(
            request, place, job.part(SigningOptions), statistics=statistics, resources=Resources.of(job.threads),
            progress=progress,
        )  # fmt: skip
    return SignedDocuments(documents=file.table(), manifest=record.as_stored(), out=place, file=file)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NeighboursResult(Tabular):
    """Result of `nearkin.neighbours`.

    Parameters
    ----------
    pairs
        id_a, id_b, row_a, row_b (rows of the signed documents, from 0) and distance; if verified, also jaccard,
        containment_a_in_b, …
    distance
        Maximum number of different bits.
    n_within
        Number of pairs within the distance, before verification.
    manifest
        Counts, the search method, the expected recall, and the sample from which the default distance comes.
    """

    pairs: pa.Table
    distance: int
    n_within: int
    manifest: Mapping[str, Any]
    out: Path | None

    def __repr__(self) -> str:
        return f"NeighboursResult({counted(len(self.pairs), 'pair')} within {counted(self.distance, 'bit')})"


@taking(NeighboursJob)
def neighbours(signed: SignedDocuments | Where, job: NeighboursJob) -> NeighboursResult:
    """Find all pairs of documents whose signatures differ in at most ``distance`` bits.

    Parameters
    ----------
    signed
        Result of `nearkin.sign`, or a file of signatures.
    against : SignedDocuments or path, optional
        Other signatures by the same method: each pair then has one document of ``signed`` and one of these.
    distance, verify, shingle, normalise, ignore, ignore_numbers, equal, out, overwrite
        As on the command line.
    threads, progress
        As for `nearkin.dedup`.

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
    progress, resources = progress_of(job.progress), Resources.of(job.threads)
    mine = _signed(signed, "signed")
    theirs = None if job.against is None else _signed(job.against, "against")
    verification = Verification.if_given(job.verify, job.shingle, job.normalise)
    of_signatures = [side.out for side in (mine, theirs) if side is not None and side.out is not None]
    with file_for(job.out, "neighbours", overwrite=job.overwrite, inputs=of_signatures) as path:
        signed_files = [side.file for side in (mine, theirs) if side is not None]
        check_place(path, signed_files, is_verified=verification is not None)
        is_parquet = path.suffix.lower() in ("", ".parquet")
        with contextlib.nullcontext(path) if is_parquet else file_for(None, "neighbours", overwrite=False) as written:
            near = find_neighbours(
                mine.file, None if theirs is None else theirs.file, written, job.distance, verification=verification,
                equal=job.equal, resources=resources, progress=progress,
            )  # fmt: skip
            pairs = parquet.read_table(written)
        if not is_parquet:
            with published(path) as aside, table_writer(aside, pairs.schema, path.suffix) as write:
                for batch in pairs.to_batches():
                    write(batch)
    return NeighboursResult(
        pairs=pairs,
        distance=near.distance,
        n_within=near.n_pairs,
        manifest=near.summary(),
        out=None if job.out is None else path,
    )


def _signed(given: SignedDocuments | Where, parameter: str) -> SignedDocuments:
    if isinstance(given, SignedDocuments):
        return given
    return SignedDocuments.open(path_of(given, parameter))
