"""Where a search stands, kept from time to time, so that an interrupted one goes on."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from nearkin.errors import ResumeError
from nearkin.nouns import counted
from nearkin.runs.checkpoint import load_arrays, save_arrays
from nearkin.workflows.pairing.verifying import Verified, Verifier

_EVERY_S = 60.0


class KeptSearch:
    """A file that holds what a search has found so far.

    Parameters
    ----------
    path : Path or None
        None: nothing is kept.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._last = time.monotonic()
        self._units = ""

    def load(self, verifier: Verifier, units: str) -> tuple[int, int]:
        """Go on where the search stood: units of work that are done, and comparisons that were made.

        Parameters
        ----------
        verifier : Verifier
        units : str
            The way, and what a unit of its work is: those of another one cannot be counted on.

        Raises
        ------
        ResumeError
            The search was another one, or of a Nearkin that cut it in another way.
        """
        self._units = units
        if self._path is None or not self._path.exists():
            return 0, 0
        stored = load_arrays(self._path)
        check_same(self._path, str(stored["units"]), units)
        verifier.go_on(Verified(stored["keys"], stored["cosines"], int(stored["n_candidates"])))
        return int(stored["n_done"]), int(stored["n_comparisons"])

    def in_words(self) -> str | None:
        """How far an interrupted search had come; None if none is kept."""
        if self._path is None or not self._path.exists():
            return None
        stored = load_arrays(self._path)
        found, done = len(stored["keys"]), int(stored["n_comparisons"])
        return f"{counted(done, 'comparison')} made, {counted(found, 'pair')} found"

    def save(self, n_done: int, n_comparisons: int, verifier: Verifier) -> None:
        """Keep it, if it is time."""
        if self._path is None or time.monotonic() - self._last < _EVERY_S:
            return
        verified = verifier.verified
        state = {"n_candidates": verified.n_candidates, "n_done": n_done, "n_comparisons": n_comparisons}
        arrays = {name: np.array(one) for name, one in {**state, "units": self._units}.items()}
        save_arrays(self._path, {"keys": verified.keys, "cosines": verified.cosines, **arrays})
        self._last = time.monotonic()


def check_same(path: Path, was: str, units: str) -> None:
    """That a search goes on as it was begun.

    Raises
    ------
    ResumeError
    """
    if was != units:
        raise ResumeError(
            f"{path}: the search that was interrupted was {was!r}, and this one is {units!r}. Run the command again "
            "with --overwrite."
        )
