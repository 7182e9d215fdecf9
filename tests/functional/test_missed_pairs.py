"""The list of missed pairs beside the figures of an audit."""

from __future__ import annotations

import numpy as np
import pytest

from nearkin.cli.audit import _show
from nearkin.cli.printing import tell
from nearkin.planning.audit import estimate_recall
from nearkin.workflows.auditing.audited import Audited, PairTally


@pytest.mark.parametrize(("n_found", "says_so"), [([0, 0, 1], True), ([1, 0, 1], False)])
def test_a_pair_that_neither_text_found_is_listed_once(capsys, n_found: list[int], says_so: bool) -> None:
    missed = PairTally(0)
    missed.miss([("a", "b", 0.9), ("b", "a", 0.9), ("a", "c", 0.8)])
    audited = Audited(
        what="nearkin similar, matter", pairs="different texts", similarity="jaccard", elapsed_s=1.0,
        estimate=estimate_recall(np.array([2, 1, 1]), np.array(n_found), n_population=3), missed=missed.missed(),
    )  # fmt: skip
    tell(dict, lambda console: _show(console, audited, None))
    said = " ".join(capsys.readouterr().out.split())
    once = "The list has each missed pair once (2); the figures count it once for each text that did not find it (3)"
    assert (once in said) == says_so
