"""`nearkin groups --direct`, as a user gives it: members are counted, not groups."""

from __future__ import annotations

from pathlib import Path

from functional.conftest import nearkin_here, write_jsonl


def run(*arguments: str | Path) -> str:
    ended = nearkin_here(*arguments)
    ended.assert_clean()
    return " ".join(ended.out.split())


def test_direct_members_are_counted_as_members_not_as_groups(tmp_path: Path) -> None:
    place = str(tmp_path / "chains")
    words = [f"w{i}" for i in range(90)]
    rows = [{"id": f"{kind}{i}", "text": " ".join(kind + word for word in words[15 * i : 15 * i + 50 + 9 * (i == 0)])}
            for kind in "ab" for i in range(3)]  # fmt: skip
    run("add", place, write_jsonl(tmp_path / "chains.jsonl", rows))
    out = run("groups", place, "--threshold", "0.4", "--direct", "--limit", "1")
    assert "groups 2 " in out
    assert "documents in groups 6" in out
    assert "linked only through others; omitted here" in out
    assert "not shown 1 raise --limit" in run("groups", place, "--threshold", "0.4", "--limit", "1")
