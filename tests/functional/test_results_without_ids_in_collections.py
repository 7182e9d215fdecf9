"""Kept documents of runs that have no ids, added to a collection: their names, and those that replace others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from functional.conftest import FAST, nearkin_here, write_jsonl


def test_they_keep_their_names_and_those_of_another_run_do_not_replace_them_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for run, about in (("one", "the sea"), ("two", "a mountain")):
        Path(run).mkdir()
        Path("forum.csv").write_text(f'nr,text\n1,"{about}: {FAST}"\n')
        write_jsonl(Path("more.jsonl"), [{"id": 7, "text": f"of {about} and no more is said here"}])
        nearkin_here("dedup", "more.jsonl", "forum.csv", "--out", f"{run}/clean", "--write-kept", "-q").assert_done()

    nearkin_here("add", "mine", "one/clean").assert_done()
    listed = json.loads(nearkin_here("list", "mine", "--json").out)["documents"]
    assert sorted(one["doc_id"] for one in listed) == ["7", "forum.csv:2"]

    dry = nearkin_here("add", "mine", "two/clean", "--dry-run")
    assert "1 changed document is named after its line: forum.csv:2. If lines moved" in " ".join(
        (dry.out + dry.err).split()
    )

    both = nearkin_here("add", "other", "one/clean", "two/clean")
    assert "1 document was not stored, because its id was already used in this load" in " ".join(
        (both.out + both.err).split()
    )
