"""The table of what a distance finds, in the guide to signatures."""

from __future__ import annotations

import re
from pathlib import Path

from nearkin.planning.neighbour_recall import MINHASH, expected_recall
from nearkin.workflows.signing.neighbours import Expected

COLUMNS = (MINHASH, "weighted-topsig", "topsig", "simhash")


def found(method: str, bits: int) -> str:
    """What the program says of 3 bits, or of 3 in 32; then the distance that finds most."""
    low, high = expected_recall(method, bits, 3 * bits // 32 if method == MINHASH else 3)
    told = Expected(0.8, low, high, method != MINHASH).in_words("chars:4")
    share = re.search("recall: (.*?) of pairs", told)
    assert share
    reaching = next(distance for distance in range(bits) if expected_recall(method, bits, distance)[0] >= 0.9)
    return f"{share[1]} ({reaching})"


def test_the_table_has_what_the_program_says(root: Path) -> None:
    rows = [f"| {bits:,} | {' | '.join(found(one, bits) for one in COLUMNS)} |" for bits in (32, 64, 128, 256, 1024)]
    assert "|---:|---:|---:|---:|---:|\n" + "\n".join(rows) in (root / "docs/guides/signatures.md").read_text()
