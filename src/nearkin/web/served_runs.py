"""Finished runs that the service shows beside the collection: those that were named when it was started."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from nearkin.errors import RunError, UnknownDocumentError
from nearkin.manifests.dedup import DedupManifest
from nearkin.manifests.pairs import PairsManifest
from nearkin.paths import printable
from nearkin.runs.run import MANIFEST, read_results
from nearkin.workflows.auditing.audit import AUDITED, RUNS, what_holds
from nearkin.workflows.pairing.pairs_of_run import PairsOfRun

REPORT = "report.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedRun:
    """A finished run.

    Parameters
    ----------
    state
        What changes if the results are replaced.
    """

    number: int
    folder: Path
    manifest: DedupManifest | PairsManifest
    pairs: PairsOfRun | None
    state: tuple[int, ...]

    @classmethod
    def opened(cls, number: int, folder: Path) -> ServedRun:
        """Read the manifest of a run, and check that its tables are unchanged."""
        state, stored = _state(folder), read_results(folder)
        kind = AUDITED.get(str(stored.get("command")))
        if kind is None:
            shown = "Threads" if stored.get("command") == "threads" else "Groups"
            raise RunError(
                f"{folder} {what_holds(stored.get('command'))}. --run takes results of {RUNS}. The "
                f"{shown.lower()} of the collection are on the screen {shown}."
            )
        try:
            manifest = kind.of(stored)
        except msgspec.ValidationError as error:
            raise RunError(f"The run in {folder} is damaged: {error}. Run the command again.") from error
        pairs = PairsOfRun(folder, manifest) if isinstance(manifest, PairsManifest) else None
        return cls(number=number, folder=folder, manifest=manifest, pairs=pairs, state=state)

    @property
    def name(self) -> str:
        """Name of its directory, without the path."""
        return printable(self.folder.absolute().name)

    @property
    def has_report(self) -> bool:
        """Whether the run wrote a report page."""
        return (self.folder / REPORT).is_file()

    def facts(self) -> dict[str, object]:
        """Return what the manifest says, as JSON types."""
        manifest = self.manifest
        counts: dict[str, object]
        if isinstance(manifest, PairsManifest):
            documents = [manifest.left.n_documents, manifest.right.n_documents]
            counts = {"documents": documents, "pairs": manifest.counts.pairs}
        else:
            counts = {name: manifest.count(name) for name in ("documents", "kept", "groups", "pairs")}
        return {
            "run": self.number,
            "name": self.name,
            "command": manifest.command,
            "nearkin": manifest.nearkin,
            "threshold": manifest.threshold,
            **counts,
            "elapsed_s": round(sum(stage.elapsed_s for stage in manifest.stages), 1),
            "has_report": self.has_report,
            "has_pairs": self.pairs is not None,
        }

    def check_current(self) -> None:
        """Refuse a run whose results were replaced."""
        if _state(self.folder) != self.state:
            raise RunError(f"The run {self.name} was replaced since the service was started. Start it again.")


class ServedRuns:
    """The runs of a service."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self.all = tuple(ServedRun.opened(number, folder) for number, folder in enumerate(folders, 1))

    @property
    def of_pairs(self) -> tuple[ServedRun, ...]:
        """Those of ``nearkin pairs``."""
        return tuple(run for run in self.all if run.pairs is not None)

    def find(self, number: int | None) -> ServedRun:
        """Return a run by its number."""
        wanted = next((run for run in self.all if run.number == number), None)
        if wanted is None:
            raise UnknownDocumentError(f"There is no run {number}. The page Reports lists all of them.")
        wanted.check_current()
        return wanted


def _state(folder: Path) -> tuple[int, ...]:
    try:
        status = os.stat(folder / MANIFEST)
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns
