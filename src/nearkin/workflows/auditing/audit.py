"""Audit of a run or a collection."""

from __future__ import annotations

from pathlib import Path

from nearkin.errors import ParameterError, RunError
from nearkin.manifests.dedup import FAMILIES_OF_COLLECTION, DedupManifest
from nearkin.manifests.pairs import PairsManifest
from nearkin.runs.damage import damage_of
from nearkin.runs.finished import MANIFEST, WORK, read_results
from nearkin.runs.progress import Progress, Silent
from nearkin.store.place import FILE, Place
from nearkin.workflows.auditing.audited import Audited, AuditOptions
from nearkin.workflows.auditing.collection import audit_collection
from nearkin.workflows.auditing.pairs import audit_pairs
from nearkin.workflows.auditing.reported import AGAIN
from nearkin.workflows.auditing.run import audit_run
from nearkin.workflows.reading.memory_documents import NONE_GIVEN, GivenAgain

Manifest = DedupManifest | PairsManifest
AUDITED: dict[str, type[Manifest]] = {
    command: kind for kind in (DedupManifest, PairsManifest) for command in kind.commands
}
"""Manifests of runs that can be audited, by command."""
RUNS = "nearkin dedup, regroup and pairs, and of nearkin families on files"
"""The same runs, for people."""


def audit(
    place: str | Path,
    options: AuditOptions | None = None,
    progress: Progress | None = None,
    in_memory: GivenAgain = NONE_GIVEN,
) -> Audited:
    """Measure the recall of a finished run or of a collection's searches, by comparing a sample with everything.

    Parameters
    ----------
    place : str or Path
        Directory of a finished run, or a collection, as for `Collection.open`.
    options : AuditOptions, optional
    progress : Progress, optional
    in_memory : mapping of str to StoredSource
        Documents of the run that were in memory.

    Raises
    ------
    RunError
        There is neither; or the run is unfinished, damaged, or of a command whose results cannot be audited.
    SourceError
        An input file of the run is missing or changed.
    ParameterError
        Options for collections were given for a run.
    CollectionError
        The collection cannot be used.
    """
    options, progress = options or AuditOptions(), progress or Silent()
    if is_collection(place):
        return audit_collection(place, options, progress)
    directory = Path(place)
    manifest = _manifest(directory)
    if options.tolerance is not None:
        raise ParameterError(
            f"The run in {directory} is audited at its own threshold. Only collections take 'measure' "
            f"and {options.tolerance.parameter!r}."
        )
    if isinstance(manifest, PairsManifest):
        return audit_pairs(directory, manifest, options, progress, in_memory)
    return audit_run(directory, manifest, options, progress, in_memory)


def is_collection(place: str | Path) -> bool:
    """Whether a place is a collection, not the directory of a run."""
    directory = Place.parse(place).directory
    return directory is None or (directory / FILE).exists()


def what_holds(command: object) -> str:
    """Say which results a directory holds.

    Examples
    --------
    >>> what_holds("sign"), what_holds("families COLLECTION")
    ('holds the results of nearkin sign', 'holds the form groups of a collection')
    """
    if command == FAMILIES_OF_COLLECTION:
        return "holds the form groups of a collection"
    return f"holds the results of nearkin {command}"


def _manifest(directory: Path) -> Manifest:
    """Return the manifest of a finished run."""
    if not (directory / MANIFEST).exists() and not (directory / WORK).exists():
        why = f"{MANIFEST} and {FILE} are missing" if directory.exists() else "there is no such directory"
        raise RunError(f"{directory} holds neither a finished run nor a collection: {why}.")
    stored = read_results(directory)
    command = stored.get("command")
    if not isinstance(command, str) or command not in AUDITED:
        audited = ", which cannot be audited" if isinstance(command, str) else ""
        raise RunError(f"{directory} {what_holds(command)}{audited}. Audit a collection, or the results of {RUNS}.")
    with damage_of(directory, AGAIN):
        return AUDITED[command].of(stored)
