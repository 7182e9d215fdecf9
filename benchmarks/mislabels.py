"""Wrong labels planted among versions of generated contracts: how many of them ``nearkin conflicts`` finds.

    python benchmarks/mislabels.py

Every family of versions gets one of two labels, by chance; in some families of three and more, one version gets the
other label. A document that is reported and was not planted is false.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

import generate
import nearkin

SETTINGS: dict[str, dict[str, object]] = {
    "words, Jaccard ≥ 0.5 (the default)": {},
    "words, Jaccard ≥ 0.3": {"threshold": 0.3},
    "words, Jaccard ≥ 0.7": {"threshold": 0.7},
    "letters, γ 0.025": {"gamma": 0.025},
    "letters, γ 0.05": {"gamma": 0.05},
    "letters, γ 0.1": {"gamma": 0.1},
}
OTHER = {"privileged": "produce", "produce": "privileged"}


@dataclass(frozen=True, slots=True)
class Planted:
    """Documents, their labels, and those whose label is wrong."""

    documents: list[tuple[str, str]]
    labels: dict[str, str]
    wrong: set[str]


@dataclass(frozen=True, slots=True)
class FoundLabels:
    """What one setting reported."""

    setting: str
    n_found: int
    n_false: int


def main() -> None:
    """Plant, ask with each setting, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mislabels", type=int, default=60)
    parser.add_argument("--of-a-kind", type=int, default=50, help="families of each of three kinds of contracts")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    planted = plant(options.mislabels, options.of_a_kind, options.seed)
    print(f"{len(planted.documents):,} documents, {len(planted.wrong)} of them with a wrong label\n")
    print("| setting | found | false |\n|---|---:|---:|")
    for one in asked(planted, SETTINGS):
        print(f"| {one.setting} | {one.n_found} of {len(planted.wrong)} | {one.n_false} |")


def plant(n_mislabels: int, n_of_a_kind: int, seed: int) -> Planted:
    """Return contracts in families with one label each, except for one version of some families."""
    generate.N_CONTRACTS_OF_A_KIND = n_of_a_kind
    documents, chance = generate.contracts(), random.Random(seed)
    sizes = Counter(one.family for one in documents)
    of_family = {family: chance.choice(sorted(OTHER)) for family in sizes}
    labels = {one.id: of_family[one.family] for one in documents}
    chosen = chance.sample([family for family, n in sizes.items() if n > 2], n_mislabels)
    wrong = {chance.choice([one.id for one in documents if one.family == family]) for family in chosen}
    labels |= {doc_id: OTHER[labels[doc_id]] for doc_id in wrong}
    return Planted([(one.id, one.text) for one in documents], labels, wrong)


def asked(planted: Planted, settings: dict[str, dict[str, object]]) -> Iterator[FoundLabels]:
    """Yield how many wrong labels each setting finds, and how many documents it reports wrongly."""
    with tempfile.TemporaryDirectory() as folder, nearkin.Collection.open(f"{folder}/m", create=True) as collection:
        collection.add(planted.documents)
        for name, setting in settings.items():
            reported = {one.a.doc_id for one in collection.conflicts(planted.labels, **setting).conflicts}
            yield FoundLabels(name, len(reported & planted.wrong), len(reported - planted.wrong))


if __name__ == "__main__":
    main()
