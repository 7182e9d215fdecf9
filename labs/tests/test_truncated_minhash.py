"""The simple MinHash of the article against its definition."""

from __future__ import annotations

import hashlib

import pytest

from labs.signatures.truncated_minhash import TruncatedMinHash
from nearkin.kernels.buffers import strings
from nearkin.stages.features.shingles import Characters, count_features
from oracles.plain_signatures import as_hex, grams

TEXTS = ["", "a", "This Agreement", "日本語の契約書" * 20, "the tenant pays the rent on the first of the month " * 4]


def truncated_minhash(text: str, n: int, bits: int) -> str:
    """The least of four hashes of every occurrence, each cut to its first bits / 4 bits."""
    quarter = bits // 4
    parts = []
    for name in ("md5", "sha1", "sha256", "sha512"):
        cut = []
        for gram in {*grams(text, n)}:
            whole = "".join(f"{byte:08b}" for byte in hashlib.new(name, gram.encode()).digest())
            cut.append(whole[:quarter].ljust(quarter, "0"))
        parts.append(min(cut))
    return as_hex([c == "1" for c in "".join(parts)])


@pytest.mark.parametrize("bits", [16, 64, 1024])
@pytest.mark.parametrize("n", [2, 4])
def test_truncated_minhash(n: int, bits: int) -> None:
    signed = TruncatedMinHash(bits).sign(count_features(strings(TEXTS), Characters(n)))
    expected = [truncated_minhash(text, n, bits) if text else "0" * (bits // 4) for text in TEXTS]
    assert [bytes(row).hex() for row in signed.packed] == expected
