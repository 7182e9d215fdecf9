"""Columns of the files of ``--against``, which may have other names than those of INPUT."""

from __future__ import annotations

import json
import traceback
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import nearkin_done, write_jsonl
from made_up_prose import Prose
from nearkin.errors import MissingColumnError, ParameterError

PROSE = Prose(5)
TEXTS = [PROSE.text(40) for _ in range(8)]
PAGES = [{"id": f"p{i}", "text": text} for i, text in enumerate(TEXTS)]
ITEMS = [{"qid": f"q{i}", "question": f"{text} why", "answer": PROSE.text(6)} for i, text in enumerate(TEXTS[:3])]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return write_jsonl(tmp_path / "pages.jsonl", PAGES), write_jsonl(tmp_path / "bench.jsonl", ITEMS)


def test_the_items_are_read_by_their_own_columns(files, tmp_path):
    pages, bench = files
    given = (pages, "--against", bench, "--against-text", "question", "--against-id", "qid")
    nearkin_done("dedup", *given, "--out", tmp_path / "out")
    dropped = [one for one in pq.read_table(tmp_path / "out/documents.parquet").to_pylist() if not one["keep"]]
    assert {one["id"]: one["group"] for one in dropped} == {"p0": "q0", "p1": "q1", "p2": "q2"}
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert [(one["text"], one["id"]) for one in manifest["against"]] == [("question", "qid")]
    assert [(one["text"], one["id"]) for one in manifest["inputs"]] == [("text", "id")]
    assert nearkin.audit(tmp_path / "out").n_true == 3  # the columns are known when the files are read again


def test_in_python(files):
    expected = [one["id"] for one in PAGES[3:]]
    for mine, theirs in ((PAGES, ITEMS), files, (PAGES, files[1]), (pa.Table.from_pylist(PAGES), ITEMS)):
        found = nearkin.dedup(mine, against=theirs, against_text="question", against_id="qid")
        assert [one["id"] for one in found.documents.to_pylist() if one["keep"]] == expected
        assert found.against["id"].to_pylist() == ["q0", "q1", "q2"]
    with pytest.raises(MissingColumnError, match=r"^against_text: .*'prompt'\. The columns are: qid, question, answer"):
        nearkin.dedup(PAGES, against=ITEMS, against_text="prompt")
    with pytest.raises(MissingColumnError, match=r"^text: .*'question'"):
        nearkin.dedup(PAGES, against=ITEMS, text="question")
    with pytest.raises(MissingColumnError, match=r"^against_text: .*'body'"):
        nearkin.dedup([{"id": 1, "body": "a"}], against=ITEMS, text="body")
    with pytest.raises(MissingColumnError, match=r"^against_text: .*bench\.jsonl: .*'prompt'") as caught:
        nearkin.dedup(files[0], against=files[1], against_text="prompt")
    assert "".join(traceback.format_exception(caught.value)).count("there is no column") == 1
    for mine, theirs in (files, (PAGES, ITEMS)):
        with pytest.raises(ParameterError, match=r"^against_text: .*Got: 3$"):
            nearkin.dedup(mine, against=theirs, against_text=3)
    for mine, theirs in (files, (PAGES, ITEMS)):
        with pytest.raises(MissingColumnError, match=r"^right_text: .*'prompt'"):
            nearkin.pairs(mine, theirs, right_text="prompt")
