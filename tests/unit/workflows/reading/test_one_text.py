"""One document, named on the command line."""

from __future__ import annotations

import gzip
import tarfile
import zipfile

import pytest

from nearkin.errors import SourceError
from nearkin.workflows.reading.request import read_one_document

TEXT = " ".join(f"word{i}" for i in range(20_000))
"""More than a pipe holds."""


def test_of_several_documents_only_readable_ones_are_offered(tmp_path):
    """An archive that was cut has no list of files, or names an exception after them."""
    packed = tmp_path / "whole.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", TEXT)
    (tmp_path / "cut.zip").write_bytes(packed.read_bytes()[:-40])
    with pytest.raises(SourceError, match=r"can be read\. The first"):
        read_one_document(tmp_path / "cut.zip")
    with tarfile.open(tmp_path / "whole.tar", "w") as tar:
        for name in ("a.txt", "b.txt", "c.txt"):
            (tmp_path / name).write_text(TEXT)
            tar.add(tmp_path / name, name)
    with tarfile.open(tmp_path / "whole.tar") as tar:
        last = tar.getmember("c.txt").offset
    (tmp_path / "cut.tar").write_bytes((tmp_path / "whole.tar").read_bytes()[:last])
    with pytest.raises(SourceError, match=r"It contains \S*cut\.tar!a\.txt, \S*cut\.tar!b\.txt\.$"):
        read_one_document(tmp_path / "cut.tar")


@pytest.mark.parametrize("n_bytes", [30, 400])
def test_a_cut_file_is_a_document_that_cannot_be_read_wherever_it_was_cut(tmp_path, n_bytes):
    """The advice of batch commands, to skip damaged files, is not for one document."""
    whole = gzip.compress(" ".join(map(str, range(10_000))).encode())
    (tmp_path / "cut.txt.gz").write_bytes(whole[:n_bytes])
    with pytest.raises(SourceError, match=r"cut\.txt\.gz: the gzip stream is truncated[^.]*\.?$") as caught:
        read_one_document(tmp_path / "cut.txt.gz")
    assert caught.value.exit_code == 3
