"""Changes of groups since a wave, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nearkin.collection.groups.since import CHANGES_SCHEMA, GroupChangeSince, GroupsSince
from nearkin.collection.tolerance import Tolerance
from nearkin.reports.sentences.groups_since import change_words, groups_since_sentences

SAME = GroupChangeSince(
    number=4,
    is_new=False,
    is_dissolved=False,
    n_documents=3,
    n_documents_were=3,
    new_documents=(),
    joined_documents=(),
    new_versions=(),
    left_documents=(),
    removed_documents=(),
    merged=(),
    split_from=(),
    principal="a",
    principal_was="a",
)
NEW = replace(SAME, is_new=True, principal_was=None)
GONE = replace(SAME, is_dissolved=True, principal=None)
FOUND = GroupsSince(
    tolerance=Tolerance.of(threshold=0.5),
    wave="march",
    grouped_then="2026-03-01T10:00:59+00:00",
    grouped_now="2026-04-02T11:30:00+00:00",
    n_groups=7,
    n_groups_were=1,
    n_later_loads=0,
    changes=(SAME, NEW, GONE),
    n_not_grouped=0,
    n_new_versions=0,
    n_gone=0,
    n_removed=0,
    n_decisions=0,
    documents=CHANGES_SCHEMA.empty_table(),
)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (SAME, "members moved to another group"),
        (replace(NEW, new_documents=("a", "b", "c", "d", "e")), "new group; added: a, b, c and 2 more"),
        (replace(NEW, split_from=(2, 3)), "new group; split from group 2, group 3"),
        (replace(NEW, merged=(2,)), "new number; was group 2"),
        (replace(NEW, merged=(2, 3)), "new group; made of group 2, group 3"),
        (replace(SAME, split_from=(2,), merged=(9,)), "merged with group 9; members from group 2"),
        (replace(NEW, split_from=(2,), moved_documents=("m",)), "new group; split from group 2; moved to it: m"),
        (
            replace(SAME, moved_away=("m", "n"), left_documents=("l",)),
            "no longer in it: l; moved to another group: m, n",
        ),
        (replace(SAME, joined_documents=("j",), new_versions=("v",)), "joined: j; new version: v"),
        (replace(GONE, left_documents=("l",), removed_documents=("r",)), "dissolved; no longer in it: l; removed: r"),
        (replace(SAME, principal="b"), "principal was a"),
    ],
)
def test_a_change_in_words(change: GroupChangeSince, words: str) -> None:
    assert change_words(change) == words


def test_groups_are_counted() -> None:
    first, second = map(str, groups_since_sentences(FOUND, 2))
    assert first == (
        "3 groups with changes since wave march (texts with a Jaccard similarity of at least 0.5): 1 new, 1 changed, "
        "1 dissolved; 1 more not shown; raise --limit, or use --out for all"
    )
    assert second == "1 group after wave march (2026-03-01 10:00 UTC), 7 now (2026-04-02 11:30 UTC)"
    _, second = map(
        str,
        groups_since_sentences(
            replace(FOUND, grouped_then="2026-03-01T10:00:00+00:00", grouped_now="2026-03-01T10:00:59+00:00"), 2
        ),
    )
    assert second == "1 group after wave march (2026-03-01 10:00:00 UTC), 7 now (2026-03-01 10:00:59 UTC)"


def test_a_wave_whose_name_says_so_is_not_called_a_wave_twice() -> None:
    found = replace(FOUND, wave="wave 1")
    assert " changes since wave 1 (" in str(next(groups_since_sentences(found, 2)))
    assert repr(found).endswith(" since wave 1)")


@pytest.mark.parametrize(
    ("late", "words"),
    [
        ({"n_not_grouped": 1}, "updated since: 1 new document. To include it: nearkin groups COLLECTION"),
        (
            {"n_not_grouped": 18, "n_new_versions": 3, "n_gone": 3},
            "updated since: 15 new documents, 3 new versions. To include them: nearkin groups COLLECTION",
        ),
        (
            {"n_gone": 2, "n_removed": 2, "n_decisions": 1},
            "since: 2 members removed, 1 decision made or undone. To include them: ",
        ),
    ],
)
def test_what_came_later_is_told(late: dict[str, int], words: str) -> None:
    *_, last = groups_since_sentences(replace(FOUND, **late), 20)
    assert last.tone == "warning"
    assert words in str(last)


def test_the_record_as_json() -> None:
    told = FOUND.to_dict()
    assert (told["method"], told["threshold"], told["wave"], told["n_groups"]) == ("minhash", 0.5, "march", 7)
    assert [one["number"] for one in told["changes"]] == [4, 4, 4]
    assert "documents" not in told
