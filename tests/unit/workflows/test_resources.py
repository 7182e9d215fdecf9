"""What a run may use."""

from __future__ import annotations

import pytest

from nearkin.errors import ParameterError
from nearkin.workflows.resources import Resources


@pytest.mark.parametrize(
    ("text", "least"),
    [("64MiB", ""), ("64MB", "269MB"), ("0.1 GiB", "0.25 GiB"), ("0.2GB", "0.269GB"), ("9", "268,435,456 bytes")],
)
def test_too_little_memory_is_told_in_its_own_unit(text, least):
    also = rf" \({least}\)" if least else ""
    with pytest.raises(ParameterError, match=rf"must be at least 256MiB{also}\. Got: '{text}'"):
        Resources.of(memory=text)
    if least and "bytes" not in least:
        assert Resources.of(memory=least).memory_bytes >= 256 << 20
    with pytest.raises(ParameterError, match=r"must be at least 256MiB \(268,435,456 bytes\)\. Got: 1"):
        Resources.of(memory=1)


def test_resources():
    assert Resources(3).n_threads == 3
    assert Resources().n_threads >= 1
    for wrong in ({"threads": -1}, {"threads": 1.5}, {"memory_bytes": 1}, {"memory_bytes": "2GiB"}):
        with pytest.raises(ParameterError):
            Resources(**wrong)
