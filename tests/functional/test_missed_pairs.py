"""The list of missed pairs beside the figures of an audit."""

from __future__ import annotations

import re

import numpy as np

from nearkin.cli.audit import _show
from nearkin.cli.printing import tell
from nearkin.planning.audit import estimate_recall
from nearkin.workflows.auditing.audited import Audited, PairTally


def test_a_pair_that_neither_text_found_is_listed_once(capsys) -> None:
    missed = PairTally(0)
    missed.miss([("a", "b", 0.9), ("b", "a", 0.9), ("a", "c", 0.8)])
    audited = Audited(
        what="nearkin similar, matter", pairs="different texts", similarity="jaccard", elapsed_s=1.0,
        estimate=estimate_recall(np.array([2, 1, 1]), np.array([0, 0, 1]), n_population=3), missed=missed.missed(),
    )  # fmt: skip
    tell(dict, lambda console: _show(console, audited, None))
    assert re.search(r"missed pairs +2  each once", capsys.readouterr().out)
    assert audited.to_dict()["n_missed"] == 3  # once for each text that did not find it
