"""Upper limit of the number of pairs that a search skipped, at most the number that exists."""

from __future__ import annotations

from nearkin.workflows.dedup.corpus import MINE, THEIRS, Corpus


def max_not_compared(n_counted: int, corpus: Corpus, *, n_candidates: int) -> int:
    """Return an upper limit of the pairs of texts that share a key and were not compared.

    Parameters
    ----------
    n_counted : int
        Pairs skipped in skewed keys; a pair counts once for each key that it shares.
    corpus : Corpus
    n_candidates : int
        Distinct pairs that were compared.
    """
    n_first, n_second = ((corpus.sides == side).sum() for side in (MINE, THEIRS))
    return within_what_there_is(
        n_counted, corpus.n_nodes, n_first=int(n_first), n_second=int(n_second), n_candidates=n_candidates
    )


def within_what_there_is(
    n_counted: int, n_texts: int, *, n_candidates: int, n_first: int = 0, n_second: int = 0
) -> int:
    """Return the count, or the number of existing pairs that were not compared if that is smaller.

    Parameters
    ----------
    n_counted : int
    n_texts : int
        Number of distinct texts.
    n_candidates : int
    n_first, n_second : int
        Of two sets: texts in only one of them; they are not paired with each other.

    Examples
    --------
    >>> within_what_there_is(913, 30, n_candidates=35)
    400
    >>> within_what_there_is(7, 30, n_candidates=35)
    7
    >>> within_what_there_is(913, 30, n_candidates=0, n_first=20, n_second=10)
    200
    """
    n_pairs = (n_texts * (n_texts - 1) - n_first * (n_first - 1) - n_second * (n_second - 1)) // 2
    return min(n_counted, max(0, n_pairs - n_candidates))
