"""A check-in says when its text makes decisions contradict one another, and reads the decisions only if it may."""

from __future__ import annotations

import random

from sqlalchemy import event
from sqlalchemy.engine import Engine

from nearkin.collection.check_in.results import CheckIn
from nearkin.errors import ParameterError
from places import SomePlace

TEXTS = [f"Text number {i} of this collection has some words of its own: {'abcdefgh'[i] * 9}." for i in range(8)]
IDS = "pqrstu"


def is_contradictory(live: dict[str, str], same: set[tuple[str, ...]], never: set[tuple[str, ...]]) -> bool:
    """Whether two documents that must not be in one group are linked by decisions or by equal texts."""
    groups = [{one} for one in IDS]
    links = [*same, *((a, b) for a in live for b in live if a < b and live[a] == live[b])]
    for a, b in links:
        of_a, of_b = (next(one for one in groups if doc_id in one) for doc_id in (a, b))
        if of_a is not of_b:
            groups.remove(of_b)
            of_a |= of_b
    return any({a, b} <= one for a, b in never for one in groups)


def test_what_a_check_in_says_is_what_the_decisions_and_texts_are(place: SomePlace) -> None:
    chance, n_said = random.Random(18), 0
    with place.open() as collection:
        live, same, never = dict(zip(IDS, TEXTS, strict=False)), set(), set()
        collection.add([*live.items()])
        was = False
        for _ in range(90):
            pair = tuple(sorted(chance.sample(IDS, 2)))
            kept = (same, never)[chance.random() < 0.5]
            if {*pair} <= live.keys() and len(same | never) < 5 and pair not in same | never:
                try:
                    collection.decide(**{"same_group" if kept is same else "never_group": pair})
                except ParameterError:
                    continue
                kept.add(pair)
            doc_id, text = chance.choice(IDS), chance.choice(TEXTS)
            if doc_id in live and chance.random() < 0.2:
                collection.remove([doc_id])
                del live[doc_id]
                was = is_contradictory(live, same, never)
                continue
            is_other = live.get(doc_id) != text
            live[doc_id] = text
            said = collection.check(text, store=CheckIn(doc_id)).contradiction
            now = is_contradictory(live, same, never)
            if is_other and not was:
                assert (said is not None) == now, (doc_id, live, same, never)
            n_said += said is not None
            was = now
    assert n_said >= 5


def test_decisions_are_read_only_for_a_text_that_another_document_has(place: SomePlace) -> None:
    asked = list[str]()

    def note(_connection, _cursor, statement: str, *_more) -> None:
        if "FROM decisions" in statement:
            asked.append(statement)

    with place.open() as collection:
        collection.add([*zip("pqr", TEXTS, strict=False)])
        collection.decide(never_group=("p", "q"))
        event.listen(Engine, "before_cursor_execute", note)
        try:
            assert collection.check(TEXTS[3], store=CheckIn("p")).contradiction is None
            assert asked == []
            assert "same text" in (collection.check(TEXTS[1], store=CheckIn("p")).contradiction or "")
            assert asked
        finally:
            event.remove(Engine, "before_cursor_execute", note)
