"""The same runs without other stop words: what a score owes to the list that was taken.

The paper does not say which words it leaves out. Three lists that programs of its time and since take are tried; which
of them is taken changes nothing that a reader would call a method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.lab.similarity_index.chance import Stream, multipliers
from nearkin.lab.similarity_index.published import TABLE_9
from nearkin.lab.similarity_index.runs import SUPER_SHINGLE, all_methods
from nearkin.lab.similarity_index.scoring import count
from nearkin.lab.similarity_index.zones import Folder
from nearkin.records import F64
from nearkin.runs.progress import Progress
from nearkin.stages.signatures.similarity_index import SimilarityIndex
from nearkin.stages.signatures.text_streams import STREAMS, VARIATIONS, TextStream, bare_words, stop_words

JAVA = 31
# The English stop words of Snowball (snowballstem.org). Copyright (c) 2001, Dr Martin Porter; copyright (c) 2002,
# Richard Boulton. All rights reserved. Under the BSD 3-clause licence: redistribution and use, with or without
# modification, are permitted provided that this notice and the disclaimer are kept, and that the names of the holders
# do not endorse what is derived. Provided "as is", without any warranty, and without liability for any damage.
_SNOWBALL = """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves what which who whom this that these those am is are
    was were be been being have has had having do does did doing would should could ought i'm you're he's she's
    it's we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd i'll you'll he'll she'll we'll
    they'll isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't won't wouldn't shan't
    shouldn't can't cannot couldn't mustn't let's that's who's what's here's there's when's where's why's how's
    a an the and but if or because as until while of at by for with about against between into through during
    before after above below to from up down in out on off over under again further then once here there when
    where why how all any both each few more most other some such no nor not only own same so than too very
"""
# The English stop words of Apache Lucene (EnglishAnalyzer). Copyright The Apache Software Foundation. Under the
# Apache licence 2.0.
_LUCENE = """
    a an and are as at be but by for if in into is it no not of on or such that the their then there these they
    this to was will with
"""


@dataclass(frozen=True, slots=True)
class StopList:
    """A list of stop words.

    Parameters
    ----------
    name : str
    words : tuple of bytes
        As a `TextStream` has them.
    """

    name: str
    words: tuple[bytes, ...]

    def __len__(self) -> int:
        return len(self.words)


def stop_lists() -> tuple[StopList, ...]:
    """The list that `nearkin lab similarity-index` takes everywhere else first.

    Examples
    --------
    >>> [(one.name, len(one)) for one in stop_lists()][1:]
    [('Snowball', 174), ('Lucene', 33)]
    """
    return (
        StopList("stopwordsiso", stop_words()),
        StopList("Snowball", bare_words(_SNOWBALL.split())),
        StopList("Lucene", bare_words(_LUCENE.split())),
    )


@dataclass(frozen=True, slots=True)
class ByStopList:
    """The scores without the words of one list.

    Parameters
    ----------
    stop_list : StopList
    scores : dict of SimilarityIndex to float
        Of every run but the super shingle, with Java's multiplier.
    others : dict of SimilarityIndex to float64 array, shape (n_multipliers,)
        Of the runs of the paper's Table 9, with other multipliers.
    """

    stop_list: StopList
    scores: dict[SimilarityIndex, float]
    others: dict[SimilarityIndex, F64]

    @property
    def best(self) -> float:
        """The highest score."""
        return max(self.scores.values())

    @property
    def n_over_one(self) -> int:
        """Runs that score above 1."""
        return sum(score > 1 for score in self.scores.values())


def measure(folder: Folder, n_multipliers: int, *, seed: int, progress: Progress) -> tuple[ByStopList, ...]:
    """Every run without the words of each list, and the paper's five with other multipliers too."""
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
    """Of those methods whose stream it is."""
    own = [method for method in methods if stream.reads_for(method)]
    return {
        method: count(indexes.similar(indexes), folder.zones).score
        for method, indexes in stream.indexes(own, multiplier)
    }
