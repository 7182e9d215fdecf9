"""A small collection, and all that runs of several kinds say of it.

``python tests/golden/collection.py v2`` writes a new folder's part; see ``golden.py`` for when.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import nearkin
from golden.golden import NO_LENGTH

LEASE = (
    "This lease is made between {owner} and {tenant} for the house at {street}. The rent of {rent} is due on the first "
    "day of each month, and the tenant keeps the house in good repair until the lease ends."
)
PEOPLE = [
    ("Anna Berg", "Carl Dorn", "12 Mill Lane", "900"),
    ("Anna Berg", "Carl Dorn", "12 Mill Lane", "950"),
    ("Anna Berg", "Eva Falk", "12 Mill Lane", "900"),
    ("Gerd Horn", "Eva Falk", "3 Long Road", "700"),
    ("Gerd Horn", "Ina Jung", "3 Long Road", "700"),
    ("Karl Lang", "Mia Noll", "77 Old Street", "1200"),
]
DOCUMENTS = [
    *(LEASE.format(owner=a, tenant=b, street=c, rent=d) for a, b, c, d in PEOPLE),
    LEASE.format(owner="ANNA BERG", tenant="Carl  Dorn", street="12 Mill Lane", rent="900"),
    "Received with thanks: the rent of 900 for May.",
    "received with thanks: the rent of 900 for May",
    "Received with thanks: the rent of 950 for May.",
    "日本語の短い文章です。",
    "日本語の短い文章です",
    "No",
    "",
    " \n ",
    "The rent of 900 is due on the first day of each month",
]
COLUMNS = {
    "documents": ["id", "group", "is_principal", "similarity_to_principal", "differs", "copy_of", "keep", "reason",
                  "n_characters", "n_units", "n_shingles", "keep_value", "line", "problem"],
    "pairs": ["id_a", "id_b", "jaccard", "containment_a_in_b", "containment_b_in_a", "differs"],
    "groups": ["group", "size", "principal", "lowest_similarity", "is_lowest_exact", "bridges_refused",
               "n_exact_copies"],
}  # fmt: skip
"""What is pinned of each table."""
RUNS = {
    "principal at 0.6": {"threshold": 0.6, "shingle": "words:3"},
    "component at 0.5, the first": {"threshold": 0.5, "shingle": "words:2", "group": "component", "keep": "first"},
    "containment at 0.8": {"threshold": 0.8, "shingle": "words:3", "measure": "containment"},
    "characters at 0.7, the shortest": {"threshold": 0.7, "shingle": "chars:6", "keep": "shortest"},
}


def collection() -> dict[str, object]:
    """All that runs over the documents say, but for what changes with time, machine and version."""
    found: dict[str, object] = {}
    for name, options in RUNS.items():
        result = nearkin.dedup([(f"doc-{i:02d}", text) for i, text in enumerate(DOCUMENTS)], **options)
        tables = {table: getattr(result, table).select(columns).to_pylist() for table, columns in COLUMNS.items()}
        tables["documents"] = [row | NO_LENGTH for row in tables["documents"]]
        counts = result.manifest["counts"]
        found[name] = {
            "fingerprint": result.manifest["fingerprint"],
            **tables,
            "counts": {key: counts[key] for key in ("kept", "groups", "pairs", "bridges_refused")},  # type: ignore[index]
        }
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


if __name__ == "__main__":
    path = Path(__file__).parent / sys.argv[1] / "collection.json"
    path.write_text(json.dumps(collection(), indent=1, ensure_ascii=True) + "\n", encoding="ascii")
