"""Pairs of a finished run, in pages: the most similar first, with names, matching words, texts and decisions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import ParameterError, RefusedError, RunError, UnknownDocumentError
from nearkin.formats import parquet
from nearkin.manifests.pairs import SIDES, PairsManifest, Side
from nearkin.manifests.stored import Stored
from nearkin.records import F64, I64, U64
from nearkin.reports.pairs import TermRow
from nearkin.runs.files import locked, read_checked_json, write_checked_json
from nearkin.runs.progress import Silent
from nearkin.runs.run import MANIFEST, digest_of
from nearkin.stages.search.stretches import keys_of, rows_of
from nearkin.workflows.pairing.reporting import pairs_at
from nearkin.workflows.reading.rereading import Reread, reread

MAX_PAIRS = 5_000_000
"""Maximum number of pairs of a run that is shown in pages; their rows and cosines are kept in memory."""
MAX_INPUT_BYTES = 256 << 20
"""Maximum size of a side whose texts are shown; its files are read again."""
MAX_CHARACTERS = 2_000
"""Number of characters of a text that are shown."""
_NO_ROWS = np.zeros(0, np.int64)
Shown = Literal["all", "undecided", "accepted", "rejected"]
_PAIRS, _DOCUMENTS = "pairs.parquet", "documents.parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOfRun:
    """A pair with its names, words and decision; the words that contribute most first."""

    rows: Rows
    left: str
    right: str
    cosine: float
    terms: tuple[TermRow, ...]
    decision: PairDecision | None


class ShownText(NamedTuple):
    """The beginning of a text, and the number of characters that follow."""

    text: str
    n_more: int


class PairsOfRun:
    """Pairs of a finished run of ``nearkin pairs``."""

    def __init__(self, folder: Path, manifest: PairsManifest) -> None:
        self.folder, self.manifest = folder, manifest
        self.decisions = StoredPairDecisions(folder)
        self._reading, self._kept = threading.Lock(), dict[Side, dict[int, ShownText]](left={}, right={})

    def select(self, shown: Shown) -> I64:
        """Return the places in ``pairs.parquet`` of the pairs to show, the most similar first."""
        keys, order = self._keys, self._order
        if shown == "all":
            return order
        wanted = [decision.rows for decision in self.decisions.all().values() if shown in ("undecided", decision.state)]
        rows = np.array(wanted, np.int64).reshape(-1, 2)
        is_in = np.isin(keys[order], keys_of(rows[:, 0], rows[:, 1]))
        return order[~is_in if shown == "undecided" else is_in]

    def pairs(self, places: I64) -> list[PairOfRun]:
        """Return the pairs at some places, in their order."""
        ascending, back = np.unique(places, return_inverse=True)
        with parquet.open_table(self.folder / _PAIRS) as file:
            shown_pairs = pairs_at(file, ascending).to_pylist()
        decisions, (left, right) = self.decisions.all(), self._names
        made = [
            PairOfRun(
                rows=(rows := (pair["left_row"], pair["right_row"])),
                left=left[rows[0]].as_py(),
                right=right[rows[1]].as_py(),
                cosine=pair["cosine"],
                terms=tuple(TermRow(term["term"], term["left_term"], term["share"]) for term in pair["terms"]),
                decision=decisions.get(rows),
            )
            for pair in shown_pairs
        ]
        return [made[place] for place in back.tolist()]

    def rows(self, places: I64) -> tuple[I64, I64]:
        """Return the rows of the left and of the right documents."""
        return rows_of(self._keys[places])

    def names(self, rows: Rows) -> tuple[str, str]:
        """Return the names of the documents of a pair."""
        if min(rows) < 0 or max(rows) >= 1 << 32 or not np.isin(keys_of(*map(np.asarray, rows)), self._keys).all():
            raise UnknownDocumentError(f"The run has no pair of the left row {rows[0]} and the right row {rows[1]}.")
        left, right = self._names
        return left[rows[0]].as_py(), right[rows[1]].as_py()

    def table(self, shown: Shown) -> pa.Table:
        """Return a row for each pair to show, with its decision."""
        places, (left, right) = self.select(shown), self._names
        with parquet.open_table(self.folder / _PAIRS) as file:
            pairs = file.read(columns=["left_row", "right_row", "cosine", "rank"]).take(pa.array(places))
        decided = self.decisions.all()
        rows = zip(pairs["left_row"].to_pylist(), pairs["right_row"].to_pylist(), strict=True)
        decisions = [decided.get(row) for row in rows]
        return pa.table(
            {
                "left": left.take(pairs["left_row"].combine_chunks()),
                "right": right.take(pairs["right_row"].combine_chunks()),
                "cosine": pairs["cosine"],
                "rank": pairs["rank"],
                "decision": pa.array(
                    [None if decision is None else decision.state for decision in decisions], pa.string()
                ),
                "by": pa.array([None if decision is None else decision.by for decision in decisions], pa.string()),
                "at": pa.array([None if decision is None else decision.at for decision in decisions], pa.string()),
            }
        )

    def texts(self, side: Side, rows: set[int], soon: I64 = _NO_ROWS) -> Mapping[int, ShownText]:
        """Return the beginnings of texts of a side, by their rows; the files are read again."""
        read = self.manifest.side(side)
        again = reread(read.inputs, read.encoding, read.reading, threads=1, progress=Silent())
        if again.size_bytes > MAX_INPUT_BYTES:
            raise ParameterError(f"The {side} side has more than {MAX_INPUT_BYTES >> 20} MiB; its texts are not shown.")
        with self._reading:  # others wait, and find what they need
            kept = self._kept[side]
            if rows - kept.keys():
                self._kept[side] = kept = _read_texts(again, rows | set(soon.tolist()))
            return {row: kept[row] for row in rows if row in kept}

    @cached_property
    def _columns(self) -> tuple[U64, F64]:
        with parquet.open_table(self.folder / _PAIRS) as file:
            if file.metadata.num_rows > MAX_PAIRS:
                raise ParameterError(f"The page shows runs with up to {MAX_PAIRS:,} pairs. Use {self.folder / _PAIRS}.")
            read = file.read(columns=["left_row", "right_row", "cosine"])
        left, right, cosine = (read[name].to_numpy() for name in read.column_names)
        return keys_of(left, right), cosine

    @property
    def _keys(self) -> U64:
        return self._columns[0]

    @cached_property
    def _order(self) -> I64:
        return np.argsort(-self._columns[1], kind="stable").astype(np.int64)

    @cached_property
    def _names(self) -> tuple[pa.LargeStringArray, pa.LargeStringArray]:
        read = parquet.read_table(self.folder / _DOCUMENTS, ["side", "row", "name"])
        names = []
        for side in SIDES:
            documents = read.filter(pc.equal(read["side"], side)).sort_by("row")
            names.append(documents["name"].combine_chunks())
        return names[0], names[1]


def _read_texts(again: Reread, rows: set[int]) -> dict[int, ShownText]:
    """Read sources up to the last of some documents."""
    texts = dict[int, ShownText]()
    for here, batch, _ in again.batches(Silent(), np.array(sorted(rows), np.int64)):
        for row, raw in zip(here.tolist(), batch["text"].to_pylist(), strict=True):
            text = (raw or b"").decode("utf-8", "replace")
            texts[row] = ShownText(text[:MAX_CHARACTERS], max(0, len(text) - MAX_CHARACTERS))
        if len(texts) == len(rows):
            break
    return texts


DECISIONS = "pair-decisions.json"
PairState = Literal["accepted", "rejected"]
Rows = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDecision(Stored):
    """Latest decision on a pair; ``at`` is UTC, ISO 8601."""

    left_row: int
    right_row: int
    left: str
    right: str
    state: PairState
    by: str
    at: str

    @property
    def rows(self) -> Rows:
        """Rows of the pair."""
        return self.left_row, self.right_row


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionsOfRun(Stored):
    """All decisions on the pairs of a run; ``run`` is the SHA-256 of its manifest."""

    version: int = 1
    run: str
    decisions: tuple[PairDecision, ...] = ()


class StoredPairDecisions:
    """Decisions on the pairs of a finished run; they are read again for each query."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._path, self._lock = folder, folder / DECISIONS, threading.Lock()

    def all(self) -> Mapping[Rows, PairDecision]:
        """Return the decisions, by the rows of the pairs."""
        return {decision.rows: decision for decision in self._read().decisions}

    def decide(
        self,
        rows: Rows,
        names: tuple[str, str],
        state: PairState | None,
        *,
        by: str,
        may_replace: Callable[[str], bool] = lambda by: True,
    ) -> None:
        """Store a decision; None undoes an earlier one.

        Parameters
        ----------
        may_replace
            Says whether a decision of somebody may be replaced, and taken back.
        """
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        with self._lock, locked(self._folder / f".{DECISIONS}.lock", other="another time"):
            found = self._read()
            former = next((decision for decision in found.decisions if decision.rows == rows), None)
            if former is not None and not may_replace(former.by):
                raise RefusedError(403, f"{former.by} {former.state} this pair. An admin can change that.")
            kept: Sequence[PairDecision] = [decision for decision in found.decisions if decision.rows != rows]
            if state is not None:
                made = PairDecision(
                    left_row=rows[0], right_row=rows[1], left=names[0], right=names[1], state=state, by=by, at=at
                )
                kept = [*kept, made]
            ordered = tuple(sorted(kept, key=lambda one: one.rows))
            write_checked_json(self._path, replace(found, decisions=ordered).as_stored())

    def _read(self) -> DecisionsOfRun:
        run = digest_of(self._folder / MANIFEST)
        try:
            decisions_of_run = DecisionsOfRun.of(read_checked_json(self._path))
        except FileNotFoundError:
            return DecisionsOfRun(run=run)
        except msgspec.ValidationError as error:
            raise RunError(f"{self._path} is damaged. Restore it, or remove it and decide again.") from error
        if decisions_of_run.version != 1:
            raise RunError(f"{self._path} has format {decisions_of_run.version}; this version of Nearkin reads 1.")
        if decisions_of_run.run != run:
            raise RunError(f"{self._path} belongs to an earlier run in this directory. Move it away, and decide again.")
        return decisions_of_run
