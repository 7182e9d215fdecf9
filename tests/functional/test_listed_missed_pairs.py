"""What an audit says of the pairs that were missed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nearkin.cli.audit import _show
from nearkin.cli.printing import tell
from nearkin.planning.audit import estimate_recall
from nearkin.workflows.auditing.audited import Audited, MissedPairs


def test_a_pair_that_neither_text_found_is_listed_once_and_the_output_says_so(capsys):
    missed = MissedPairs()
    missed.take([("a", "b", 0.9), ("b", "a", 0.9), ("a", "c", 0.8)])
    audited = Audited(
        what="nearkin similar, matter", pairs="different texts", similarity="jaccard", elapsed_s=1.0,
        estimate=estimate_recall(np.array([2, 1, 1]), np.array([0, 0, 1]), n_population=3), missed=missed.table(),
    )  # fmt: skip
    tell(dict, lambda console: _show(console, audited, None))
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "The list has each missed pair once (2); the figures count it once for each text that did not find it (3)"
        in said
    )
    assert "The list has each missed pair once" not in _said_of_run(audited, capsys)


def _said_of_run(audited: Audited, capsys) -> str:
    """Return the output for an audit that counts each pair once."""
    counts = np.array([1, 1, 0])
    one = replace(audited, estimate=estimate_recall(counts, 0 * counts, n_population=3))
    tell(dict, lambda console: _show(console, one, None))
    return capsys.readouterr().out
