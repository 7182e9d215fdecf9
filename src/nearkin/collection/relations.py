"""Relations of stored texts to one of them, by the rules of ``nearkin families``.

They compare word 3-grams, as ``nearkin families`` does by default, so that two texts have one relation everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.collection.counting import NORMALISE
from nearkin.kernels.buffers import strings
from nearkin.records import U64
from nearkin.stages.differences.particulars import Original
from nearkin.stages.differences.relating import COPY, MemberComparison, compare
from nearkin.stages.features.shingles import Words

RELATION_SHINGLES = Words(3)


@dataclass(frozen=True, slots=True)
class RelatedText:
    """A text compared with its principal; a containment is the share of the word 3-grams of one that the other has."""

    comparison: MemberComparison
    containment_in_principal: float
    containment_of_principal: float


def relate(
    principal: str, texts: Sequence[str], *, n_shown: int = 0, with_one_sided: bool = False
) -> list[RelatedText]:
    """Compare texts with a principal; equal texts are compared once.

    Parameters
    ----------
    n_shown : int
        Number of differences to keep of each.
    with_one_sided : bool
        Keep all text that only one of the two has.
    """
    distinct = list(dict.fromkeys(texts))
    normalised = NORMALISE.apply(strings([principal, *distinct]))
    sets = RELATION_SHINGLES.sets(normalised)
    own, *others = (sets.hashes[a:b] for a, b in zip(sets.offsets[:-1], sets.offsets[1:]))
    prepared = normalised.to_pylist()
    original, found = Original(principal), dict[str, RelatedText]()
    for text, as_compared, other in zip(distinct, prepared[1:], others, strict=True):
        if as_compared == prepared[0]:
            found[text] = RelatedText(COPY, 1.0, 1.0)
            continue
        inside, holding = _containments(own, other)
        comparison = compare(
            original,
            Original(text),
            n_shown=n_shown,
            with_one_sided=with_one_sided,
        )
        found[text] = RelatedText(comparison, inside, holding)
    return [found[text] for text in texts]


def _containments(principal: U64, member: U64) -> tuple[float, float]:
    n_both = len(np.intersect1d(principal, member, assume_unique=True))
    return n_both / max(1, len(member)), n_both / max(1, len(principal))
