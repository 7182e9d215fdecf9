"""Sentences of ``nearkin regroup`` about what differs from the run."""

from __future__ import annotations

from collections.abc import Iterator

from nearkin.manifests.dedup import DedupManifest
from nearkin.nouns import agreeing, counted
from nearkin.reports.kept_corpus import no_kept_corpus_text
from nearkin.reports.quantities import parameter_text
from nearkin.reports.sentences.sentence import Sentence


def regroup_sentences(
    told: DedupManifest, run: str, *, run_threshold: float | None, n_now_kept: int, n_now_dropped: int
) -> Iterator[Sentence]:
    """Count the documents with another outcome than in the run; if no cleaned corpus was written, say how to get one.

    Parameters
    ----------
    told : DedupManifest
        Of the new groups.
    run : str
        Name of the run.
    run_threshold : float, optional
        Threshold of the run.
    n_now_kept, n_now_dropped : int
        Numbers of documents that were dropped before and are kept now, and the reverse.
    """
    if run_threshold is not None:
        run = f"{run} (threshold {parameter_text(run_threshold)})"
    yield Sentence(_compared(run, n_now_kept, n_now_dropped))
    if remark := no_kept_corpus_text(told):
        yield Sentence(remark)


def _compared(run: str, n_now_kept: int, n_now_dropped: int) -> str:
    """Count the documents with another outcome.

    Examples
    --------
    >>> _compared("clean", 42, 0), _compared("clean", 0, 0)
    ('42 more documents are kept than in clean', 'The same documents are kept as in clean')
    >>> _compared("clean", 3, 1)
    '2 more documents are kept than in clean: 3 documents dropped there are kept, 1 document kept there is dropped'
    >>> _compared("clean", 0, 1)
    '1 document fewer is kept than in clean'
    """
    if not n_now_kept and not n_now_dropped:
        return f"The same documents are kept as in {run}"
    more = n_now_kept - n_now_dropped
    are = agreeing(abs(more), "is", "are")
    differ = f"As many documents are kept as in {run}"
    if more > 0:
        differ = f"{more:,} more {agreeing(more, 'document', 'documents')} {are} kept than in {run}"
    elif more < 0:
        differ = f"{counted(-more, 'document')} fewer {are} kept than in {run}"
    if not n_now_kept or not n_now_dropped:
        return differ
    return (
        f"{differ}: {counted(n_now_kept, 'document')} dropped there {agreeing(n_now_kept, 'is', 'are')} kept, "
        f"{counted(n_now_dropped, 'document')} kept there {agreeing(n_now_dropped, 'is', 'are')} dropped"
    )
