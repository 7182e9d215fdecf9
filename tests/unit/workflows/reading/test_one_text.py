"""One document, named on the command line."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from nearkin.errors import SourceError
from nearkin.workflows.reading.one_text import read_one_document

TEXT = " ".join(f"word{i}" for i in range(20_000))
"""More than a pipe holds."""


def written_to(pipe: Path | int) -> threading.Thread:
    def write() -> None:
        with open(pipe, "w") as file:
            file.write(TEXT)

    writer = threading.Thread(target=write)
    writer.start()
    return writer


@pytest.mark.parametrize("name", ["pipe", "pipe.txt"])
def test_a_pipe_is_read_whole(tmp_path, name):
    os.mkfifo(tmp_path / name)
    writer = written_to(tmp_path / name)
    assert read_one_document(tmp_path / name).text == TEXT
    writer.join()


def test_a_pipe_of_the_shell_is_read_whole(tmp_path):
    ours, theirs = os.pipe()
    writer = written_to(theirs)
    assert read_one_document(Path(f"/dev/fd/{ours}")).text == TEXT
    os.close(ours)
    writer.join()


@pytest.mark.parametrize("name", ["pipe.pdf", "pipe.html", "pipe.eml"])
def test_a_pipe_with_the_name_of_a_document_is_refused_before_it_is_opened(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(SourceError, match="is a pipe, of which Nearkin reads only text"):
        read_one_document(tmp_path / name)
