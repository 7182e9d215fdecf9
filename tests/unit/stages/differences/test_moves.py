from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.stages.differences.comparing import compare_texts
from nearkin.stages.differences.comparison import Comparison
from nearkin.stages.differences.moves import MIN_MOVED_WORDS

WHOLE = 10**9
SENTENCES = [
    "Rent is due on the first day of each month, in advance.",
    "The tenant shall keep the garden in good order and remove no tree.",
    "The deposit is 1,000 crowns and is paid when the keys are handed over.",
    "Notice is given in writing, three months before the end of the term.",
    "rent is due on the first day of each month, in advance.",
    "\u200bHeat, ___ water \u2028 and ------ light are (1) paid by é the tenant alone.",
    "Short one.",
]
texts = st.lists(st.sampled_from(SENTENCES), max_size=8).flatmap(
    lambda parts: st.sampled_from([" ", "\n", "\r\n\r\n"]).map(lambda between: between.join(parts))
)


def packed(text: str) -> str:
    return unicodedata.normalize("NFC", "".join(text.split()))


def side(found: Comparison, kind: str, *, with_moves: bool = True) -> str:
    moved = {one.number for one in found.differences if one.is_move}
    pieces = [piece for hunk in found.hunks for line in hunk.lines for piece in line.pieces]
    return "".join(
        piece.text
        for piece in pieces
        if piece.kind in ("equal", kind) and (with_moves or piece.difference not in moved)
    )


def passage(found: Comparison, number: int) -> str:
    pieces = [piece for hunk in found.hunks for line in hunk.lines for piece in line.pieces]
    return packed("".join(piece.text for piece in pieces if piece.difference == number))


@given(texts, texts)
def test_both_texts_are_still_there_and_moves_are_pairs_of_equal_passages(a: str, b: str) -> None:
    plain = compare_texts(a, b, context_lines=WHOLE, context_words=WHOLE)
    found = compare_texts(a, b, context_lines=WHOLE, context_words=WHOLE, with_moves=True)
    if found.hunks:
        assert packed(side(found, "only_a")) == packed(a)
        assert packed(side(found, "only_b")) == packed(b)
    for one in found.differences:
        if not one.is_move:
            continue
        other = found.differences[one.counterpart - 1]
        assert other.counterpart == one.number
        assert bool(one.n_words_a) != bool(one.n_words_b)
        assert passage(found, one.number) == passage(found, other.number)
    assert found.n_words_only_a + found.n_words_moved == plain.n_words_only_a
    assert found.n_words_only_b + found.n_words_moved == plain.n_words_only_b


@pytest.mark.parametrize("seed", range(20))
def test_whatever_sentence_moves_is_found(seed: int) -> None:
    chance = random.Random(seed)
    sentences = [" ".join(f"w{chance.randrange(10**6)}" for _ in range(chance.randint(8, 30))) for _ in range(30)]
    at, to = chance.sample(range(30), 2)
    moved = sentences[at]
    rest = sentences[:at] + sentences[at + 1 :]
    found = compare_texts(
        "\n".join(sentences), "\n".join([*rest[:to], moved, *rest[to:]]), context_lines=0, with_moves=True
    )
    assert found.n_moves == 1
    assert found.n_words_only_a == found.n_words_only_b == 0
    # of two neighbours that change places either may be called the moved one
    assert found.n_words_moved in (
        len(moved.split()),
        *(len(sentences[i].split()) for i in (to, at + 1, at - 1) if i < 30),
    )


@pytest.mark.parametrize(
    ("a", "b", "n_moves"),
    [
        ("The a shall {} The b shall {}", "The a shall {1} The b shall {0}", 0),
        ("{} {}", "{1} {0}", 1),
        ("{}. {}", "{1}. {0}", 1),
    ],
)
def test_a_negation_moves_only_with_its_sentence(a: str, b: str, n_moves: int) -> None:
    parts = ("not sublet the house to another person.", "keep the roof, the walls and the garden in good order.")
    sentences = [f"The tenant {one}" for one in parts]
    found = compare_texts(
        a.format(*(sentences if n_moves else parts)), b.format(*(sentences if n_moves else parts)), with_moves=True
    )
    assert (found.n_moves, "negations" in found.n_of_kind) == (n_moves, not n_moves)


@pytest.mark.parametrize(
    ("here", "there", "n_moves"),
    [
        ("Unless agreed\n{}.", "It is agreed that\n{}.", 0),
        ("Unless agreed\n{}.", "Unless  agreed {}.", 1),
        ("Garden\n\n{}\n\n", "Trees\r\n \r\n{}. ", 1),
        ("{}\nunless agreed.", "{}\nwithout consent.", 0),
        ("{}\nunless agreed.", "{} unless agreed.", 1),
    ],
)
def test_a_line_break_does_not_end_the_sentence_of_a_negation(here: str, there: str, n_moves: int) -> None:
    passage = "the tenant shall not remove any tree or shrub from it"
    stays = " ".join(f"w{i}" for i in range(40))
    a, b = f"{here.format(passage)} {stays}.", f"{stays}. {there.format(passage)}"
    for one, other in ((a, b), (b, a)):
        found = compare_texts(one, other, with_moves=True)
        assert (found.n_moves, "negations" in found.n_of_kind) == (n_moves, not n_moves)


def test_a_short_passage_is_removed_and_added() -> None:
    words = " ".join(f"w{i}" for i in range(MIN_MOVED_WORDS - 1))
    found = compare_texts(f"{words} a b c d e f g h i j k", f"a b c d e f g h i j k {words}", with_moves=True)
    assert found.n_moves == 0
    assert found.n_words_only_a == MIN_MOVED_WORDS - 1


def test_a_passage_that_is_added_twice_moves_once() -> None:
    a = f"{SENTENCES[0]}\n{SENTENCES[1]}\n{SENTENCES[3]}"
    b = f"{SENTENCES[1]}\n{SENTENCES[3]}\n{SENTENCES[0]}\n{SENTENCES[0]}"
    found = compare_texts(a, b, with_moves=True)
    assert found.n_moves == 1
    assert found.n_words_only_b == 12


def test_a_move_may_differ_in_what_is_ignored() -> None:
    clause = "Rent is due on The first day of Each month, in advance, by bank transfer"
    a, b = "\n".join([clause, *SENTENCES[1:4]]), "\n".join([*SENTENCES[1:4], clause.lower().replace(",", "")])
    assert compare_texts(a, b, with_moves=True).n_moves == 0
    found = compare_texts(a, b, with_moves=True, ignore=["case", "punctuation"])
    assert (found.n_moves, found.n_changes) == (1, 0)
