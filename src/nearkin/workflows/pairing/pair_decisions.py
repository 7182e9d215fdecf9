"""Decisions to accept or reject found pairs, in a file beside the results of the run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from nearkin.errors import RefusedError, RunError
from nearkin.manifests.stored import Stored
from nearkin.runs.directory import locked
from nearkin.runs.files import read_checked_json, write_checked_json
from nearkin.runs.finished import MANIFEST, digest_of

DECISIONS = "pair-decisions.json"
PairState = Literal["accepted", "rejected"]
Rows = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDecision(Stored):
    """Latest decision on a pair.

    Parameters
    ----------
    left_row, right_row : int
        Rows of the documents on their sides.
    left, right : str
        Their names.
    state : {"accepted", "rejected"}
    by : str
    at : str
        UTC, ISO 8601.
    """

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
    """Decisions on the pairs of a finished run; they are read again for each query.

    Parameters
    ----------
    folder : Path
        Directory of the run.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._path, self._lock = folder, folder / DECISIONS, threading.Lock()

    def all(self) -> Mapping[Rows, PairDecision]:
        """Return the decisions, by the rows of the pairs.

        Raises
        ------
        RunError
            The file was changed, or is about an earlier run in the same directory.
        """
        return {one.rows: one for one in self._read().decisions}

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
        rows : (int, int)
        names : (str, str)
        state : {"accepted", "rejected", None}
        by : str
        may_replace : callable
            Says whether a decision of somebody may be replaced, and taken back.

        Raises
        ------
        RefusedError
            It may not.
        RunError
            See `all`; or another process is writing.
        OutputError
            The file cannot be written.
        """
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        with self._lock, locked(self._folder / f".{DECISIONS}.lock", other="another time"):
            found = self._read()
            former = next((one for one in found.decisions if one.rows == rows), None)
            if former is not None and not may_replace(former.by):
                raise RefusedError(403, f"{former.by} {former.state} this pair. An admin can change that.")
            kept: Sequence[PairDecision] = [one for one in found.decisions if one.rows != rows]
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
            found = DecisionsOfRun.of(read_checked_json(self._path))
        except FileNotFoundError:
            return DecisionsOfRun(run=run)
        except TypeError as error:
            raise RunError(f"{self._path} is damaged. Restore it, or remove it and decide again.") from error
        if found.version != 1:
            raise RunError(f"{self._path} has format {found.version}; this version of Nearkin reads 1.")
        if found.run != run:
            raise RunError(f"{self._path} belongs to an earlier run in this directory. Move it away, and decide again.")
        return found
