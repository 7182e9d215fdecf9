"""What a place holds, and who audits it."""

from __future__ import annotations

import json
from pathlib import Path

from nearkin.errors import ParameterError, RunError
from nearkin.manifests.dedup import DedupManifest
from nearkin.manifests.pairs import PairsManifest
from nearkin.runs.directory import MANIFEST, WORK, check_results
from nearkin.runs.files import text_of
from nearkin.runs.progress import Progress, Silent
from nearkin.store.place import FILE, Place
from nearkin.workflows.auditing.audited import Audited, AuditOptions
from nearkin.workflows.auditing.collection import audit_collection
from nearkin.workflows.auditing.pairs import audit_pairs
from nearkin.workflows.auditing.reported import damaged
from nearkin.workflows.auditing.run import audit_run

Manifest = DedupManifest | PairsManifest
AUDITED: dict[str, type[Manifest]] = {
    command: kind for kind in (DedupManifest, PairsManifest) for command in kind.commands
}
"""The manifests of runs that can be audited, by their commands."""


def audit(place: str | Path, options: AuditOptions | None = None, progress: Progress | None = None) -> Audited:
    """The recall of a finished run or of the searches of a collection, by comparing a sample with everything.

    Parameters
    ----------
    place : str or Path
        The directory of a finished run; or a collection, as `Collection.open` takes it.
    options : AuditOptions, optional
    progress : Progress, optional

    Raises
    ------
    RunError
        There is neither; the run is not finished, damaged, or of a command whose results are not audited.
    SourceError
        A file of the run's input is gone, or is not what it was.
    ParameterError
        Options of a collection for a run.
    CollectionError
        The collection cannot be used.
    """
    options, progress = options or AuditOptions(), progress or Silent()
    directory = Place.parse(place).directory
    if directory is None or (directory / FILE).exists():
        return audit_collection(place, options, progress)
    manifest = _manifest(directory)
    if options.tolerance is not None:
        raise ParameterError(
            f"{directory} is a run, and is audited at its own threshold: 'method', '{options.tolerance.parameter}' and "
            "the like are for collections.",
            named=("method", options.tolerance.parameter),
        )
    if isinstance(manifest, PairsManifest):
        return audit_pairs(directory, manifest, options, progress)
    return audit_run(directory, manifest, options, progress)


def _manifest(directory: Path) -> Manifest:
    """Of a finished run."""
    try:
        stored = json.loads(text_of(directory / MANIFEST))
    except (FileNotFoundError, NotADirectoryError) as error:
        if (directory / WORK).exists():
            raise RunError(f"The run in {directory} is not finished: run the same command with --resume.") from error
        raise RunError(
            f"{directory} holds neither a finished run nor a collection: {MANIFEST} and {FILE} are not there."
        ) from error
    except (OSError, ValueError) as error:
        raise RunError(f"{directory / MANIFEST} cannot be read ({error}). Run the command again.") from error
    if not isinstance(stored, dict):
        raise RunError(f"{directory / MANIFEST} is no manifest of Nearkin.")
    check_results(directory, stored)
    command = stored.get("command")
    if not isinstance(command, str) or command not in AUDITED:
        raise RunError(
            f"{directory} holds the results of nearkin {command}, which are not audited. Those of "
            f"{', '.join(AUDITED)} are, and collections."
        )
    try:
        return AUDITED[command].of(stored)
    except TypeError as error:
        raise damaged(directory, f"TypeError: {error}") from error
