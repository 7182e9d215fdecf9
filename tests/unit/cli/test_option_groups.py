"""Options that are written once and belong to several commands."""

from __future__ import annotations

from dataclasses import fields

import pytest

from nearkin.cli.options.dedup import DedupChoices
from nearkin.cli.options.pairs import PairChoices
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.pairing.options import PairOptions


@pytest.mark.parametrize(
    ("choices", "options", "beside"),
    [
        (DedupChoices, DedupOptions, {"ignore", "ignore_numbers"}),
        (PairChoices, PairOptions, {"n_terms", "bm25", "ignore", "ignore_numbers", "ignored"}),
    ],
)
def test_whatever_a_job_lets_choose_is_an_option(choices, options, beside):
    """But for what is said otherwise, or cannot be said on a command line."""
    own = {name for name, _, _ in choices.listed()}
    assert own ^ {one.name for one in fields(options)} == beside
