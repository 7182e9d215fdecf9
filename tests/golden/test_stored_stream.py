"""A saved stream is opened, and goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from golden.stored_stream import STREAMS, answers, made
from nearkin import StreamDeduplicator


@pytest.mark.parametrize("path", sorted(STREAMS.iterdir()), ids=lambda path: path.name)
def test_a_stream_of_every_version_goes_on(path):
    assert answers(StreamDeduplicator.open(path)) == answers(made())


def test_the_form_of_today_is_stored(tmp_path):
    made().save(tmp_path / "now")
    assert (tmp_path / "now").read_bytes() in {Path(path).read_bytes() for path in STREAMS.iterdir()}
