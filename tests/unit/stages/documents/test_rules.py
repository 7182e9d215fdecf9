from __future__ import annotations

import pytest

from nearkin.stages.documents.rules import ReadingRules, parse_share


@pytest.mark.parametrize(
    ("given", "share"),
    [("1%", 0.01), ("0.01", 0.01), (" 50 % ", 0.5), (".5", 0.5), (0, 0.0), (1, 1.0), (1e-5, 1e-5), ("100%", 1.0)],
)
def test_shares(given: str | float, share: float) -> None:
    assert parse_share(given) == pytest.approx(share)
    assert ReadingRules.of(max_unreadable=given).max_unreadable == pytest.approx(share)


@pytest.mark.parametrize(
    ("n_unreadable", "n_documents", "share"),
    [(0, 0, "0"), (0, 5, "0"), (29, 100, "29%"), (7, 100, "7%"), (1, 3, "34%"), (99, 100, "100%")],
)
def test_as_many_as_are_allowed(n_unreadable: int, n_documents: int, share: str) -> None:
    ReadingRules.of(max_unreadable=share).check_readable(n_unreadable, n_documents, "a:1: bad")
