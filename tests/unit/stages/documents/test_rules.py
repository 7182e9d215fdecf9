from __future__ import annotations

import pytest

from nearkin.errors import DocumentError, SourceError
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


def test_more_than_are_allowed() -> None:
    message = (
        r"^--left: 2 of 3 documents are unreadable: 66\.67%, more than the 1% of --max-unreadable\. The first: a:1: x"
    )
    with pytest.raises(DocumentError, match=message):
        ReadingRules.of(max_unreadable="1%").check_readable(2, 3, "a:1: x", of="--left")
    with pytest.raises(
        DocumentError, match=r"^1 of 2 documents is unreadable: 50%, .* --max-unreadable\. It is a:1: x\."
    ):
        ReadingRules.of(max_unreadable="1%").check_readable(1, 2, "a:1: x")


@pytest.mark.parametrize("share", ["1%", "100%"])
def test_nothing_readable_is_no_input_whatever_is_allowed(share: str) -> None:
    rules = ReadingRules.of(max_unreadable=share)
    with pytest.raises(SourceError, match=r"^All 2 documents are unreadable\. The first: a:1: x\.$"):
        rules.check_readable(2, 2, "a:1: x")
    with pytest.raises(SourceError, match=r"^The only document is unreadable: a:1: x\.$"):
        rules.check_readable(1, 1, "a:1: x")
