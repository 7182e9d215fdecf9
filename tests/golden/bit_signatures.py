"""Signatures of bits and statistics as this version makes them; see ``golden.py`` for when a new folder is written."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from golden.golden import TEXTS, numbers
from nearkin.options.signatures import METHODS, SigningOptions
from nearkin.stages.features.shingles import Characters, Words, count_features
from nearkin.stages.signatures.random_projection import RandomProjection, TermVectors
from nearkin.stages.signatures.statistics import Statistics


def made() -> dict[str, object]:
    """Every method at some lengths, the statistics, a random projection."""
    pinned: dict[str, object] = {}
    for features in (Characters(4), Words(2)):
        for bits in (16, 64, 1024):
            for name in METHODS:
                options = SigningOptions(method=name, bits=bits, features=features, seed=0 if name == "simhash" else 3)
                counted = count_features(pa.array(TEXTS, pa.large_string()), features)
                counted = replace(counted, fingerprint=options.counts_fingerprint)
                statistics = Statistics.of([counted])
                signed = options.signer(statistics).sign(counted)
                pinned[f"{name}, {bits} bits, {features}"] = [
                    signed.fingerprint,
                    [bytes(r).hex() for r in signed.packed],
                ]
        pinned[f"statistics of {features}"] = {
            "fingerprint": statistics.fingerprint,
            "hashes": numbers(statistics.hashes),
            "occurrences": statistics.occurrences.tolist(),
            "documents": statistics.documents.tolist(),
        }
    hashes = np.arange(1, 9, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    vectors = TermVectors(hashes, np.linspace(-3, 5, 8), np.array([0, 3, 3, 8]), "terms")
    pinned["random projection"] = [bytes(row).hex() for row in RandomProjection(128, seed=3).sign(vectors).packed]
    return pinned


if __name__ == "__main__":
    path = Path(__file__).parent / sys.argv[1] / "bit_signatures.json"
    path.write_text(json.dumps(made(), indent=1) + "\n", encoding="utf-8")
