"""Messages that name parameters, spelt for Python and for the command line."""

from __future__ import annotations

import pickle

import pytest

from nearkin.collection.decisions.purging import _refuse_copies
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.signing.options import SigningOptions

_OPTIONS = {name: f"--{name.replace('_', '-')}" for name in ("copies", "drop", "measure", "seed", "gamma")}


@pytest.mark.parametrize(
    ("make", "in_python", "as_options"),
    [
        (lambda: SigningOptions(method="simhash", seed=3), "'seed' has no effect", "--seed has no effect"),
        (lambda: DedupOptions(drop="contained"), "'drop' needs 'measure' to be", "--drop needs --measure to be"),
        (lambda: DedupOptions(threshold=2), "The 'threshold' parameter of dedup must", "The 'threshold' parameter of"),
        (lambda: DedupOptions(seed=-1), "The 'seed' parameter of dedup must be an int from", "--seed must be a whole"),
        (
            lambda: Tolerance.of(gamma=0.1, tolerance=3),
            "one of 'gamma' and 'tolerance'",
            "one of --gamma and 'tolerance'",
        ),
        (lambda: _refuse_copies(["copies"], copies=False), "give 'copies'", "'copies' has the same text."),
        (lambda: _refuse_copies(["copies"], copies=False), "give 'copies'", "give --copies"),
    ],
)
def test_names_are_spelt_for_the_reader_and_values_stay(make, in_python, as_options):
    with pytest.raises(ParameterError) as caught:
        make()
    error = pickle.loads(pickle.dumps(caught.value))  # as from the process of an engine
    assert in_python in str(error)
    assert as_options in error.with_options(_OPTIONS.get)
