"""Collections in which near-duplicates are common, for hypothesis and for seeded tests."""

from __future__ import annotations

import random

from hypothesis import strategies as st

FEW_WORDS = ["to", "be", "or", "not", "that", "is", "the", "question", "sea"]
ODD_WORDS = [
    "Straße",
    "ﬁn",
    "İstanbul",
    "ΣΊΣΥΦΟΣ",
    "co\u00adop",
    "e\u0301te\u0301",
    "été",
    "ｗｉｄｅ",
    "x²",
    "Ⅷ",
    "a\u200db",
]
SCRIPTS = [
    "日本語のテスト",
    "中文文本去重",
    "การทดสอบ",
    "한국어 문장",
    "قاعدة",
    "हिन्दी में",
    "ພາສາລາວ",
    "မြန်မာ",
    "🙂🙃",
    "👩‍👩‍👧",
]
MARKS = ["", " ", ",", "!?", "\t\n", "\u3000", "\u00a0", " -- ", "\u200b", "\ufeff", "_", "'", "\u0301"]

few_word_texts = st.lists(st.sampled_from(FEW_WORDS), max_size=14).map(" ".join)
odd_texts = st.lists(st.sampled_from([*FEW_WORDS, *ODD_WORDS, *SCRIPTS, *MARKS]), max_size=12).map("".join)
marked_texts = st.lists(st.sampled_from([*FEW_WORDS, *MARKS]), max_size=16).map(" ".join)
any_texts = st.text(max_size=20)


@st.composite
def edited(draw: st.DrawFn, base: list[str]) -> str:
    """The base text with a few words changed, dropped, added or repeated."""
    words = list(base)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, max(0, len(words) - 1)))
        words[at : at + draw(st.integers(0, 2))] = draw(st.lists(st.sampled_from(FEW_WORDS), max_size=2))
    return draw(st.sampled_from([" ", "  ", " , ", "\n"])).join(words)


@st.composite
def families(draw: st.DrawFn, *, most: int = 12) -> list[str]:
    """A few texts, and versions of them."""
    texts: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        base = draw(st.lists(st.sampled_from(FEW_WORDS), min_size=1, max_size=30))
        texts += draw(st.lists(edited(base), min_size=1, max_size=4))
    texts += draw(st.lists(st.one_of(odd_texts, marked_texts, any_texts), max_size=4))
    return draw(st.permutations(texts))[:most]


def named(texts: list[str]) -> list[tuple[str, str]]:
    """With ids whose order is not that of reading."""
    return [(f"d{(7 * i) % 1000}-{i}", text) for i, text in enumerate(texts)]


def versions(seed: int, *, n_bases: int, n_words: int, n_versions: int, max_edits: int) -> list[str]:
    """Long random texts with versions, each by up to ``max_edits`` changed words; in a shuffled order."""
    chance = random.Random(seed)
    texts = []
    for _ in range(n_bases):
        base = [f"w{chance.randrange(50_000)}" for _ in range(n_words)]
        texts.append(" ".join(base))
        for _ in range(n_versions):
            version = list(base)
            for _ in range(chance.randint(1, max_edits)):
                version[chance.randrange(n_words)] = f"v{chance.randrange(10**9)}"
            texts.append(" ".join(version))
    chance.shuffle(texts)
    return texts
