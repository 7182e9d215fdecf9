"""Counted features of a text."""

from __future__ import annotations

import pyarrow as pa

from nearkin.arguments import checking_arguments, checking_types
from nearkin.kernels import features
from nearkin.kernels.buffers import text_buffers
from nearkin.records import FeatureCounts
from nearkin.stages.features.shingles import Characters, Shingling


@checking_arguments
@checking_types
def count_features(texts: pa.LargeStringArray, shingling: Shingling) -> FeatureCounts:
    """Count the distinct features of each text.

    Parameters
    ----------
    texts : LargeStringArray
        Valid UTF-8; a null has no features.
    shingling : Shingling
        Definition of a feature; the hashes are the same as those of `Shingling.sets`.

    Examples
    --------
    >>> counted = count_features(pa.array(["abcab", ""], pa.large_string()), Characters(2))
    >>> counted.counts.tolist(), counted.offsets.tolist(), counted.n_occurrences.tolist()
    ([2, 1, 1], [0, 3, 3], [4, 0])
    """
    data, offsets = text_buffers(texts)
    hashes, counts, firsts, feature_offsets = features.count_features(
        data, offsets, words=shingling.unit == "words", length=shingling.length
    )
    n_characters = shingling.length if isinstance(shingling, Characters) else 0
    return FeatureCounts(
        hashes=hashes,
        counts=counts,
        firsts=firsts,
        offsets=feature_offsets,
        texts=texts,
        n_characters=n_characters,
        fingerprint=shingling.fingerprint,
    )
