"""Keys of texts: of the whole text, of each band of its signature, and sampled shingles.

Source: Andrei Z. Broder, "On the resemblance and containment of documents", 1997.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearkin.collection.counting import NORMALISE, SHINGLES
from nearkin.kernels.buffers import strings
from nearkin.records import I64, U64, ShingleSets
from nearkin.stages.documents.ignoring import NOTHING, Ignored
from nearkin.stages.search.bands import Bands
from nearkin.stages.search.sampling import Sampling
from nearkin.stages.signatures.minhash import MinHash

BANDS = Bands(12, 3)
"""Bands and rows: a pair with Jaccard similarity 0.7 shares a band with probability 0.994."""
SAMPLING = Sampling(1 / 32)
"""Sampling rate of shingles: a text of 100 shingles that is part of another shares a sampled one with probability
0.96."""
_MINHASH = MinHash(BANDS.size)
EXACT, BAND, SAMPLE = 0, 1, 2
"""Kinds of keys: of the whole text, ignoring case and spacing; of a band; a sampled shingle."""
FINGERPRINT = ";".join((NORMALISE.fingerprint, SHINGLES.fingerprint, _MINHASH.fingerprint, BANDS.fingerprint)) + (
    f";{SAMPLING.fingerprint};bits=32"
)
_APART = {EXACT: np.uint64(0x243F6A8885A308D3), BAND: np.uint64(0x13198A2E03707344), SAMPLE: np.uint64(0)}
"""Constants that keep keys of different kinds apart: they are as unlikely to be equal as any two numbers."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys of some texts, each once per text.

    Parameters
    ----------
    texts : int64 array, shape (n_keys,)
        Position of the text that each belongs to.
    kinds : uint8 array, shape (n_keys,)
        EXACT, BAND or SAMPLE.
    """

    values: I64
    texts: I64
    kinds: NDArray[np.uint8]
    sets: ShingleSets


def keys_of(texts: Sequence[str], ignored: Ignored = NOTHING) -> Keys:
    """Return the keys of some texts, without what does not count."""
    normalised = NORMALISE.ignoring(ignored).apply(strings(texts))
    sets = SHINGLES.sets(normalised)
    digests = [hashlib.sha256(text.as_buffer()).digest()[:8] for text in normalised]
    exact = np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)
    everything = np.arange(len(texts), dtype=np.int64)
    has_shingles = np.flatnonzero(sets.sizes)
    bands: U64 = BANDS.keys(_MINHASH.sign(sets))[:, has_shingles] if len(has_shingles) else np.zeros((0, 0), np.uint64)
    sampled, set_of_key = SAMPLING.keys(sets)
    parts = [
        (EXACT, exact, everything),
        (BAND, bands.ravel(), np.tile(has_shingles.astype(np.int64), len(bands))),
        (SAMPLE, sampled, set_of_key),
    ]
    hashes = np.concatenate([part ^ _APART[kind] for kind, part, _ in parts])
    values = hashes.view(np.int64) >> 32  # a database takes a fifth less space for such short ones
    owners = np.concatenate([owner for _, _, owner in parts])
    kinds = np.concatenate([np.full(len(part), kind, np.uint8) for kind, part, _ in parts])
    order = np.lexsort((values, owners))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(values[order]) != 0) | (np.diff(owners[order]) != 0)
    kept = order[is_first]
    return Keys(values[kept], owners[kept], kinds[kept], sets)
