"""`nearkin.pairs`: similar documents of two corpora, in one language or in two."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from nearkin.jobs.documents import Documents, sides_of
from nearkin.jobs.places import TablesOfRun, directory_for, progress_of
from nearkin.nouns import counted
from nearkin.options.declared import taking_two
from nearkin.options.pairs import PairOptions, PairsJob
from nearkin.workflows.pairing.job import pair_files
from nearkin.workflows.resources import Resources


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairsResult(TablesOfRun):
    """Result of `nearkin.pairs`.

    Parameters
    ----------
    pairs
        left_id, right_id, left_row, right_row, cosine, rank, known, terms, by left document, the most similar first.
        ``rank`` counts the pairs of a left document from 1; ``terms`` add most to the cosine.
    documents
        One row per document of both sides: side, id, name, row, problem, n_terms, n_pairs, best, best_cosine, …
    manifest
        Parameters, counts, the plan, the recall of known pairs, and the resources used by each stage.
    """

    commands = ("pairs",)
    pairs: pa.Table
    documents: pa.Table

    def __repr__(self) -> str:
        left, right = (self.manifest[side]["n_documents"] for side in ("left", "right"))
        count = counted(len(self.pairs), "pair")
        return f"PairsResult({count} of {counted(left, 'document')} and {counted(right, 'document')})"


@taking_two(PairsJob)
def pairs(left: Documents, right: Documents, job: PairsJob) -> PairsResult:
    """Find similar pairs of two corpora: documents and their translations, or articles about the same thing.

    Every reported pair has its exact cosine. The search is planned on a sample of the documents.

    Parameters
    ----------
    left, right : path, table, data frame, data set or list
        As for `nearkin.dedup`; files may also be dumps of Wikipedia. Documents in memory without ids are named
        ``left:1``, ``right:1``, …
    min_occurrences : int, default 2
        Minimum number of times that a word must occur in its corpus.
    min_terms : int, default 5
        Minimum number of terms of a document.
    n_terms : int, default 5
        Number of matching words to list for each pair.
    agreement : float
        Minimum probability of a translation in the reverse direction.
    stems, splits : bool
        For words that the table lacks: translate other forms with the same stem; split compounds.
    translate : {"auto", "left", "right"}
        Side whose words are translated.
    bits, distance, permutations, window : int, optional
        Parameters of the search method; by default as planned.
    text, id, left_text, right_text, left_id, right_id, table, right_language, threshold, recall, top,
    seed, method, ignore, ignore_numbers, known
        As on the command line.
    file_format, encoding, on_error, max_unreadable, max_document_size, text_root, extraction_limits, ocr, threads, out,
    report, overwrite, progress
        As for `nearkin.dedup`.

    Raises
    ------
    ParameterError, DocumentError, SourceError, OutputExistsError, OutputError
        As for `nearkin.dedup`; or both sides are the same, or one has no words.
    FingerprintError
        The table has other languages.

    Examples
    --------
    >>> import nearkin
    >>> ours = [("r", "the roofer found eleven broken tiles above the reading room and mended them"), ("x", "soup")]
    >>> theirs = [("s", "eleven broken tiles above the reading room were found by the roofer and mended")]
    >>> found = nearkin.pairs(ours, theirs, min_occurrences=1)
    >>> [(pair["left_id"], pair["right_id"]) for pair in found.pairs.to_pylist()]
    [('r', 's')]
    """
    progress, resources = progress_of(job.progress), Resources.of(job.threads)
    given = sides_of(left, right, job, "pairs", progress)
    with directory_for(job.out, "pairs") as directory:
        manifest = pair_files(
            given, directory, job.part(PairOptions), job.known, overwrite=job.overwrite, report=job.report,
            resources=resources, progress=progress,
        )  # fmt: skip
        return PairsResult.read(directory, manifest.as_stored(), None if job.out is None else directory)
