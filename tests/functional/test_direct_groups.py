"""`nearkin groups --direct`, as a user gives it: members are counted, not groups."""

from __future__ import annotations

import re
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
    assert "2 groups with 6 documents" in out
    assert not re.search("groups? not shown", out)
    assert "members not shown; raise --limit" in out
    assert "only through other members. They are omitted here" in out
    assert "1 group not shown" in run("groups", place, "--threshold", "0.4", "--limit", "1")
