"""`nearkin.sign`: bit signatures of documents in files or in memory."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from nearkin.arguments import checking_arguments
from nearkin.errors import ParameterError
from nearkin.formats import parquet
from nearkin.formats.delimited import table_writer
from nearkin.jobs.documents import DocumentReading, Documents, check_files_are_read
from nearkin.jobs.places import Listener, Where, file_for, progress_of
from nearkin.nouns import counted
from nearkin.paths import path_of
from nearkin.records import BitSignatures
from nearkin.runs.files import published
from nearkin.stages.documents.normalisation import Normalisation, Steps
from nearkin.stages.documents.rules import OnError, ReadingRules
from nearkin.stages.features.shingles import Shingling, parse_shingling
from nearkin.tabular import Histogram, Tabular, histogram_of_bits
from nearkin.workflows.resources import Resources
from nearkin.workflows.signing.job import sign as sign_texts
from nearkin.workflows.signing.neighbours import Equal, check_place, find_neighbours, nearest_documents
from nearkin.workflows.signing.options import MethodName, SigningOptions
from nearkin.workflows.signing.signature_file import SignatureFile
from nearkin.workflows.signing.verifying import Verification


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SignedDocuments(Tabular):
    """Result of `nearkin.sign`: documents with their signatures.

    Parameters
    ----------
    documents : pyarrow.Table
        One row per document: id, signature (bytes, the first bit first), has_features, name, source, line, problem.
    manifest : mapping
        Counts, parameters and the fingerprint; a result of `open` has no counts.
    out : Path or None
        File of the signatures, if one was given.
    file : SignatureFile
        The signatures, as input of the search.
    """

    tables: ClassVar[tuple[str, ...]] = ("documents",)
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
        doc_id : str or int
            Id or name of the document.
        distance : int, optional
            Maximum distance in bits; by default the usual one of the signature method.
        threads : int

        Returns
        -------
        pyarrow.Table
            ``id``, ``name``, ``distance``, ``source``, ``line``.

        Raises
        ------
        ParameterError
            No document has this id, or the document has no features.
        """
        return nearest_documents(self.file, str(doc_id), distance, resources=Resources(threads))

    def _bars(self) -> Histogram:
        has_features = self.documents["has_features"].to_numpy()
        n_signed, n_unreadable = int(has_features.sum()), len(self.documents) - self.documents["problem"].null_count
        n_others = len(self.documents) - n_signed - n_unreadable
        return Histogram("documents", {"signed": n_signed, "without features": n_others, "unreadable": n_unreadable})

    def __repr__(self) -> str:
        told = self.manifest["parameters"]
        return f"SignedDocuments({counted(len(self.documents), 'document')}: {told['method']}, {told['bits']} bits)"


@checking_arguments
def sign(
    documents: Documents,
    *,
    text: str | None = None,
    id: str | None = None,
    out: Where | None = None,
    method: MethodName = "minhash",
    bits: int = 256,
    features: Shingling | str = "chars:4",
    normalise: Normalisation | Steps = "none",
    density: float | None = None,
    statistics: Where | None = None,
    online: bool = False,
    seed: int = 0,
    file_format: str | None = None,
    encoding: str = "utf-8",
    on_error: OnError = "skip-documents",
    max_unreadable: float | str = 0.5,
    max_document_size: int | str = "64MiB",
    extraction_limits: Mapping[str, int | str] | None = None,
    ocr: str | None = None,
    threads: int = 0,
    overwrite: bool = False,
    progress: Listener | None = None,
) -> SignedDocuments:
    """Make a bit signature of every document: signatures of similar documents differ in few bits.

    Parameters
    ----------
    documents : path, table, data frame, data set or list
        As for `nearkin.dedup`.
    text, id : str, optional
        Column names; guessed if not given.
    out : path, optional
        File for the signatures, as `nearkin sign` writes it. By default no file remains.
    method : {"simhash", "simhash-fast", "topsig", "weighted-topsig", "minhash"}
    bits : int
        Length of a signature, a multiple of 8 from 8 to 1024.
    features : Shingling or str
        ``words:N`` or ``chars:N``.
    normalise : Normalisation or str
        Steps such as ``nfkc,case,space``, or ``none``.
    density : float, optional
        Density of the vectors of topsig and weighted-topsig, in (0, 1]; by default ``1 / sqrt(bits)``.
    statistics : path, optional
        File that `nearkin statistics` wrote, for weighted-topsig; by default the features of the documents are counted
        first.
    online : bool
        Whether weighted-topsig uses only the statistics of the documents read so far.
    seed : int
    file_format, encoding, on_error, max_unreadable, max_document_size, threads, extraction_limits, ocr
        As for `nearkin.dedup`.
    overwrite : bool
        Replace the file ``out``.
    progress : callable or Progress, optional
        Receives messages and the names of stages, for example ``print``.

    Returns
    -------
    nearkin.results.SignedDocuments

    Raises
    ------
    ParameterError
        A parameter is invalid, or the documents have no accepted type.
    DocumentError, SourceError
        Too many or all documents are unreadable, or a file or column is missing.
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
    listening = progress_of(progress)
    options = SigningOptions(
        method=method,
        bits=bits,
        features=parse_shingling(features, parameter="features") if isinstance(features, str) else features,
        normalise=Normalisation.parse(normalise) if isinstance(normalise, str) else normalise,
        density=density,
        seed=seed,
        is_online=online,
    )
    weighted_by = None if statistics is None else path_of(statistics, "statistics")
    rules = ReadingRules.of(on_error, max_unreadable, max_document_size, extraction_limits=extraction_limits, ocr=ocr)
    resources = Resources(threads)
    reading = DocumentReading(file_format, encoding, rules, listening)
    with file_for(out, "sign", overwrite=overwrite) as path:
        request = reading.request(documents, text=text, id=id)
        check_files_are_read(request)
        file, record = sign_texts(
            request, None if out is None else path, options, statistics=weighted_by, resources=resources,
            progress=listening,
        )  # fmt: skip
    place = None if out is None else path
    return SignedDocuments(documents=file.table(), manifest=record.as_stored(), out=place, file=file)


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
