"""What must never change: hashes, sketches, keys, digests and one whole result, as this version makes them.

``python tests/golden/golden.py v2`` writes a new folder. Do that only with a decision to break stored signatures.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

import nearkin
from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.hashing import hash_strings
from nearkin.stages.documents.normalisation import Normalisation, digests
from nearkin.stages.features.shingles import Characters, Code, Words
from nearkin.stages.search.bands import Bands
from nearkin.stages.search.sampling import Sampling
from nearkin.stages.signatures.minhash import MinHash

ROWS = {
    "documents": ["name", "row", "group_row", "copy_of_row", "differs"],
    "pairs": ["row_a", "row_b", "differs"],
    "groups": ["group_row"],
}
"""Columns that were not there when the first folder was written."""
NO_LENGTH = {"keep_value": None}
"""Columns that were null when the first folder was written, whose ``--keep longest`` counted white space."""
TEXTS = [
    "This Agreement is made on the 3rd day of May between the parties named below.",
    "this agreement is MADE on the 3rd day of May,\tbetween the parties named below",
    "Größe, Übermaß und Ærø — “quotes” … ﬁne print ½ №5",
    "本契約は甲と乙の間で締結される。カタカナも、ひらがなも。",
    "สัญญานี้ทำขึ้นระหว่างผู้เช่าและผู้ให้เช่า",
    "Съешь же ещё этих мягких французских булок",
    "e\u0301 soft\u00adhyphen zero\u200bwidth naïve \U0001f642 x",
    "averyveryverylongwordofmorethansixteenbytes and-then_some 12345678 1234567",
    "to be or not to be",
    "!!!",
    "",
]


def numbers(values: np.ndarray) -> list[str]:
    """As hexadecimal strings: JSON's numbers do not hold 64 bits everywhere."""
    return [f"{int(value):016x}" for value in np.asarray(values).ravel()]


def made() -> dict[str, object]:
    """Everything that is pinned."""
    texts = Normalisation().apply(pa.array(TEXTS, pa.large_string()))
    pinned: dict[str, object] = {
        "normalised": texts.to_pylist(),
        "digests": [value.as_py().hex() for value in digests(texts)],
        "ids": numbers(hash_strings(*text_buffers(texts))),
    }
    for shingle in (Words(1), Words(5), Characters(4), Characters(24), Code(1), Code(5)):
        sets = shingle.sets(texts)
        signatures = MinHash(24, seed=7).sign(sets)
        pinned[str(shingle)] = {
            "fingerprint": signatures.fingerprint,
            "n_units": sets.n_units.tolist(),
            "sizes": sets.sizes.tolist(),
            "hashes": numbers(sets.hashes),
            "slots": numbers(signatures.slots[sets.sizes > 0]),
            "band_keys": numbers(Bands(6, 4).keys(signatures)[:, sets.sizes > 0]),
            "sampled": numbers(Sampling(0.25).keys(sets)[0]),
        }
    result = nearkin.dedup([(f"doc-{i}", text) for i, text in enumerate(TEXTS)], threshold=0.6, shingle="words:2")
    documents = result.documents.drop_columns(["source", "line", *ROWS["documents"]]).to_pylist()
    pinned["documents"] = [row | NO_LENGTH for row in documents]
    pinned["pairs"] = result.pairs.drop_columns(ROWS["pairs"]).to_pylist()
    pinned["groups"] = result.groups.drop_columns(ROWS["groups"]).to_pylist()
    return pinned


if __name__ == "__main__":
    folder = Path(__file__).parent / sys.argv[1]
    folder.mkdir()
    (folder / "signatures.json").write_text(json.dumps(made(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
