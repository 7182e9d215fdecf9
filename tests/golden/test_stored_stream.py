"""A saved stream is opened, and goes on."""

from __future__ import annotations

import pytest

from golden.stored_stream import STREAMS, answers, made
from nearkin import StreamDeduplicator


@pytest.mark.parametrize("path", sorted(STREAMS.iterdir()), ids=lambda path: path.name)
def test_a_stream_of_every_version_goes_on(path):
    assert answers(StreamDeduplicator.open(path)) == answers(made())
