"""Plain SQL by wording reads only the first hashes of texts that cannot be similar, and misses none that is."""

from __future__ import annotations

import json
import random

import pytest

from contract.asking import asking
from nearkin.collection.plain_sql import install
from places import SomePlace

Sets = dict[int, frozenset[int]]
ASKED = 0


@pytest.fixture
def ask(server, tmp_path):
    """A query in a collection without documents, whose sets of hashes and keys a test writes itself."""
    place = SomePlace.new(tmp_path, server)
    with place.open() as collection:
        install(collection.opened)
    with asking(place) as run:
        run(f"SET search_path = {place.schema}; ALTER TABLE shingles DROP CONSTRAINT shingles_content_fkey")
        yield run


def store(ask, sets: Sets) -> None:
    """Every set shares a key with every other."""
    ask("TRUNCATE shingles; TRUNCATE check_keys")
    for content, hashes in sets.items():
        packed = b"".join(value.to_bytes(8, "big") for value in sorted(hashes))
        ask("INSERT INTO shingles VALUES (%s, %s)", content, packed)
        ask("INSERT INTO check_keys VALUES (1, %s)", content)


def similar(sets: Sets, threshold: float) -> dict[int, float]:
    """By the definition, with Python's sets."""
    own = sets[ASKED]
    jaccards = {content: len(own & other) / len(own | other) for content, other in sets.items()}
    return {content: jaccard for content, jaccard in jaccards.items() if jaccard >= threshold}


def around_the_threshold(chance: random.Random, n_own: int, threshold: float) -> Sets:
    """Sets that share as many hashes as they need, one more, or one fewer: the lowest, the highest, or any of them."""
    own = sorted(chance.getrandbits(64) for _ in range(n_own))
    sets = {ASKED: frozenset(own)}
    for low, high in [(0, 2**64), (0, 2**62), (2**63, 2**64)]:
        for end in ("lowest", "highest", "any"):
            for more in (-1, 0, 1):
                n_other = max(1, round(n_own * chance.uniform(threshold, 1 / threshold)))
                n_shared = round(threshold / (1 + threshold) * (n_own + n_other)) + more
                n_shared = max(0, min(n_shared, n_own, n_other))
                places = {"lowest": range(n_shared), "highest": range(n_own - n_shared, n_own)}
                shared = {own[place] for place in places.get(end, chance.sample(range(n_own), n_shared))}
                rest = {chance.randrange(low, high) for _ in range(n_other - n_shared)}
                sets[len(sets)] = frozenset(shared | rest)
    return sets


@pytest.mark.parametrize(
    "threshold",
    [
        0.05,
        0.5,
        1.0,
    ],
)
def test_no_pair_is_missed_wherever_its_shared_hashes_are(ask, threshold):
    chance, n_found = random.Random(int(100 * threshold)), 0
    for n_own in (1, 2, 7, 60, 400):
        sets = around_the_threshold(chance, n_own, threshold)
        store(ask, sets)
        found = ask(f"SELECT content, jaccard FROM near_contents_by_jaccard({ASKED}, {threshold})")
        assert dict(found) == similar(sets, threshold)
        assert len(found) == len(dict(found))
        n_found += len(found) - 1
    assert 10 < n_found < 5 * 27 - 10


def test_of_texts_that_cannot_be_similar_only_a_part_is_read(ask):
    chance = random.Random(1)
    common = {chance.getrandbits(64) for _ in range(100)}
    sets = {i: frozenset(common | {chance.getrandbits(64) for _ in range(2000)}) for i in range(30)}
    store(ask, sets)
    ask("LOAD 'auto_explain'")
    for name, value in {
        "log_min_duration": "0",
        "log_nested_statements": "on",
        "log_level": "notice",
        "log_analyze": "on",
        "log_format": "json",
    }.items():
        ask(f"SET auto_explain.{name} = {value}")
    assert ask(f"SELECT * FROM near_contents_by_jaccard({ASKED}, 0.5)") == [(ASKED, 1.0)]
    messages = list(ask.notices)
    plans = [json.loads(message.partition("plan:\n")[2])["Plan"] for message in messages if "plan:\n" in message]
    n_read = sum(rows_of(plan, "ProjectSet") for plan in plans)
    assert 0 < n_read < 0.5 * sum(map(len, sets.values()))


def rows_of(plan: dict[str, object], kind: str) -> float:
    """Rows that nodes of a kind gave."""
    own = plan["Actual Rows"] * plan["Actual Loops"] if plan["Node Type"] == kind else 0
    return own + sum(rows_of(part, kind) for part in plan.get("Plans", []))
