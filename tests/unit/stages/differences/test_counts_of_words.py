"""All surfaces count the same added, removed and moved words of two texts, and these are right by slow definitions."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin.collection.groups.representatives import passages_added, passages_lacked
from nearkin.stages.differences.changes import exact_segments, find_changes
from nearkin.stages.differences.comparing import compare_texts, first_passage
from nearkin.stages.differences.moves import MIN_MOVED_WORDS, find_moves
from nearkin.stages.differences.particulars import Original
from nearkin.stages.differences.relations import MemberComparison, compare
from nearkin.stages.differences.words import Wording, count_words

WHOLE = 10**9
COMMON = re.findall(
    r"\w+", "the a of and rent tenant landlord shall pay house garden month deposit key term due first to in Ada Kern"
)
NEGATIONS = ["not", "never", "no"]
Sentences = list[list[str]]


def sentence(chance: random.Random) -> list[str]:
    rare = [lambda: f"w{chance.randrange(400)}", lambda: str(chance.randrange(3000)), lambda: chance.choice(NEGATIONS)]
    kinds = [lambda: chance.choice(COMMON), *rare]
    words = [chance.choices(kinds, (14, 3, 2, 1))[0]() for _ in range(chance.randint(4, 22))]
    return [word + chance.choice(",;:") if chance.random() < 0.1 else word for word in words]


def edited(sentences: Sentences, chance: random.Random) -> Sentences:
    """Return the sentences with one change: words, signs, numbers, negations, or the order of words or sentences."""
    found = [list(one) for one in sentences]
    own, other = chance.choice(found), chance.choice(found)
    at = chance.randrange(len(own))
    match chance.randrange(9):
        case 0:
            to = chance.randrange(len(own))
            own[at], own[to] = own[to], own[at]
        case 1:
            found.insert(chance.randrange(len(found)), found.pop(chance.randrange(len(found))))
        case 2:
            own[at] = own[at].rstrip(",;:") + chance.choice(["", ",", ";", ".", ")"])
        case 3:
            own[:] = [chance.choice([f"-{word}", f"{word},5", "77"]) if word.isdigit() else word for word in own]
        case 4:
            own.insert(at, chance.choice(NEGATIONS))
        case 5:
            own[at] = chance.choice(COMMON)
        case 6:
            own[at] = own[at].upper()
        case 7:
            own[:] = [f"{word}," for word in own]
        case _:
            rest, own[at:] = own[at:], []
            other += rest
    return [one for one in found if one] or sentences


def pair(seed: int) -> tuple[str, str]:
    chance = random.Random(seed)
    before = [sentence(chance) for _ in range(chance.randint(1, 12))]
    after = before
    for _ in range(chance.randint(1, 6)):
        after = edited(after, chance)
    between = chance.choice([" ", "\n"])
    sides = [[f"{' '.join(one).capitalize()}." for one in found] for found in (before, after)]
    return between.join(sides[0]), (between if chance.random() < 0.8 else " \n").join(sides[1])


def related(a: str, b: str) -> MemberComparison:
    return compare(
        Original(a),
        Original(b),
        n_shown=3,
        with_one_sided=True,
    )


def negations(a: str, b: str) -> tuple[set[str], set[str]]:
    """Return the negations of which a text has more at a difference, without moved passages; every word is read."""
    one, other = Wording(a), Wording(b)
    found = find_changes(one, other)
    moves = find_moves(one, other, found)
    moved = [moves.changes[i] for i in moves.counterpart]
    more: tuple[set[str], set[str]] = (set(), set())
    for difference in found.alignment.differences:
        rest_a = [w.core for w in difference.a if not any(m.start_a <= w.start < m.end_a for m in moved)]
        rest_b = [w.core for w in difference.b if not any(m.start_b <= w.start < m.end_b for m in moved)]
        for core in NEGATIONS:
            if rest_a.count(core) != rest_b.count(core):
                more[rest_a.count(core) < rest_b.count(core)].add(core)
    return more


def n_written(texts: Sequence[str]) -> int:
    return sum(map(count_words, texts))


@given(st.integers(0, 10**6))
@settings(max_examples=examples(800))
def test_every_surface_counts_the_same_words(seed: int) -> None:
    a, b = pair(seed)
    found = compare_texts(a, b, with_moves=True)
    removed, added, moved = found.n_words_only_a, found.n_words_only_b, found.n_words_moved
    # relations, families and groups
    member = related(a, b)
    assert member.one_sided is not None
    measured = member.judgement.measured
    assert (measured.n_words_only_in_principal, measured.n_words_only_in_member) == (removed + moved, added + moved)
    assert [one.n_words_moved for one in member.one_sided] == [moved, moved]
    assert tuple(set(one.negations) for one in member.one_sided) == negations(a, b)
    for n_words, texts in zip((removed, added), member.one_sided, strict=True):
        assert (n_written(texts.passages), texts.n_words_left_out) == (n_words, 0)
    adds, lacks = passages_added("b", member), passages_lacked("b", member)
    assert (adds.n_words if adds else 0, lacks.n_words if lacks else 0) == (added, removed)
    # one passage, and the pieces of a comparison
    first = first_passage(a, b)
    assert (first.n_differences, first.n_moves) == (found.n_changes, found.n_moves)
    pieces = [piece for hunk in found.hunks for line in hunk.lines for piece in line.pieces]
    of_spelling = {one.number for one in found.differences if one.has_same_words}
    for kind, n_words in (("only_a", removed + moved), ("only_b", added + moved)):
        shown = [piece.text for piece in pieces if piece.kind == kind and piece.difference not in of_spelling]
        assert n_written(shown) >= n_words  # a word beside a difference may be written differently
    segments = list(exact_segments(a, b))
    assert "".join(one.text for one in segments if one.kind != "only_b") == a


def common_words(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence, by its definition."""
    before = [0] * (len(b) + 1)
    for one in a:
        row = [0]
        for j, other in enumerate(b):
            row.append(before[j] + 1 if one == other else max(before[j + 1], row[j]))
        before = row
    return before[-1]


@given(st.integers(0, 10**6))
@settings(max_examples=examples(400))
def test_no_word_that_both_texts_have_in_the_same_order_is_counted(seed: int) -> None:
    """Words that occur once in each text: numbers and names that change, negations and sentences that come and go."""
    chance = random.Random(seed)
    words = [f"w{i}" for i in range(chance.randint(5, 120))]
    other = [f"n{i}" if chance.random() < 0.1 else word for i, word in enumerate(words)]
    at = chance.randrange(len(other))
    other[at:at] = ["not", *(f"new{i}" for i in range(chance.randrange(12)))]
    del other[(low := chance.randrange(len(other))) : low + chance.randrange(12)]
    signs = [["", "", "", ",", ".", ";", " ("], ["", "", ",", ".\n", " -"]]
    a, b = (" ".join(word + chance.choice(some) for word in side) for side, some in zip((words, other), signs))
    found, n_common = compare_texts(a, b, with_moves=True), common_words(words, other)
    n_shared_by_chance = 2 * found.n_differences  # words between long differences are shown with them
    for n_words, side in ((found.n_words_only_a, words), (found.n_words_only_b, other)):
        assert 0 <= n_words - (len(side) - n_common) <= n_shared_by_chance
    assert found.n_words_only_a - found.n_words_only_b == len(words) - len(other)


def runs_of(own: Wording, start: int, end: int) -> set[tuple[str, ...]]:
    """Return all runs of as many words as a moved passage has at least, with the signs between them."""
    tokens = list(own.words(start, end))
    places = [i for i, token in enumerate(tokens) if token.is_word]
    ends = zip(places, places[MIN_MOVED_WORDS - 1 :], strict=False)
    return {tuple(own.text[one.start : one.end] for one in tokens[first : last + 1]) for first, last in ends}


@pytest.mark.parametrize("seed", range(12))
def test_what_is_removed_and_added_has_no_passage_that_moved(seed: int) -> None:
    chance = random.Random(seed)
    pairs = [sentence(chance) + sentence(chance) for _ in range(12)]
    before = [[word for word in one if word.strip(",;:") not in NEGATIONS] for one in pairs]
    after = list(before)
    for _ in range(3):
        after.insert(chance.randrange(12), after.pop(chance.randrange(12)))
    a, b = (Wording("\n".join(f"{' '.join(one)}." for one in side)) for side in (before, after))
    moves = find_moves(a, b, find_changes(a, b))
    assert moves.counterpart
    for i, there in moves.counterpart.items():
        one, other = moves.changes[i], moves.changes[there]
        assert a.text[one.start_a : one.end_a] == b.text[other.start_b : other.end_b]
        assert one.n_words_a == other.n_words_b == count_words(a.text[one.start_a : one.end_a])
    rest = [one for i, one in enumerate(moves.changes) if i not in moves.counterpart]
    runs_a, runs_b = (
        [runs_of(own, *span) for span in spans]
        for own, spans in ((a, [one.span_a for one in rest]), (b, [one.span_b for one in rest]))
    )
    assert not any(one & other for i, one in enumerate(runs_a) for j, other in enumerate(runs_b) if i != j)
