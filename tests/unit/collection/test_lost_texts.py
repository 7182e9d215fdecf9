"""The lost texts of changed rows, found again by the checksums of the rows, without comparing each with each."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from nearkin.collection.decisions.purging_damaged import LostTexts
from nearkin.store import schema
from nearkin.store.checksums import checksum, covered

NAMES = covered(schema.documents)
CONTENT, DOC_ID = NAMES.index("content"), NAMES.index("doc_id")


def rows_of(contents: Sequence[int]) -> list[tuple[tuple[Any, ...], int]]:
    """Rows whose contents were all set to -1, each with the checksum that it had."""
    found = []
    for row, content in enumerate(contents):
        told = {"row": row, "doc_id": f"d{row}", "version": 1, "content": content, "load": 1, "source": "in", "line": 1}
        values = tuple(told.get(name) for name in NAMES)
        found.append(((*values[:CONTENT], -1, *values[CONTENT + 1 :]), checksum(values, values[DOC_ID])))
    return found


def with_copies(n: int, share: float) -> list[int]:
    """Contents of documents, of which a share are copies of earlier ones."""
    chance, contents, n_texts = random.Random(3), list[int](), 0
    for _ in range(n):
        is_copy = n_texts > 0 and chance.random() < share
        contents.append(chance.randrange(n_texts) if is_copy else n_texts)
        n_texts += not is_copy
    return contents


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_it_is_found_as_by_comparing_each_with_each(share: float) -> None:
    chance, contents = random.Random(5), with_copies(200, share)
    lost = chance.sample(sorted(set(contents)), len(set(contents)) // 2)
    texts = LostTexts(lost)
    for (values, stored), content in zip(rows_of(contents), contents, strict=True):
        assert texts.had_one(values, stored) == (content in lost)


def test_a_row_of_which_more_was_changed_had_none() -> None:
    texts, ((values, stored),) = LostTexts(range(9)), rows_of([4])
    changed = dict(zip(NAMES, values, strict=True))
    for other in ({"doc_id": "other"}, {"source": "x"}, {"row": "x"}, {"row": 7}):
        assert not texts.had_one(tuple((changed | other).values()), stored)
    for wrong in (None, "x", stored + 1):
        assert not texts.had_one(values, wrong)
    assert texts.had_one(values, stored)
    assert LostTexts([]).had_one(values, stored) is False


@pytest.mark.parametrize("every", [1, 37])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_a_row_that_brought_its_text_is_compared_with_few(share: float, every: int) -> None:
    """So twice as many rows take twice as many comparisons; only copies are compared with many texts."""
    contents = with_copies(4_000, share)
    first = {content: row for row, content in reversed(list(enumerate(contents)))}
    texts, rows = LostTexts(list(first)), rows_of(contents)
    n_compared = list[int]()
    for row in range(0, len(rows), every):
        before = texts.n_compared
        assert texts.had_one(*rows[row])
        if first[contents[row]] == row:
            n_compared.append(texts.n_compared - before)
    assert sum(n_compared) <= 8 * len(n_compared)
    assert share or sum(n_compared) == len(n_compared)
