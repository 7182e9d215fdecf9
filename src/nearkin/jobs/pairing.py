"""`nearkin.pairs`: similar documents of two corpora, in one language or in two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from nearkin.arguments import checking_arguments
from nearkin.jobs.documents import DocumentReading, Documents, check_files_are_read, check_two_sides, readable_sides
from nearkin.jobs.places import Listener, Where, check_needs_out, directory_for, manifest_in, progress_of, table_in
from nearkin.nouns import counted
from nearkin.paths import path_of
from nearkin.stages.documents.rules import OnError, ReadingRules
from nearkin.tabular import Histogram, Tabular, histogram
from nearkin.workflows.pairing.inputs import PairInput
from nearkin.workflows.pairing.job import Beside, pair_files
from nearkin.workflows.pairing.options import Method, PairOptions, Translated
from nearkin.workflows.resources import Resources


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairsResult(Tabular):
    """Result of `nearkin.pairs`.

    Parameters
    ----------
    pairs : pyarrow.Table
        left_id, right_id, left_row, right_row, cosine, rank, known, terms; sorted by left document, the most similar
        first. ``rank`` counts the pairs of a left document from 1; ``terms`` are the words that add most to the cosine.
    documents : pyarrow.Table
        One row per document of both sides: side, id, name, row, problem, n_terms, n_pairs, best, best_cosine, …
    manifest : mapping
        Parameters, counts, the plan, the recall of known pairs, and the resources used by each stage.
    out : Path or None
        Directory of the results, if one was given.
    """

    tables: ClassVar[tuple[str, ...]] = ("pairs", "documents")
    pairs: pa.Table
    documents: pa.Table
    manifest: Mapping[str, Any]
    out: Path | None

    @classmethod
    def open(cls, directory: Where) -> PairsResult:
        """Read the results of `nearkin pairs`, without their input.

        Raises
        ------
        RunError
            The directory holds no such results, or they are damaged.
        """
        place = path_of(directory, "directory")
        return _result(place, manifest_in(place, ("pairs",)), place)

    def _bars(self) -> Histogram:
        return histogram(self.pairs["cosine"], "pairs by cosine")

    def __repr__(self) -> str:
        left, right = (self.manifest[side]["n_documents"] for side in ("left", "right"))
        found = counted(len(self.pairs), "pair")
        return f"PairsResult({found} of {counted(left, 'document')} and {counted(right, 'document')})"


@checking_arguments
def pairs(
    left: Documents,
    right: Documents,
    *,
    text: str | None = None,
    id: str | None = None,
    left_text: str | None = None,
    right_text: str | None = None,
    left_id: str | None = None,
    right_id: str | None = None,
    table: Where | None = None,
    left_language: str | None = None,
    right_language: str | None = None,
    out: Where | None = None,
    threshold: float = 0.3,
    recall: float = 0.9,
    top: int | None = None,
    n_terms: int = 5,
    agreement: float = 0.05,
    stems: bool = True,
    splits: bool = True,
    translate: Translated = "auto",
    min_occurrences: int = 2,
    min_terms: int = 5,
    method: Method = "auto",
    bits: int | None = None,
    distance: int | None = None,
    permutations: int | None = None,
    window: int | None = None,
    seed: int = 0,
    known: Where | None = None,
    interwiki: Where | None = None,
    file_format: str | None = None,
    encoding: str = "utf-8",
    on_error: OnError = "skip-documents",
    max_unreadable: float | str = 0.5,
    max_document_size: int | str = "64MiB",
    extraction_limits: Mapping[str, int | str] | None = None,
    ocr: str | None = None,
    threads: int = 0,
    report: bool = False,
    overwrite: bool = False,
    progress: Listener | None = None,
) -> PairsResult:
    """Find similar pairs of two corpora: documents and their translations, or articles about the same thing.

    Every reported pair has its exact cosine. The search is planned on a sample of the documents.

    Parameters
    ----------
    left, right : path, table, data frame, data set or list
        As for `nearkin.dedup`; files may also be dumps of Wikipedia. Documents in memory without ids are named
        ``left:1``, ``right:1``, …
    text, id, left_text, right_text, left_id, right_id : str, optional
        Column names, of both sides or of one side; guessed if not given.
    table : path, optional
        Translation table of the two languages, from `nearkin align`; either direction works.
    left_language, right_language : str, optional
        Language codes; by default those of the table.
    out : path, optional
        Directory for the results, as `nearkin pairs` writes them. By default no files remain.
    threshold : float
        Minimum cosine of a pair, in (0, 1]. Translations usually reach 0.3 to 0.6.
    recall : float
        Minimum share of these pairs that the search finds, as predicted from a sample, in (0, 1]; 1 compares all pairs.
    top : int, optional
        Maximum number of pairs of each left document, the most similar first; by default all.
    n_terms : int
        Number of matching words to report for each pair.
    agreement : float
        Minimum probability of a translation in the reverse direction.
    stems, splits : bool
        For words that the table lacks: translate other forms with the same stem; split compounds.
    translate : {"auto", "left", "right"}
        Side whose words are translated.
    min_occurrences, min_terms : int
        Minimum number of times a word must occur in its corpus; minimum number of terms of a document.
    method : {"auto", "vectors", "signatures", "window"}
        Search method; by default the fastest according to the plan.
    bits, distance, permutations, window : int, optional
        Parameters of the search method; by default as planned.
    seed : int
        Random seed of the signatures and of the sample of documents for the plan.
    known : {"same-ids"} or path, optional
        Known pairs, to measure recall: documents with the same id, or a file of two columns of ids.
    interwiki : {"inline"} or path, optional
        Known pairs from the links between editions of Wikipedia.
    file_format, encoding, on_error, max_unreadable, max_document_size, threads, extraction_limits, ocr
        As for `nearkin.dedup`.
    report, overwrite : bool
        With ``out``: write ``report.html``; replace the results of an earlier run.
    progress : callable or Progress, optional
        Receives messages and the names of stages, for example ``print``.

    Returns
    -------
    nearkin.results.PairsResult

    Raises
    ------
    ParameterError
        A parameter is invalid, the documents have no accepted type, or both sides are the same.
    DocumentError, SourceError
        A side has no documents or no words; too many documents are unreadable; or a file or column is missing.
    FingerprintError
        The table has other languages.
    OutputExistsError, OutputError
        ``out`` is not free, or cannot be written.

    Examples
    --------
    >>> import nearkin
    >>> ours = [("r", "the roofer found eleven broken tiles above the reading room and mended them"), ("x", "soup")]
    >>> theirs = [("s", "eleven broken tiles above the reading room were found by the roofer and mended")]
    >>> found = nearkin.pairs(ours, theirs, min_occurrences=1)
    >>> [(pair["left_id"], pair["right_id"]) for pair in found.pairs.to_pylist()]
    [('r', 's')]
    """
    listening = progress_of(progress)
    options = PairOptions(
        threshold=threshold, recall=recall, top=top, n_terms=n_terms, agreement=agreement, stems=stems, splits=splits,
        translate=translate, min_occurrences=min_occurrences, min_terms=min_terms, method=method, bits=bits,
        distance=distance, permutations=permutations, window=window, seed=seed,
    )  # fmt: skip
    check_needs_out(out, report=report, overwrite=overwrite)
    rules = ReadingRules.of(on_error, max_unreadable, max_document_size, extraction_limits=extraction_limits, ocr=ocr)
    left, right = readable_sides(left, right)
    side = DocumentReading(file_format, encoding, rules, listening)
    given = PairInput(
        side.request(left, "left", text=text, id=id, own_text=left_text, own_id=left_id),
        side.request(right, "right", text=text, id=id, own_text=right_text, own_id=right_id),
        None if table is None else path_of(table, "table"), left_language, right_language,
    )  # fmt: skip
    check_two_sides(left, right, given, "pairs")
    beside = Beside(
        None if known is None else str(path_of(known, "known")),
        None if interwiki is None else str(path_of(interwiki, "interwiki")),
    )
    check_files_are_read(given.left, given.right)
    with directory_for(out, "pairs") as directory:
        manifest = pair_files(
            given, directory, options, beside, overwrite=overwrite, report=report, resources=Resources(threads),
            progress=listening,
        )  # fmt: skip
        return _result(directory, manifest.as_stored(), None if out is None else directory)


def _result(directory: Path, manifest: Mapping[str, Any], out: Path | None) -> PairsResult:
    """Read the tables of a run."""
    found, documents = table_in(directory, "pairs"), table_in(directory, "documents")
    return PairsResult(pairs=found, documents=documents, manifest=manifest, out=out)
