"""Letter counts as this version makes them; see ``golden.py`` for when a new folder is written."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa

from golden.golden import TEXTS
from nearkin.stages.features.letters import LetterCounts

MORE = ["Жизнь 語 ñandú αβγ אבג ไทย, 9 km²", "ABC abc 0189 " * 40, "Это написано по-русски, page 12 of 144. " * 20]


def made() -> dict[str, object]:
    """Both alphabets: of each text the counts that are not 0, and what is said of it."""
    pinned: dict[str, object] = {}
    for alphabet in ("latin", "universal"):
        vectors = LetterCounts(alphabet).count(pa.array([*TEXTS, *MORE], pa.large_string()))
        pinned[alphabet] = {
            "fingerprint": vectors.fingerprint,
            "counts": [" ".join(f"{i}:{n}" for i, n in enumerate(counts.tolist()) if n) for counts in vectors.counts],
            "is_counted": vectors.is_counted.tolist(),
            "n_counted": vectors.n_counted.tolist(),
            "n_others": vectors.n_others.tolist(),
        }
    return pinned


if __name__ == "__main__":
    path = Path(__file__).parent / sys.argv[1] / "letter_counts.json"
    path.write_text(json.dumps(made(), indent=1) + "\n", encoding="utf-8")
