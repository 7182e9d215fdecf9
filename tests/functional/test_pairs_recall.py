"""The recall that ``nearkin pairs`` prints, beside the recall that it reaches by an own computation of every cosine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow.parquet as pq
import pytest

from example_counts import every
from functional.conftest import write_jsonl
from nearkin.options.pairs import PairOptions
from nearkin.workflows.pairing import job
from nearkin.workflows.pairing.inputs import PairInput
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources

THRESHOLD = 0.5
N_WORDS = 1500
Texts = list[np.ndarray]


class Corpora:
    """Texts of word numbers on two sides: families of versions of one text, and unrelated texts."""

    def __init__(self, seed: int) -> None:
        self.chance = np.random.default_rng(seed)
        self.left: Texts = []
        self.right: Texts = []

    def text(self) -> np.ndarray:
        return (N_WORDS * self.chance.random(40) ** 2).astype(int)

    def edited(self, text: np.ndarray, share: float) -> np.ndarray:
        return np.where(self.chance.random(len(text)) < share, self.text(), text)

    def add_family(self, n: int, share: float) -> None:
        text = self.text()
        for _ in range(n):
            (self.left if self.chance.random() < 0.6 else self.right).append(self.edited(text, share))

    def add_unrelated(self, n_left: int, n_right: int) -> None:
        self.left += [self.text() for _ in range(n_left)]
        self.right += [self.text() for _ in range(n_right)]


def clustered() -> Corpora:
    made = Corpora(1)
    for n, share in ((250, 0.25), (400, 0.32), (150, 0.1)):
        made.add_family(n, share)
    made.add_unrelated(2700, 700)
    return made


def even() -> Corpora:
    made = Corpora(2)
    for text in [made.text() for _ in range(1500)]:
        made.left.append(text)
        made.right.append(made.edited(text, made.chance.uniform(0.05, 0.5)))
    made.add_unrelated(1500, 0)
    return made


def of_many_sizes() -> Corpora:
    made = Corpora(3)
    for number in range(1, 400):
        made.add_family(max(2, int(500 / number)), made.chance.uniform(0.05, 0.35))
    made.add_unrelated(1700, 300)
    return made


def weighted(texts: Texts) -> np.ndarray:
    """BM25 vectors of length 1, as the guide defines them, with all words kept."""
    counts = np.stack([np.bincount(text, minlength=N_WORDS) for text in texts]).astype(float)
    n, n_with = len(texts), (counts > 0).sum(axis=0)
    length = counts.sum(axis=1, keepdims=True)
    weights = np.log(1 + (n - n_with + 0.5) / (n_with + 0.5)) * counts * 2.2
    weights /= counts + 1.2 * (0.25 + 0.75 * length / length.mean())
    return weights / np.linalg.norm(weights, axis=1, keepdims=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "method"), every(2, [(clustered, "window"), (of_many_sizes, "window"), (even, "signatures")])
)
def test_the_printed_recall_is_reached(tmp_path, make: Callable[[], Corpora], method):
    corpora = make()
    cosines = weighted(corpora.left) @ weighted(corpora.right).T
    true = set(zip(*(side.tolist() for side in np.nonzero(cosines >= THRESHOLD)), strict=True))
    left, right = (
        write_jsonl(
            tmp_path / f"{name}.jsonl",
            [{"id": str(i), "text": " ".join(f"w{word}" for word in text)} for i, text in enumerate(texts)],
        )
        for name, texts in (("left", corpora.left), ("right", corpora.right))
    )
    given = PairInput(ReadingRequest(inputs=[str(left)]), ReadingRequest(inputs=[str(right)]), None)
    options = PairOptions(threshold=THRESHOLD, method=method, recall=0.9, min_occurrences=1, min_terms=1, n_terms=0)
    told = job.pair_files(given, tmp_path / "out", options, report=False, resources=Resources(threads=2))
    table = pq.read_table(tmp_path / "out/pairs.parquet", columns=["left_row", "right_row"])
    found = set(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))
    assert told.plan.sampled_documents < len(corpora.left)
    assert told.plan.predicted.recall_low >= 0.9
    assert len(true & found) / len(true) >= told.plan.predicted.recall_low
