"""A result, compared with pairs or groups of documents that are known to be true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import ParameterError, SourceError
from nearkin.formats import parquet
from nearkin.manifests.dedup import FAMILIES_OF_COLLECTION
from nearkin.nouns import one_of
from nearkin.planning.evaluation import (
    DISTANCE,
    CurvePoint,
    Evaluated,
    Evaluation,
    JudgedPairs,
    LabelledGroups,
    ScoredPairs,
    Truth,
    best_of,
    curve_of,
    thinned,
)
from nearkin.records import F64, I64
from nearkin.runs.run import damage_of, read_results
from nearkin.stages.documents.arrays import holds_characters
from nearkin.stages.documents.rows import ids_of_table
from nearkin.stages.verification.measures import MEASURES
from nearkin.workflows.reading.sheets import ID_NAMES, plain_name, read_sheet

_PAIR_COLUMNS = (("id_a", "id_b"), ("left_id", "right_id"))
_GROUP_NAMES = ("group", "family", "cluster", "label", "class")
_MATCH_NAMES = ("match", "is match", "is duplicate", "duplicate", "label")
_SCORES = (*MEASURES, "similarity", "similarity_to_principal", "cosine", "edit", DISTANCE)
_YES, _NO = ("1", "true", "yes"), ("0", "false", "no", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reported:
    """Pairs and groups that a result reports; both sides are the same if pairs are of one set."""

    ids: tuple[pa.Array, pa.Array]
    texts: tuple[I64, I64]
    left: I64 | None = None
    right: I64 = field(default_factory=lambda: np.zeros(0, np.int64))
    score: F64 = field(default_factory=lambda: np.zeros(0))
    score_name: str = ""
    group: I64 | None = None
    group_score: F64 = field(default_factory=lambda: np.zeros(0))
    group_score_name: str = ""
    is_complete: bool = True

    @property
    def is_one_set(self) -> bool:
        return self.texts[0] is self.texts[1]

    @property
    def all_ids(self) -> pa.Array:
        return pa.chunked_array(list(self.ids), pa.large_string()).unique()

    def with_more(self, *ids: pa.Array) -> _Reported:
        given = [pa.chunked_array(ids)] if self.is_one_set else [pa.chunked_array([doc_id]) for doc_id in ids]
        listed = [pa.chunked_array([side, *more.chunks]).unique() for side, more in zip(self.ids, given)]
        texts = [np.concatenate([own, np.arange(len(own), len(all_))]) for own, all_ in zip(self.texts, listed)]
        group, n_before = self.group, len(self.texts[0])
        if group is not None:
            group = np.concatenate([group, np.arange(n_before, len(listed[0]))])
        score = np.concatenate([self.group_score, np.ones(len(listed[0]) - n_before)])
        return replace(
            self, ids=(listed[0], listed[-1]), texts=(texts[0], texts[-1]), group=group, group_score=score
        )  # fmt: skip


def evaluate(place: Path, truth: Path | pa.Table) -> Evaluated:
    """Compare a result with the truth.

    Parameters
    ----------
    place
        Directory of a finished run of dedup, regroup, families or pairs; or a table of pairs, such as that of
        neighbours, or of groups, such as that of groups. Pairs without rows are of two sets if their columns are
        ``left_id`` and ``right_id``, or the truth pairs an id with itself. Of a run with another set, a copy inside
        that set has one pair, with its most similar document.
    truth
        Pairs: two columns of ids, and one such as ``match`` if some of the pairs are false. Groups: columns ``id`` and
        ``group``.
    """
    table, name = (truth, "the given table") if isinstance(truth, pa.Table) else (_table(truth), str(truth))
    reported = _of_run(place) if place.is_dir() else _of_table(_table(place), place, table)
    known, n_unknown, reported = _truth(table, name, reported)
    evaluations = list[Evaluation]()
    if reported.left is not None:
        between = known.between(reported.left, reported.right, reported.score, reported.texts)
        if reported.is_one_set:
            nearest = 0.0 if reported.score_name == DISTANCE else 1.0
            between += known.within(reported.texts[0], np.full(len(reported.texts[0]), nearest))
        evaluations.append(_evaluation("reported", reported.score_name, between, known.n_true))
    if reported.group is not None:
        within = known.within(reported.group, reported.group_score)
        evaluations.append(_evaluation("in one group", reported.group_score_name, within, known.n_true))
    kind = "groups" if isinstance(known, LabelledGroups) else "pairs" if known.is_closed else "judged pairs"
    return Evaluated(
        what=str(place),
        truth=name,
        truth_kind=kind,
        n_unknown=n_unknown if reported.is_complete else 0,
        evaluations=evaluations,
    )


def _evaluation(pairs: str, score: str, tally: ScoredPairs, n_true: int) -> Evaluation:
    is_counted = (tally.n_reported > 0) | (tally.n_true > 0)
    scores = -tally.score if score == DISTANCE else tally.score
    counted = ScoredPairs(scores[is_counted], tally.n_reported[is_counted], tally.n_true[is_counted])
    curve = curve_of(counted, n_true)
    nothing = CurvePoint(0.0, 0, 0, 1.0, 0.0 if n_true else 1.0, 0.0)
    total, best, points = (curve or [nothing])[-1], best_of(curve) or nothing, thinned(curve)
    if score == DISTANCE:
        total, best, *points = (_at_distance(point) for point in (total, best, *points))
    return Evaluation(pairs=pairs, score=score, n_true=n_true, total=total, best=best, curve=points)


def _at_distance(point: CurvePoint) -> CurvePoint:
    return CurvePoint(0.0 - point.threshold, point.n_reported, point.n_true, point.precision, point.recall, point.f1)


def _of_run(directory: Path) -> _Reported:
    manifest = read_results(directory)
    command = manifest.get("command")
    if command not in ("dedup", "regroup", "families", "pairs", FAMILIES_OF_COLLECTION):
        raise ParameterError(
            f"{directory} holds results of nearkin {command}. Evaluate a run of nearkin dedup, regroup, families or "
            "pairs, or a table of pairs or groups."
        )
    with damage_of(directory):
        if command == FAMILIES_OF_COLLECTION:
            families = parquet.read_table(directory / "families.parquet")
            return _of_table(families, directory, families)
        documents = parquet.read_table(directory / "documents.parquet")
        pairs = parquet.read_table(directory / "pairs.parquet")
        names = documents["name"].combine_chunks()
        if command == "pairs":
            is_left = pc.equal(documents["side"], "left").combine_chunks()
            sides = (names.filter(is_left), names.filter(pc.invert(is_left)))
            left, right = (pairs[name].to_numpy() for name in ("left_row", "right_row"))
            return _Reported(
                ids=sides, texts=(np.arange(len(sides[0])), np.arange(len(sides[1]))), left=left, right=right,
                score=pairs["cosine"].to_numpy(), score_name="cosine",
            )  # fmt: skip
        measure = MEASURES[manifest["parameters"]["measure"]]
        score = np.max([pairs[name].to_numpy() for name in measure.columns], axis=0)
        if manifest.get("against"):
            others = parquet.read_table(directory / "against.parquet")
            matched = others.filter(others["most_similar_row"].is_valid())  # a copy inside the other set has no pair
            left = np.concatenate([pairs["row_a"].to_numpy(), matched["most_similar_row"].to_numpy()]).astype(np.int64)
            right = np.concatenate([pairs["row_b"].to_numpy(), matched["row"].to_numpy()]) - len(documents)
            score = np.concatenate([score, matched["similarity"].to_numpy()])
            n_right = len(others)
            both, first = np.unique(left * n_right + right, return_index=True)
            return _Reported(
                ids=(names, others["name"].combine_chunks()), texts=(np.arange(len(names)), np.arange(n_right)),
                left=both // max(1, n_right), right=both % max(1, n_right), score=score[first], score_name=measure.name,
            )  # fmt: skip
        rows = np.arange(len(documents))
        texts = _filled(documents["copy_of_row"], rows)
        left, right = (texts[pairs[name].to_numpy()] for name in ("row_a", "row_b"))
        keep = left != right  # pairs of exact copies are counted by their common text
        return _Reported(
            ids=(names, names), texts=(texts, texts), left=np.minimum(left, right)[keep],
            right=np.maximum(left, right)[keep], score=score[keep], score_name=measure.name,
            group=_filled(documents["group_row"], rows),
            group_score=_filled(documents["similarity_to_principal"], np.zeros(len(rows))),
            group_score_name="similarity_to_principal",
        )  # fmt: skip


def _filled(column: pa.ChunkedArray, values: Any) -> Any:
    return np.where(column.is_null().to_numpy(), values, column.fill_null(0).to_numpy())


def _of_table(table: pa.Table, place: Path, truth: pa.Table) -> _Reported:
    score_name = next((name for name in _SCORES if name in table.column_names), "")
    score = table[score_name].cast(pa.float64()).to_numpy() if score_name else np.ones(len(table))
    for columns in _PAIR_COLUMNS:
        if set(columns) <= set(table.column_names):
            sides = [_ids(table[name], place) for name in columns]
            is_one_set = columns == ("id_a", "id_b") and not _has_pairs_across(table, truth)
            ids = [pa.chunked_array(sides).unique()] * 2 if is_one_set else [side.unique() for side in sides]
            a, b = (pc.index_in(side, value_set=of).to_numpy().astype(np.int64) for side, of in zip(sides, ids))
            if is_one_set:
                a, b, score = np.minimum(a, b)[a != b], np.maximum(a, b)[a != b], score[a != b]
            best = np.argsort(score if score_name == DISTANCE else -score, kind="stable")
            n_right = max(1, len(ids[1]))
            pairs, first = np.unique((a * n_right + b)[best], return_index=True)
            texts = np.arange(len(ids[0]))
            return _Reported(
                ids=(ids[0], ids[1]), texts=(texts, texts if is_one_set else np.arange(len(ids[1]))),
                left=pairs // n_right, right=pairs % n_right, score=score[best][first], score_name=score_name,
                is_complete=False,
            )  # fmt: skip
    id_name, group_name = _column(table, ("name", *ID_NAMES)), _column(table, _GROUP_NAMES)
    if id_name is None or group_name is None:
        names = one_of([" and ".join(columns) for columns in _PAIR_COLUMNS])
        raise ParameterError(f"{place} must have the columns {names}, or id and group. It has {table.column_names}.")
    ids, group = _ids(table[id_name], place), _group_numbers(table[group_name])
    has_none = group < 0
    group[has_none] = group.max(initial=-1) + 1 + np.arange(has_none.sum())
    return _Reported(
        ids=(ids, ids), texts=(np.arange(len(ids)),) * 2, group=group, group_score=score, group_score_name=score_name,
        is_complete=False,
    )  # fmt: skip


def _has_pairs_across(table: pa.Table, truth: pa.Table) -> bool:
    """Whether pairs are of two sets: in one, the second document has the larger row, and none is paired with itself."""
    if not {"row_a", "row_b"} <= set(table.column_names):
        is_pairs = truth.num_columns > 1 and _column(truth, _GROUP_NAMES) is None
        a, b = (_characters(truth[name]) for name in truth.column_names[:2]) if is_pairs else ([], [])
        return is_pairs and bool(pc.any(pc.equal(a, b)).as_py())
    row_a, row_b = (table[name].cast(pa.int64()) for name in ("row_a", "row_b"))
    return bool(pc.any(pc.greater_equal(row_a, row_b)).as_py())


def _group_numbers(column: pa.ChunkedArray) -> I64:
    names = _characters(column)
    names = pc.if_else(pc.equal(names, ""), pa.scalar(None, names.type), names)
    numbers: I64 = names.dictionary_encode().indices.fill_null(-1).to_numpy().astype(np.int64)
    return numbers


def _truth(table: pa.Table, name: str, reported: _Reported) -> tuple[Truth, int, _Reported]:
    """Read the truth; ids that only the truth has become documents without pairs: their pairs are missed."""
    group_name, id_name = _column(table, _GROUP_NAMES), _column(table, ID_NAMES)
    has_pairs = any(set(columns) <= set(table.column_names) for columns in _PAIR_COLUMNS)
    if group_name is not None and id_name is not None and not has_pairs:
        ids = _ids(table[id_name], name)
        if len(ids.unique()) < len(ids):
            raise SourceError(f"{name} has more than one row of a document. Each must be in one group.")
        if not (reported.is_one_set or reported.is_complete):
            raise SourceError(f"{name} has groups, but the result is pairs of two sets: list the true pairs.")
        n_unknown = _n_unknown(ids, name, reported)
        reported = reported.with_more(ids) if reported.is_one_set else reported
        return _labels(_group_numbers(table[group_name]), ids, reported), n_unknown, reported
    if table.num_columns < 2:
        raise SourceError(f"{name} must have two columns of ids, or columns id and group. It has {table.column_names}.")
    header, sides = table.column_names[:2], [_ids(table[column], name) for column in table.column_names[:2]]
    if all(pc.index(side, column).as_py() >= 0 for side, column in zip(reported.ids, header, strict=True)):
        raise SourceError(f"{name} begins with two ids. Its first line must name the columns.")
    n_unknown = _n_unknown(pa.chunked_array(sides).unique(), name, reported)
    reported = reported.with_more(*sides)
    return _judged_pairs(table, name, sides, reported), n_unknown, reported


def _n_unknown(ids: pa.Array, name: str, reported: _Reported) -> int:
    n_known = pc.sum(pc.is_in(ids, value_set=reported.all_ids)).as_py() or 0
    if not n_known:
        raise SourceError(f"None of the ids of {name} is among the documents of the result.")
    return len(ids) - n_known


def _labels(labels: I64, ids: pa.Array, reported: _Reported) -> LabelledGroups:
    sides = []
    for side in reported.ids[: 1 if reported.is_one_set else 2]:
        rows = pc.index_in(ids, value_set=side)
        is_there = rows.is_valid().to_numpy(zero_copy_only=False)
        labelled = np.full(len(side), -1, np.int64)
        labelled[rows.drop_null().to_numpy()] = labels[is_there]
        sides.append(labelled)
    n = int(labels.max(initial=-1)) + 1
    sizes = [np.bincount(side[side >= 0], minlength=n) for side in sides]
    n_true = (sizes[0] * (sizes[0] - 1) // 2).sum() if len(sides) == 1 else (sizes[0] * sizes[1]).sum()
    return LabelledGroups(sides[0], sides[-1], int(n_true))


def _judged_pairs(table: pa.Table, name: str, sides: Sequence[pa.Array], reported: _Reported) -> JudgedPairs:
    match_name = _column(table.select(table.column_names[2:]), _MATCH_NAMES)
    is_true = np.ones(len(table), bool) if match_name is None else _verdicts(table[match_name], name)
    a, b = (
        pc.index_in(column, value_set=ids).to_numpy().astype(np.int64)
        for column, ids in zip(sides, reported.ids, strict=True)
    )
    if reported.is_one_set:
        a, b, is_true = np.minimum(a, b)[a != b], np.maximum(a, b)[a != b], is_true[a != b]
    (left, right), first = np.unique(np.stack([a, b]), axis=1, return_index=True)
    return JudgedPairs(left, right, is_true[first], match_name is None, int(is_true[first].sum()))


def _verdicts(column: pa.ChunkedArray, name: str) -> Any:
    values = [str(value).strip().lower() for value in column.to_pylist()]
    if unknown := set(values) - {*_YES, *_NO}:
        raise SourceError(f"{name}: a verdict must be one of {', '.join((*_YES, *_NO[:-1]))}. Got: {min(unknown)}.")
    return np.isin(values, _YES)


def _column(table: pa.Table, usual: Sequence[str]) -> str | None:
    names = {plain_name(name): name for name in table.column_names}
    return next((names[name] for name in usual if name in names), None)


def _ids(column: pa.ChunkedArray, place: object) -> pa.LargeStringArray:
    if column.null_count:
        raise SourceError(f"{place} has rows without an id.")
    return _characters(column)


def _characters(column: pa.ChunkedArray) -> pa.LargeStringArray:
    column = column.combine_chunks()
    return ids_of_table(column) if holds_characters(column.type) else column.cast(pa.large_string())


def _table(path: Path) -> pa.Table:
    if path.suffix == ".parquet":
        try:
            return parquet.read_table(path)
        except parquet.UNREADABLE as error:
            raise SourceError(f"{path}: {parquet.why_unreadable(path, error)}.") from error
    sheet = read_sheet(path, "utf-8", lambda names: range(len(names)))
    rows = range(len(sheet.rows))
    columns = {name: [sheet.text(place, row) for row in rows] for place, name in enumerate(sheet.names)}
    return pa.table({name: pa.array(values, pa.large_string()) for name, values in columns.items()})
