"""Reach of data derived from the stored texts: keys, sets of word 5-grams.

Three facts belong to each kind of derived data: the method that made it, the content up to which it is stored, and the
contents below that have none, because their stored texts are damaged. What is not stored yet is derived when needed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from nearkin.collection.counting import NORMALISE, SHINGLES
from nearkin.kernels.buffers import strings
from nearkin.records import I64, U64, ShingleSets
from nearkin.stages.documents.ignoring import NOTHING, Ignored
from nearkin.stages.search.bands import Bands
from nearkin.stages.search.sampling import Sampling
from nearkin.stages.signatures.minhash import MinHash
from nearkin.store import schema
from nearkin.store.bulk import number_after_last
from nearkin.store.store import Store


@dataclass(frozen=True, slots=True)
class Reach:
    """Part of the stored texts from which data is derived and stored.

    Parameters
    ----------
    end : int or None
        The contents below have stored data of today's method; None: it is not known, so what is stored is unusable.
    n_contents : int
        One more than the highest number of a content.
    lost : tuple of int
        Contents below ``end`` without stored data, because their texts are damaged.
    """

    end: int | None
    n_contents: int
    lost: tuple[int, ...]

    @property
    def first_without(self) -> int:
        """First content beyond the reach, which is `n_contents` if there is none; 0 if what is stored is unusable."""
        return self.end or 0

    @property
    def is_whole(self) -> bool:
        """Whether every content has usable stored data."""
        return self.end is not None and self.end >= self.n_contents

    @property
    def first_missing(self) -> int | None:
        """First content beyond the reach; None if there is none."""
        return self.first_without if self.first_without < self.n_contents else None


@dataclass(frozen=True, slots=True)
class DerivedData:
    """Kind of data derived from the texts.

    Parameters
    ----------
    method : str
        Name of the fact with the fingerprint of the method; the names of the other facts begin with it.
    fingerprint : str
        Fingerprint of today's method.
    """

    method: str
    fingerprint: str

    @property
    def end(self) -> str:
        """Name of the fact with the content up to which data is stored."""
        return f"{self.method}_end"

    @property
    def lost(self) -> str:
        """Name of the fact with the contents without data."""
        return f"{self.method}_lost"

    @property
    def facts(self) -> tuple[str, str, str]:
        """Names of all facts."""
        return self.method, self.end, self.lost

    def reach(self, connection: Connection, store: Store) -> Reach:
        """Return the reach in a snapshot or transaction."""
        last = number_after_last(connection, schema.contents.c.content) - 1
        return self.reach_of(store.facts_now(connection, self.facts), last)

    def reach_of(self, facts: Mapping[str, str], last: int | None) -> Reach:
        """Read the reach from the facts, and the number of the last content; None and -1 if there is none.

        Examples
        --------
        >>> keys = DerivedData("check_keys", "words:5")
        >>> keys.reach_of({"check_keys": "words:5", "check_keys_end": "7", "check_keys_lost": "3,5"}, 9)
        Reach(end=7, n_contents=10, lost=(3, 5))
        >>> keys.reach_of({"check_keys": "words:3", "check_keys_end": "7"}, 9)
        Reach(end=None, n_contents=10, lost=())
        """
        n_contents = 0 if last is None else last + 1
        numbers = [facts.get(self.end, ""), *(one for one in facts.get(self.lost, "").split(",") if one)]
        are_numbers = all(one.isascii() and one.isdecimal() and len(one) < 19 for one in numbers)
        if facts.get(self.method) != self.fingerprint or not are_numbers or int(numbers[0]) > n_contents:
            return Reach(None, n_contents, ())
        return Reach(int(numbers[0]), n_contents, tuple(map(int, numbers[1:])))

    def write(self, connection: Connection, store: Store, end: int, lost: Iterable[int]) -> None:
        """Store the reach of data made by today's method, in a write transaction."""
        facts = {self.method: self.fingerprint, self.end: str(end), self.lost: ",".join(map(str, lost))}
        store.write_facts(connection, facts)


BANDS = Bands(12, 3)
"""Bands and rows: a pair with Jaccard similarity 0.7 shares a band with probability 0.994."""
SAMPLING = Sampling(1 / 32)
"""Sampling rate of shingles: a text of 100 shingles that is part of another shares a sampled one with probability
0.96."""
_MINHASH = MinHash(BANDS.size)
EXACT, BAND, SAMPLE = 0, 1, 2
"""Kinds of keys: of the whole text, ignoring case and spacing; of a band; a sampled shingle."""
FINGERPRINT = ";".join((NORMALISE.fingerprint, SHINGLES.fingerprint, _MINHASH.fingerprint, BANDS.fingerprint)) + (
    f";{SAMPLING.fingerprint}"
)
_APART = {EXACT: np.uint64(0x243F6A8885A308D3), BAND: np.uint64(0x13198A2E03707344), SAMPLE: np.uint64(0)}
"""Constants that keep keys of different kinds apart: they are as unlikely to be equal as any two numbers."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys of some texts, each once per text.

    Parameters
    ----------
    values : int64 array, shape (n_keys,)
    texts : int64 array, shape (n_keys,)
        Position of the text that each belongs to.
    kinds : uint8 array, shape (n_keys,)
        EXACT, BAND or SAMPLE.
    sets : ShingleSets
        Shingles from which they were made.
    """

    values: I64
    texts: I64
    kinds: NDArray[np.uint8]
    sets: ShingleSets


def keys_of(texts: Sequence[str], ignored: Ignored = NOTHING) -> Keys:
    """Return the keys of some texts, without what does not count.

    Examples
    --------
    >>> keys = keys_of(["To be, or not to be, that is the question.", "to be,  or not to be, THAT is the question."])
    >>> exact = keys.values[keys.kinds == EXACT]
    >>> bool(exact[0] == exact[1]), int((keys.kinds == BAND).sum())
    (True, 24)
    """
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
    values = np.concatenate([part ^ _APART[kind] for kind, part, _ in parts]).view(np.int64)
    owners = np.concatenate([own for _, _, own in parts])
    kinds = np.concatenate([np.full(len(part), kind, np.uint8) for kind, part, _ in parts])
    order = np.lexsort((values, owners))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(values[order]) != 0) | (np.diff(owners[order]) != 0)
    kept = order[is_first]
    return Keys(values[kept], owners[kept], kinds[kept], sets)
