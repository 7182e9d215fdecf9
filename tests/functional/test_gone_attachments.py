"""``nearkin add`` of mails and archives that lost something since an earlier wave, and of cut off ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from functional.conftest import nearkin_here
from generator import office_files as make
from made_up_prose import Prose

PROSE = Prose(23)
HEADERS = {"From": "ada@b.org", "To": "bo@c.org", "Subject": "Offer", "Message-ID": "<1@b.org>",
           "Date": "Mon, 1 Jan 2024 10:00:00 +0000"}  # fmt: skip
BODY, OFFER, TERMS = (PROSE.text(20) for _ in range(3))
BOTH = make.mail(HEADERS, BODY, {"offer.txt": OFFER.encode(), "terms.txt": TERMS.encode(), "locked.pdf": b"%PDF-1.4"})
ONE = make.mail(HEADERS, BODY, {"terms.txt": TERMS.encode()})


def _mailbox(*mails: bytes) -> bytes:
    return b"".join(b"From ada@b.org Mon Jan  1 10:00:00 2024\n" + one + b"\n\n" for one in mails)


def stored(place: Path) -> set[str]:
    listed = json.loads(nearkin_here("list", place, "--json").out)
    return {one["doc_id"] for one in listed["documents"]}


@pytest.fixture
def case(tmp_path) -> Path:
    folder = tmp_path / "case"
    folder.mkdir()
    (folder / "1.eml").write_bytes(BOTH)
    (folder / "all.mbox").write_bytes(_mailbox(BOTH, BOTH))
    (folder / "box.zip").write_bytes(make.zipped({"a.txt": OFFER.encode(), "in/1.eml": BOTH}))
    assert nearkin_here("add", tmp_path / "matter", folder, "--wave", "march", "-q").code == 0
    return folder


def test_what_files_no_longer_contain_is_removed(case, tmp_path):
    place, before = tmp_path / "matter", stored(tmp_path / "matter")
    (case / "1.eml").write_bytes(ONE)
    (case / "all.mbox").write_bytes(_mailbox(BOTH))
    (case / "box.zip").write_bytes(make.zipped({"in/1.eml": ONE}))
    gone = {"1.eml!offer.txt", "box.zip!a.txt", "box.zip!in/1.eml!offer.txt", "all.mbox!#2", "all.mbox!#2!offer.txt",
            "all.mbox!#2!terms.txt"}  # fmt: skip
    dry = json.loads(nearkin_here("add", place, case, "--wave", "april", "--dry-run", "--json").out)
    assert ({*dry["removed"]}, dry["is_dry_run"]) == (gone, True)
    assert (
        "9 documents (3 of them without a text) would be removed" in nearkin_here("add", place, case, "--dry-run").out
    )
    assert stored(place) == before
    told = nearkin_here("add", place, case, "--wave", "april")
    assert "9 documents (3 of them without a text) were removed, because their files no longer contain them" in told.out
    assert stored(place) == before - gone
    assert "remove 9 documents that the files of wave april no longer contain" in nearkin_here("log", place).out
    left = json.loads(nearkin_here("exceptions", place, "--json").out)["exceptions"]
    assert [one["doc_id"] for one in left] == ["all.mbox!#1!locked.pdf"]


def test_what_is_cut_off_loses_nothing(case, tmp_path):
    """Files that end early still have every member that they had before."""
    place, whole = tmp_path / "matter", {path: path.read_bytes() for path in case.iterdir()}
    before = stored(place)
    for share in (0.05, 0.3, 0.55, 0.8, 0.97):
        for path, data in whole.items():
            path.write_bytes(data[: int(len(data) * share)])
        (case / "note.txt").write_text(f"A note of {share}.")
        told = json.loads(nearkin_here("add", place, case, "--json").out)
        assert told["removed"] == []
    assert before <= stored(place)


def test_a_dry_run_makes_no_collection(case, tmp_path):
    done = nearkin_here("add", tmp_path / "none", case, "--dry-run")
    done.assert_done()
    assert not (tmp_path / "none").exists()
