"""What a run may use."""

from __future__ import annotations

import pytest

from nearkin.errors import ParameterError
from nearkin.workflows.resources import Resources


def test_resources():
    assert Resources(3).n_threads == 3
    assert Resources().n_threads >= 1
    with pytest.raises(ParameterError):
        Resources.of(memory="64MiB")
    for wrong in ({"threads": -1}, {"threads": 1.5}, {"memory_bytes": 1}, {"memory_bytes": "2GiB"}):
        with pytest.raises(ParameterError):
            Resources(**wrong)
