"""Letter counts of as many documents as are wanted, grown from those of real ones.

What is real: the letter profiles, the lengths, and how both go together. A new document takes the profile of a real
one, mixed with that of a second of the same kind and moved a little letter by letter, a length like that of a third,
and draws its letters. A third of all documents are edited copies of others: families of two to thousands, of which some
are exact copies and the rest differ in a thousandth to a tenth of their letters. A few documents are hundreds of times
as long as others are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from nearkin.records import U32
from nearkin.stages.features.letters import MIN_LETTERS, LetterCounts

F64 = NDArray[np.float64]
SHARES = {"contracts": 0.35, "mail": 0.35, "reuters21578": 0.2, "license_rules": 0.1}
SECTION = 6_000
"""Characters: of a long document the sections are profiles, too."""
COPIES, EXACT_COPIES = 0.35, 0.3
GIANTS, LONGEST = 2e-5, 51_034_295
BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class Profiles:
    """Of one kind of documents: shares of letters, shape (n, 62), and lengths."""

    shares: F64
    lengths: F64


def read_profiles(data: Path) -> list[tuple[float, Profiles]]:
    """Each kind that the folder holds, with its share of the documents to be made."""
    kinds = [(share, _profiles(list(_texts(data, name)))) for name, share in SHARES.items() if (data / name).exists()]
    kinds += [
        (share, _profiles(list(_texts(data, name))))
        for name, share in SHARES.items()
        if (data / f"{name}.parquet").is_file()
    ]
    if not kinds:
        raise SystemExit(f"--data {data}: must hold some of {', '.join(SHARES)}; none is there.")
    return kinds


def write_vectors(path: Path, n: int, kinds: list[tuple[float, Profiles]], *, seed: int) -> U32:
    """The vectors, shape (n, 62), in a numpy file that is mapped; the same for the same n, data and seed."""
    vectors = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint32, shape=(n, 62))
    for block, first in enumerate(range(0, n, BLOCK)):
        size = min(BLOCK, n - first)
        vectors[first : first + size] = _block(size, kinds, np.random.default_rng([seed, block]))
    vectors.flush()
    return np.load(path, mmap_mode="r")


def _block(n: int, kinds: list[tuple[float, Profiles]], chance: np.random.Generator) -> U32:
    """Originals, their copies, shuffled."""
    n_originals = max(1, round(n * (1 - COPIES)))
    weights = np.array([share for share, _ in kinds])
    of_kind = chance.choice(len(kinds), n_originals, p=weights / weights.sum())
    originals = np.zeros((n_originals, 62), np.int64)
    for kind, (_, profiles) in enumerate(kinds):
        rows = np.flatnonzero(of_kind == kind)
        originals[rows] = _originals(len(rows), profiles, chance)
    # the cube makes some families large: of 170,000 originals the first has 1,600 copies
    parents = originals[(n_originals * chance.random(n - n_originals) ** 3).astype(np.int64)]
    vectors = np.concatenate([originals, _edited(parents, chance)]).astype(np.uint32)
    return vectors[chance.permutation(n)]


def _originals(n: int, profiles: Profiles, chance: np.random.Generator) -> NDArray[np.int64]:
    """Documents of one kind that are no copies."""
    one, other = chance.integers(0, len(profiles.shares), (2, n))
    weight = chance.uniform(0.5, 1, (n, 1))
    shares = weight * profiles.shares[one] + (1 - weight) * profiles.shares[other]
    shares *= np.exp(chance.normal(0, 0.06, shares.shape))
    shares /= shares.sum(axis=1, keepdims=True)
    lengths = profiles.lengths[chance.integers(0, len(profiles.lengths), n)] * np.exp(chance.normal(0, 0.5, n))
    lengths *= np.where(chance.random(n) < GIANTS, 300, 1)
    return chance.poisson(lengths.clip(2 * MIN_LETTERS, LONGEST)[:, None] * shares)


def _edited(parents: NDArray[np.int64], chance: np.random.Generator) -> NDArray[np.int64]:
    """Copies in which some letters are gone and others have come."""
    share = np.exp(chance.uniform(np.log(0.001), np.log(0.1), (len(parents), 1)))
    share[chance.random(len(parents)) < EXACT_COPIES] = 0
    gone = np.minimum(chance.poisson(parents * share), parents)
    return parents - gone + chance.poisson(parents * share * chance.uniform(0.5, 1.5, (len(parents), 1)))


def _profiles(texts: list[str]) -> Profiles:
    """Of texts and of the sections of the long ones; lengths are those of whole texts."""
    counting = LetterCounts("latin")
    whole = counting.count(pa.array(texts, pa.large_string()))
    sections = [text[at : at + SECTION] for text in texts for at in range(0, len(text), SECTION)]
    counted = counting.count(pa.array(sections, pa.large_string()))
    counts = counted.counts[counted.n_counted > 200].astype(np.float64)
    return Profiles(counts / counts.sum(axis=1, keepdims=True), whole.n_counted[whole.is_counted].astype(np.float64))


def _texts(data: Path, name: str) -> Iterator[str]:
    """The texts of one kind."""
    if (data / name).is_dir():
        for path in sorted(path for path in (data / name).rglob("*") if path.is_file()):
            yield path.read_bytes().decode("latin-1")
    else:
        yield from (text for text in pq.read_table(data / f"{name}.parquet", columns=["text"])["text"].to_pylist())
