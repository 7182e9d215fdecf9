"""Standard input, which comes once, where it is needed again."""

from __future__ import annotations

import io

import pytest

from nearkin.errors import ResumeError, RunError
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.standard_input import is_pipe, save_stdin, stdin_of_run

FILE = Source(path="a.jsonl", name="a.jsonl", format="jsonl", text="text")
PIPE = Source(path="-", name="-", format="jsonl", text="text")


def test_what_can_be_read_once(tmp_path):
    path = tmp_path / "a"
    path.write_text("x")
    assert not is_pipe(Source(path=str(path), name="a", format="file", size_bytes=1))
    assert is_pipe(PIPE)


def test_it_is_saved_once_and_taken_when_the_run_goes_on(tmp_path):
    came = io.BytesIO(b"first")
    saved = save_stdin([FILE, PIPE], came, tmp_path)
    assert saved.read_bytes() == b"first"
    assert save_stdin([FILE, PIPE], io.BytesIO(b"second"), tmp_path) == saved
    assert saved.read_bytes() == b"first"
    with stdin_of_run(came, tmp_path, resume=True) as stdin:
        assert stdin.read() == b"first"
    for resume, work in ((False, tmp_path), (True, tmp_path / "other")):
        with stdin_of_run(came, work, resume=resume) as stdin:
            assert stdin is came


def test_without_it_nothing_is_saved(tmp_path):
    assert save_stdin([FILE], io.BytesIO(b"x"), tmp_path) is None
    assert not list(tmp_path.iterdir())


def test_what_was_read_to_its_end_and_not_saved_is_gone(tmp_path):
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool/000000000.json").write_text("{}")  # of the file that is read before it
    assert save_stdin([FILE, PIPE], io.BytesIO(b"x"), tmp_path).exists()
    for name in ("stdin", "stdin.json"):
        (tmp_path / name).unlink()
    (tmp_path / "spool/000000001.json").write_text("{}")
    with pytest.raises(ResumeError, match="Omit --write-kept"):
        save_stdin([FILE, PIPE], io.BytesIO(b"x"), tmp_path)


def test_a_copy_that_changed_is_not_gone_on_with(tmp_path):
    save_stdin([FILE, PIPE], io.BytesIO(b"first"), tmp_path)
    (tmp_path / "stdin").write_bytes(b"firsu")
    with pytest.raises(RunError, match="damaged"), stdin_of_run(None, tmp_path, resume=True):
        pass


@pytest.mark.parametrize("name", ["stdin", "stdin.json"])
def test_a_copy_whose_file_is_a_folder_is_damaged(tmp_path, name):
    save_stdin([FILE, PIPE], io.BytesIO(b"first"), tmp_path)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(RunError, match=f"{name} is damaged"), stdin_of_run(None, tmp_path, resume=True):
        pass


def test_a_copy_without_its_digest_is_damaged(tmp_path):
    save_stdin([FILE, PIPE], io.BytesIO(b"first"), tmp_path)
    (tmp_path / "stdin.json").unlink()
    with pytest.raises(RunError, match=r"stdin\.json is damaged"), stdin_of_run(None, tmp_path, resume=True):
        pass


def test_a_copy_that_is_gone_is_missed_once_its_documents_were_read(tmp_path):
    save_stdin([FILE, PIPE], io.BytesIO(b"first"), tmp_path)
    (tmp_path / "stdin").unlink()
    assert save_stdin([FILE, PIPE], io.BytesIO(b"again"), tmp_path).read_bytes() == b"again"
    (tmp_path / "stdin").unlink()
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool/000000001.json").write_text("{}")
    with pytest.raises(RunError, match="stdin is damaged: the run wrote this file, and it is missing"):
        save_stdin([FILE, PIPE], io.BytesIO(b"x"), tmp_path)
