"""Pairs that people judged: graded copying (Clough and Stevenson), and families of licence texts.

``python benchmarks/evidence/labelled.py --data FOLDER``
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pairs import SHINGLES, THRESHOLDS, data_folder, jaccard, normalised, print_table

from nearkin.records import F64, U32

GRADES = ("cut", "light", "heavy", "non")
CATCH_ALLS = {
    "proprietary-license", "other-permissive", "other-copyleft", "public-domain", "public-domain-disclaimer",
    "commercial-license", "warranty-disclaimer", "unknown", "unknown-license-reference", "free-unknown", "generic-cla",
}  # fmt: skip
"""Names that stand for any text of a kind, not for one text."""
MAX_OF_A_FAMILY = 6


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of texts, and whether they belong together."""

    texts: pa.LargeStringArray
    left: U32
    right: U32
    is_near: NDArray[np.bool_]


def graded(folder: Path) -> tuple[pa.LargeStringArray, dict[str, tuple[U32, U32]]]:
    """The answers and their sources; for each grade the pairs (answer, the source of its task)."""
    with open(folder / "file_information.csv", encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    texts = normalised(_decoded((folder / record["File"]).read_bytes()) for record in records)
    source_of_task = {r["Task"]: i for i, r in enumerate(records) if r["Category"] == "orig"}
    pairs = {}
    for grade in GRADES:
        rows = [i for i, r in enumerate(records) if r["Category"] == grade]
        sources = [source_of_task[records[i]["Task"]] for i in rows]
        pairs[grade] = (np.array(rows, np.uint32), np.array(sources, np.uint32))
    return texts, pairs


def _decoded(data: bytes) -> str:
    """UTF-8 if it is, else Windows-1252, where bytes that mean nothing become a mark."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def licences(path: Path) -> Pairs:
    """Pairs of full licence texts; two of one name belong together.

    Names that begin alike (bsd-new, bsd-simplified) are versions of one text: whether they belong together is a matter
    of taste, so their pairs are left out.
    """
    table = pq.read_table(path).to_pandas()
    table = table[(table.kind == "text") & ~table.license.isin(CATCH_ALLS) & (table.text.str.split().str.len() >= 50)]
    table = table.groupby("license").head(MAX_OF_A_FAMILY)
    left, right = np.triu_indices(len(table), 1)
    names = table.license.to_numpy()
    stems = table.license.str.partition("-")[0].to_numpy()
    is_near = names[left] == names[right]
    is_plain = is_near | (stems[left] != stems[right])
    left, right, is_near = left[is_plain], right[is_plain], is_near[is_plain]
    return Pairs(normalised(table.text), left.astype(np.uint32), right.astype(np.uint32), is_near)


def auc(near: F64, far: F64) -> float:
    """The probability that a pair that belongs together is more similar than one that does not; ties count half."""
    order = np.sort(far)
    below, up_to = np.searchsorted(order, near, "left"), np.searchsorted(order, near, "right")
    return float((below + up_to).mean() / 2 / len(far))


def print_graded(folder: Path) -> None:
    """Similarity of answers to their source by grade, and how well the grades part from independent answers."""
    texts, pairs = graded(folder)
    rows, shares = [], []
    for shingle in SHINGLES:
        sets = shingle.sets(texts)
        similarity = {grade: jaccard(sets, *pairs[grade]) for grade in GRADES}
        parted = [auc(similarity[grade], similarity["non"]) for grade in GRADES[:3]]
        rows.append(
            (shingle, *(f"{np.median(similarity[g]):.3f}" for g in GRADES), f"{similarity['non'].max():.3f}",
             *(f"{p:.3f}" for p in parted))
        )  # fmt: skip
        contained = {g: jaccard(sets, *pairs[g], containment=True) for g in GRADES}
        shares.append(
            (shingle, *(f"{np.median(contained[g]):.3f}" for g in GRADES), f"{contained['non'].max():.3f}",
             *(f"{(similarity[g] >= 0.5).mean():.2f}" for g in GRADES))
        )  # fmt: skip
    n = ", ".join(f"{len(pairs[g][0])} {g}" for g in GRADES)
    print_table(
        f"Clough and Stevenson: Jaccard similarity of an answer and its source ({n})",
        ("shingle", *(f"median {g}" for g in GRADES), "most of non", "AUC cut", "AUC light", "AUC heavy"),
        rows,
    )
    print_table(
        "The same: containment (of the smaller in the larger), and the part at or above Jaccard 0.5",
        ("shingle", *(f"contained {g}" for g in GRADES), "most of non", *(f"J ≥ 0.5 {g}" for g in GRADES)),
        shares,
    )


def print_licences(path: Path) -> None:
    """Precision, recall and F1 over pairs."""
    pairs = licences(path)
    n_near = int(pairs.is_near.sum())
    best, table = [], []
    for shingle in SHINGLES:
        similarity = jaccard(shingle.sets(pairs.texts), pairs.left, pairs.right)
        cells = []
        for threshold in THRESHOLDS:
            is_found = similarity >= threshold
            n_right = int((is_found & pairs.is_near).sum())
            precision, recall = n_right / max(int(is_found.sum()), 1), n_right / n_near
            f1 = 2 * precision * recall / max(precision + recall, 1e-9)
            cells.append((precision, recall, f1, threshold))
        top = max(cells, key=lambda cell: cell[2])
        far = similarity[~pairs.is_near]
        best.append(
            (shingle, f"{top[3]:.2f}", *(f"{x:.3f}" for x in top[:3]), f"{auc(similarity[pairs.is_near], far):.4f}",
             *(f"{np.quantile(far, q):.3f}" for q in (0.5, 0.99, 0.999, 0.9999)))
        )  # fmt: skip
        table.append((shingle, *(f"{p:.2f} / {r:.2f}" for p, r, _, _ in cells)))
    print_table(
        f"Licences: {len(pairs.texts):,} texts, {n_near:,} pairs of one name, {len(pairs.is_near) - n_near:,} others; "
        "the threshold of the best F1",
        ("shingle", "threshold", "precision", "recall", "F1", "AUC", "others 50 %", "99 %", "99.9 %", "99.99 %"),
        best,
    )
    print_table("Licences: precision / recall by threshold", ("shingle", *map(str, THRESHOLDS)), table)


if __name__ == "__main__":
    data = data_folder(__doc__)
    print_graded(data / "clough_stevenson")
    print_licences(data / "license_rules.parquet")
