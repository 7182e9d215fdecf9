"""What a run may use."""

from __future__ import annotations

import pytest

from nearkin.errors import ParameterError
from nearkin.workflows.resources import Resources


@pytest.mark.parametrize(
    ("text", "least"),
    [("64MiB", "256MiB"), ("64MB", "269MB"), ("0.1 GiB", "0.25 GiB"), ("0.2GB", "0.269GB"), ("9", "268435456")],
)
def test_too_little_memory_is_told_in_its_own_unit(text, least):
    with pytest.raises(ParameterError, match=f"must be at least {least}. Got '{text}' instead"):
        Resources.of(memory=text)
    assert Resources.of(memory=least).memory_bytes >= 256 << 20


def test_resources():
    assert Resources(3).n_threads == 3
    assert Resources().n_threads >= 1
    for wrong in ({"threads": -1}, {"threads": 1.5}, {"memory_bytes": 1}, {"memory_bytes": "2GiB"}):
        with pytest.raises(ParameterError):
            Resources(**wrong)
