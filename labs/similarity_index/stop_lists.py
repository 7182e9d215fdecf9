"""The same runs with other lists of stop words: influence of the list on a score.

The paper does not say which words it omits. Three lists that programs of its time and later ones use are tried; the
choice changes nothing that matters for the method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.similarity_index.chance import Stream, multipliers
from labs.similarity_index.published import TABLE_9
from labs.similarity_index.runs import SUPER_SHINGLE, all_methods
from labs.similarity_index.zones import LUCENE, SNOWBALL, Folder, count
from nearkin.records import F64
from nearkin.runs.progress import Progress
from nearkin.stages.signatures.similarity_index import (
    STREAMS,
    VARIATIONS,
    SimilarityIndex,
    TextStream,
    bare_words,
    stop_words,
)

JAVA = 31


@dataclass(frozen=True, slots=True)
class StopList:
    """A list of stop words.

    Parameters
    ----------
    name : str
    words : tuple of bytes
        Words in the form of a `TextStream`.
    """

    name: str
    words: tuple[bytes, ...]

    def __len__(self) -> int:
        return len(self.words)


def stop_lists() -> tuple[StopList, ...]:
    """Return the lists; `python -m labs.similarity_index` uses the first one everywhere else.

    Examples
    --------
    >>> [(one.name, len(one)) for one in stop_lists()][1:]
    [('Snowball', 174), ('Lucene', 33)]
    """
    return (
        StopList("stopwordsiso", stop_words()),
        StopList("Snowball", bare_words(SNOWBALL.split())),
        StopList("Lucene", bare_words(LUCENE.split())),
    )


@dataclass(frozen=True, slots=True)
class ByStopList:
    """Scores without the words of one list.

    Parameters
    ----------
    stop_list : StopList
    scores : dict of SimilarityIndex to float
        Scores of every run except the super shingle, with Java's multiplier.
    others : dict of SimilarityIndex to float64 array, shape (n_multipliers,)
        Scores of the runs of the paper's Table 9, with other multipliers.
    """

    stop_list: StopList
    scores: dict[SimilarityIndex, float]
    others: dict[SimilarityIndex, F64]

    @property
    def best(self) -> float:
        """Highest score."""
        return max(self.scores.values())

    @property
    def n_over_one(self) -> int:
        """Number of runs with a score above 1."""
        return sum(score > 1 for score in self.scores.values())


def measure(folder: Folder, n_multipliers: int, *, seed: int, progress: Progress) -> tuple[ByStopList, ...]:
    """Score every run without the words of each list, and the paper's five also with other multipliers."""
    lists = stop_lists()
    methods = tuple(method for method in all_methods() if method.method != SUPER_SHINGLE)
    published = tuple(SimilarityIndex.parse(said.spec) for said in TABLE_9)
    drawn = multipliers(n_multipliers, seed)
    streams = len(STREAMS) * len(VARIATIONS)
    progress.start("other stop words", len(lists) * streams, "steps")
    made = []
    for stop_list in lists:
        scores: dict[SimilarityIndex, float] = {}
        others: dict[SimilarityIndex, F64] = {}
        for name in STREAMS:
            for variation in VARIATIONS:
                stream = Stream.of(folder, TextStream(name, variation, stop_list.words))
                scores |= _scores(folder, stream, methods, JAVA)
                own = [method for method in published if stream.reads_for(method)]
                found = [_scores(folder, stream, own, multiplier) for multiplier in drawn] if own else []
                others |= {method: np.array([one[method] for one in found]) for method in own}
                progress.advance(1)
        made.append(ByStopList(stop_list, scores, others))
    progress.finish()
    return tuple(made)


def _scores(
    folder: Folder, stream: Stream, methods: tuple[SimilarityIndex, ...] | list[SimilarityIndex], multiplier: int
) -> dict[SimilarityIndex, float]:
    """Return the scores of the methods that use this stream."""
    own = [method for method in methods if stream.reads_for(method)]
    return {
        method: count(indexes.similar(indexes), folder.zones).score
        for method, indexes in stream.indexes(own, multiplier)
    }
