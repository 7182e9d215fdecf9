"""The similarity index against the paper's definitions, written out plainly with Python's own strings."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_counts import every
from nearkin.errors import FingerprintError, ParameterError
from nearkin.stages.signatures.similarity_index import (
    MAX_SUPER_SHINGLED,
    SimilarityIndex,
    TextStream,
    interval,
    soundex,
    stop_words,
    text_of_bytes,
)

TEXT = """Four score and seven years ago our fathers brought forth on this continent, a new nation, conceived in
Liberty, and dedicated to the proposition that all men are created equal. Now we are engaged in a great civil war,
testing whether that nation, or any nation so conceived and so dedicated, can long endure. Née 1863 — ЁЖ!"""
SOUNDEX = [("bfpv", "1"), ("cgjkqsxz", "2"), ("dt", "3"), ("l", "4"), ("mn", "5"), ("r", "6")]
STOPS = {word.decode() for word in stop_words()}


def java_hash(text: str) -> int:
    hashed = 0
    units = text.encode("utf-16-be")
    for i in range(0, len(units), 2):
        hashed = (31 * hashed + int.from_bytes(units[i : i + 2], "big")) % 2**32
    return hashed - 2**32 if hashed >= 2**31 else hashed


def stream_of(text: str, stream: str, variation: str) -> list[str]:
    tokens = text.lower().split()
    bare = [(token, re.sub(r"^\W+|\W+$", "", token)) for token in tokens]
    if variation in "BD":
        bare = [(token, word) for token, word in bare if word not in STOPS]
    if stream == "characters":
        joined = "".join(token for token, _ in bare)
        return [c for c in joined if variation in "AB" or c not in "aeiou"]
    words = [word for _, word in bare if word]
    if stream == "soundex":
        letters = [(word, re.sub("[^a-z]", "", word.replace("é", "e"))) for word in words]
        words = [plain_soundex(latin) if latin else word for word, latin in letters]
    return list(dict.fromkeys(words)) if variation in "CD" else words


def plain_soundex(word: str) -> str:
    code, last = word[0].upper(), "".join(digit for letters, digit in SOUNDEX if word[0] in letters)
    for letter in word[1:]:
        digit = "".join(digit for letters, digit in SOUNDEX if letter in letters)
        code += digit if digit != last else ""
        last = last if letter in "hw" else digit
    return f"{code:0<4}"[:4]


def grams(units: list[str], stream: str, k: int) -> list[int]:
    joint = "" if stream == "characters" else " "
    return [java_hash(joint.join(units[i : i + k])) for i in range(len(units) - k + 1)]


def winnow(hashes: list[int], w: int) -> list[int]:
    windows = [range(i, min(i + w, len(hashes))) for i in range(max(1, len(hashes) - w + 1))]
    places = {max(at for at in window if hashes[at] == min(hashes[j] for j in window)) for window in windows}
    return [hashes[at] for at in sorted(places)]


def expected_sum(method: int, units: list[str], stream: str, k: int, w: int) -> int | None:
    if method == 13:
        counted = Counter(units)
        first = {word: units.index(word) for word in counted}
        chosen = sorted(counted, key=lambda word: (-counted[word], first[word]))[:200]
        return sum(java_hash(word) for word in chosen) if chosen else None
    hashes = grams(units, stream, k)
    if not hashes:
        return None
    kept = {
        1: hashes,
        3: [one for one in hashes if one % 25 == 0],
        5: winnow(hashes, w),
        7: sorted(hashes)[:400],
        9: sorted(hashes)[-400:],
    }[method]
    return sum(kept) if kept else None


@pytest.mark.parametrize(
    ("method", "stream", "variation"),
    every(7, [*product((1, 3, 5, 7, 9, 13), ("characters", "words", "soundex"), "ABCD")]),
)
def test_sums(method, stream, variation):
    if method == 13 and stream == "characters":
        with pytest.raises(ParameterError, match="13 reads words"):
            SimilarityIndex(method=method, stream=stream, variation=variation)
        return
    texts = [TEXT, TEXT.lower() * 30, "the and of", "", "Nation nation NATION", TEXT[:90]]
    for k, w in ((1, 1), (3, 4), (4, 5), (8, 12)):
        made = SimilarityIndex(method=method, stream=stream, variation=variation, k=k, w=w).index(
            pa.array(texts, pa.large_string())
        )
        for i, text in enumerate(texts):
            units = stream_of(text, stream, variation)
            expected = expected_sum(method, units, stream, k, w)
            assert made.has_value[i] == (expected is not None), (k, text[:40])
            assert int(made.values[i]) == (expected or 0), (k, text[:40])


def test_soundex_is_the_standard_one():
    """The examples of the National Archives of the United States."""
    codes = {
        "washington": "W252", "lee": "L000", "gutierrez": "G362", "pfister": "P236", "jackson": "J250",
        "tymczak": "T522", "vandeusen": "V532", "ashcraft": "A261", "robert": "R163", "rubin": "R150",
    }  # fmt: skip
    assert {word: soundex(word) for word in codes} == codes


def test_the_fingerprint_is_that_of_the_words():
    digest = hashlib.sha256(b" ".join(stop_words())).hexdigest()[:8]
    assert f"stop-words=stopwordsiso-en-{digest};" in TextStream("words", "B").fingerprint


def test_rabin_changes_with_any_shingle_and_its_place():
    texts = pa.array(["one two three four", "two one three four", "one two three four five"], pa.large_string())
    made = SimilarityIndex(method=2, stream="words", variation="A", k=1).index(texts)
    assert len(set(made.values.tolist())) == 3


def test_a_random_third_is_a_third_and_the_same_every_time():
    words = " ".join(f"w{i}" for i in range(30_000))
    texts = pa.array([words, words], pa.large_string())
    a, b = SimilarityIndex(method=11, stream="words", variation="A", k=1).index(texts).values
    assert a == b
    assert a != SimilarityIndex(method=11, stream="words", variation="A", k=1, seed=1).index(texts).values[0]
    total = SimilarityIndex(method=1, stream="words", variation="A", k=1).index(texts).values[0]
    assert a != total


@given(si=st.integers(-(2**63), 2**63 - 1), tolerance=st.sampled_from([0.3, 0.1, 0.05, 1e-9, 1.0, 2.5]))
def test_the_interval_is_the_papers(si, tolerance):
    from fractions import Fraction

    low, high = interval(si, tolerance)
    reach = abs(Fraction(repr(tolerance)) * si)
    for x in (low - 1, low, high, high + 1, si):
        assert (low <= x <= high) == (si - reach < x < si + reach)


def test_numbers_of_two_methods_are_never_compared():
    texts = pa.array([TEXT], pa.large_string())
    a, b = (SimilarityIndex(method=1, stream="words", variation="A", k=k).index(texts) for k in (4, 5))
    assert a.similar(a).all()
    with pytest.raises(FingerprintError, match=r"k=4.*k=5"):
        a.similar(b)


def test_bytes_that_are_no_text():
    data = bytes(range(256)) * 20
    made = SimilarityIndex(method=1, stream="characters", variation="A", k=4).index(
        pa.array([text_of_bytes(data)], pa.large_string())
    )
    units = [c for c in data.decode("latin-1").lower() if not c.isspace() or c in "\x1c\x1d\x1e\x1f"]
    assert made.has_value[0]
    assert abs(int(made.values[0])) > 0
    assert len(units) > 256


def test_too_long_for_super_shingles():
    text = "ab" * (MAX_SUPER_SHINGLED // 2)
    texts = pa.array([text + "abc", text, "abc"], pa.large_string())
    made = SimilarityIndex(method=14, stream="characters", variation="A", k=2_000).index(
        pa.array([text + "x" * 2_000, "abc"], pa.large_string())
    )
    assert made.has_value.tolist() == [False, False]
    assert SimilarityIndex(method=14, stream="characters", variation="A", k=3).index(texts[2:]).values.tolist() == [
        java_hash("abc")
    ]
