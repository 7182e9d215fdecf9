"""State of a search, saved from time to time, so that an interrupted search can continue."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from nearkin.errors import ResumeError, RunError
from nearkin.nouns import counted
from nearkin.runs.checkpoint import load_arrays, save_arrays
from nearkin.workflows.pairing.verifying import Verified, Verifier

_EVERY_S = 60.0
SEARCH_FILE = "search.txt"
"""File in which a cluster keeps the method of a search."""
OF_VECTORS = "vectors, by documents on the right"
"""Units of a search by vectors, as `KeptSearch.load` takes them."""


class KeptSearch:
    """File of the results of a search so far.

    Parameters
    ----------
    path : Path or None
        None: nothing is saved.
    run : str
        Digest of the run, which alone continues with the file.
    """

    def __init__(self, path: Path | None, run: str = "") -> None:
        self._path = path
        self._run = run
        self._last = time.monotonic()
        self._units = ""
        self._documents: str | None = None

    def load(self, verifier: Verifier, units: str) -> tuple[int, int]:
        """Continue a saved search; return its numbers of finished units of work and of comparisons.

        Parameters
        ----------
        verifier : Verifier
        units : str
            The method and its unit of work; a search with other units cannot continue.

        Raises
        ------
        ResumeError
            The saved search was another one, or its work was divided differently by another version; or the documents
            have changed.
        RunError
            The file is damaged, or that of another run.
        """
        self._units = units
        if self._path is None or not self._path.exists():
            return 0, 0
        stored = load_arrays(self._path)
        check_run(self._path, str(stored.get("run", "")), self._run)
        check_same(self._path, str(stored["units"]), units)
        if str(stored["documents"]) != self._digest_of(verifier):
            raise ResumeError(
                "The interrupted search cannot be resumed: the documents have changed since it began, although the "
                "sizes of their files have not. Start again with --overwrite instead of --resume. "
                f"See {self._path}."
            )
        verifier.go_on(Verified(stored["keys"], stored["cosines"], int(stored["n_candidates"])))
        return int(stored["n_done"]), int(stored["n_comparisons"])

    def in_words(self) -> str | None:
        """Return the progress of an interrupted search; None if no search is saved."""
        if self._path is None or not self._path.exists():
            return None
        stored = load_arrays(self._path)
        found, done = len(stored["keys"]), int(stored["n_comparisons"])
        return f"{counted(done, 'comparison')} made, {counted(found, 'pair')} found"

    def save(self, n_done: int, n_comparisons: int, verifier: Verifier) -> None:
        """Save the state if it is time."""
        if self._path is None or time.monotonic() - self._last < _EVERY_S:
            return
        verified = verifier.verified
        state = {"n_candidates": verified.n_candidates, "n_done": n_done, "n_comparisons": n_comparisons}
        told = {"units": self._units, "documents": self._digest_of(verifier), "run": self._run}
        arrays = {name: np.array(one) for name, one in {**state, **told}.items()}
        save_arrays(self._path, {"keys": verified.keys, "cosines": verified.cosines, **arrays})
        self._last = time.monotonic()

    def _digest_of(self, verifier: Verifier) -> str:
        """Return the digest of the searched vectors, computed only for a search that is long enough to be saved."""
        if self._documents is None:
            self._documents = verifier.vectors.sha256()
        return self._documents


def check_run(path: Path, was: str, run: str) -> None:
    """Check that a work file was written by the run with this digest.

    Raises
    ------
    RunError
    """
    if was != run:
        raise RunError(
            f"{path} belongs to another run. Start again with --overwrite instead of --resume, or put back the file of "
            "this run."
        )


def check_same(path: Path, was: str, units: str) -> None:
    """Check that a search continues with the same method.

    Raises
    ------
    ResumeError
    """
    if was != units:
        raise ResumeError(
            f"The interrupted search cannot be resumed: it was {was} and is now {units}, which another "
            f"version of Nearkin may have planned. Start again with --overwrite instead of --resume. See {path}."
        )
