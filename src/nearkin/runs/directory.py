"""The directory of a run: results in it, what the run works with in ``.work`` until it is done."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nearkin.errors import OutputExistsError, ResumeError, RunError
from nearkin.formats.sealed import has_right_checksum
from nearkin.nouns import first_of
from nearkin.paths import check_output
from nearkin.runs.files import text_of, write_checked_json, write_json, writing

MANIFEST = "manifest.json"
LOCK = ".lock"
WORK = ".work"
TABLES = (
    "documents.parquet", "pairs.parquet", "groups.parquet", "against.parquet", "problems.parquet", "families.parquet",
    "families.csv", "pairs.tsv", "known.tsv", "report.html",
)  # fmt: skip
_CHECKED = ".parquet"
_IDENTITY = "run.json"
_MOVED = "kept.json"
_REPLACES = "replaces-results"
RESUME_HINT = "Finished work is kept; run the same command with --resume to continue."
"""The note on an interruption, or on too little memory, that ends a run of which something is kept."""


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """An output directory that belongs to one run.

    The manifest is written last: a directory with a manifest is whole. ``.work`` is there as long as the run is not.

    Parameters
    ----------
    path : Path
    is_resumable : bool
        Whether the command that it belongs to takes ``--resume``.
    """

    path: Path
    is_resumable: bool = True

    def __post_init__(self) -> None:
        """Refuse a place that cannot be written before anything is read.

        Raises
        ------
        OutputError
        """
        check_output(self.path)

    @property
    def work(self) -> Path:
        """Where intermediate files stand; removed when the run is done."""
        return self.path / WORK

    @property
    def manifest(self) -> Path:
        """The manifest's place."""
        return self.path / MANIFEST

    @property
    def is_unfinished(self) -> bool:
        """Whether a run was begun here and not ended."""
        return (not os.path.exists(self.manifest) or self._is_to_replace) and os.path.exists(self.work / _IDENTITY)

    def is_left_by(self, command: str) -> bool:
        """Whether a run of a command that cannot be gone on with was killed here, and left its work."""
        if self.manifest.exists() and not self._is_to_replace:
            return False
        identity = _json_of(self.work / _IDENTITY)
        return isinstance(identity, dict) and identity.get("command") == command

    @contextlib.contextmanager
    def claimed(self, identity: Mapping[str, object], *, resume: bool, overwrite: bool) -> Iterator[bool]:
        """Take the directory for one run, new or resumed, and keep other processes out while it lasts.

        Parameters
        ----------
        identity : mapping
            Whatever decides the result; a run is resumed only with the same.
        resume : bool
            Go on with the unfinished run that is here, if there is one.
        overwrite : bool
            Replace what an earlier run left here: an unfinished one at once, a finished one at `begin_results`.

        Yields
        ------
        bool
            Whether it goes on with an unfinished run.

        Raises
        ------
        OutputExistsError
            If the directory holds results or an unfinished run and neither is allowed, or holds files that no run made.
        ResumeError
            If the unfinished run was another one.
        """
        with writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        with locked(self.path / LOCK):
            is_resumed = self._prepare(identity, resume=resume, overwrite=overwrite)
            try:
                yield is_resumed
            except BaseException as error:
                self._forget_if_nothing_is_done()
                if isinstance(error, (KeyboardInterrupt, MemoryError)) and self.is_resumable and self.is_unfinished:
                    error.add_note(RESUME_HINT)
                raise

    def _prepare(self, identity: Mapping[str, object], *, resume: bool, overwrite: bool) -> bool:
        # through JSON, so that what is compared is what was stored
        wanted = json.loads(json.dumps(identity))
        if self.work.exists() and resume and (self._is_to_replace or not self.manifest.exists()):
            self._remove_leftovers()
            if (self.work / _IDENTITY).exists():
                self._check_identity(wanted)
            else:  # it ended before it began
                write_json(self.work / _IDENTITY, wanted)
            return True
        if overwrite and self._written() is None:
            self._remove_results()
        elif overwrite:  # they stay until there is something to replace them
            self._remove_leftovers()
            with writing(self.work):
                shutil.rmtree(self.work, ignore_errors=True)
        elif self.manifest.exists():
            done = "the results of a finished run: nothing is left to resume" if resume else "the results of a run"
            go_on = "--resume to go on with the run that replaces them, or " if self._is_to_replace else ""
            instead = "anew" if go_on else "them"
            raise OutputExistsError(
                f"{self.path} already holds {done}. Add {go_on}--overwrite to replace {instead}, or choose another "
                "--out."
            )
        elif self.work.exists():
            raise OutputExistsError(
                f"{self.path} holds an unfinished run. Add --resume to continue it, or --overwrite to start again."
            )
        elif others := [p.name for p in self.path.iterdir() if p.name != LOCK]:
            raise OutputExistsError(
                f"{self.path} is not empty ({first_of(sorted(others), 3)}) and not a run of Nearkin. "
                "Choose a new directory for --out."
            )
        with writing(self.work):
            self.work.mkdir()
            if self.manifest.exists():
                (self.work / _REPLACES).touch()
        write_json(self.work / _IDENTITY, wanted)
        return False

    @property
    def _is_to_replace(self) -> bool:
        """Whether an unfinished run is to replace the results that are still here."""
        return os.path.exists(self.work / _REPLACES)

    def begin_results(self) -> None:
        """Remove the results that this run replaces: call it before the first of the new ones is written.

        A run that fails before, or is interrupted, has lost nothing.
        """
        if self._is_to_replace:
            self._remove_files(self._written() or ())
            with writing(self.work):
                (self.work / _REPLACES).unlink()

    def _check_identity(self, wanted: Mapping[str, object]) -> None:
        stored = _json_of(self.work / _IDENTITY)
        was, now = _flattened(stored if isinstance(stored, dict) else {}), _flattened(wanted)
        if different := [name for name in sorted(was.keys() | now.keys()) if was.get(name) != now.get(name)]:
            changes = "; ".join(f"{name} was {was.get(name)} and is {now.get(name)}" for name in different[:3])
            raise ResumeError(
                f"The unfinished run in {self.path} cannot go on with this command: {changes}. "
                "Run it as it was begun, or start again with --overwrite."
            )

    def _remove_results(self) -> None:
        """Remove what a run wrote, and nothing else.

        The manifest goes first, so that what is half removed does not look whole.
        """
        written = self._written()
        is_a_run = written is not None or self.work.exists()
        if not is_a_run and any(p.name != LOCK for p in self.path.iterdir()):
            raise OutputExistsError(
                f"{self.path} is not a run of Nearkin; it is not overwritten. Choose a new directory for --out."
            )
        self._remove_leftovers()
        self._remove_files((*(written or ()), *self._moved()))
        with writing(self.path):
            if self.work.exists():
                shutil.rmtree(self.work)

    def _remove_files(self, names: Sequence[str]) -> None:
        """The manifest, the tables and other files of a run."""
        with writing(self.path):
            self.manifest.unlink(missing_ok=True)
            for name in (*TABLES, *names):
                (self.path / name).unlink(missing_ok=True)
            for folder in sorted((p for p in self.path.glob("kept/**/") if p.is_dir()), reverse=True):
                with contextlib.suppress(OSError):  # somebody else's files are in it: it stays
                    folder.rmdir()

    def _moved(self) -> tuple[str, ...]:
        """The kept files that an unfinished run was putting into their places."""
        return self._inside(_json_of(self.work / _MOVED))

    def _inside(self, names: object) -> tuple[str, ...]:
        """Of what should be a list of names of files of the directory, those that are: the list may be anybody's."""
        inside, found = self.path.resolve(), []
        for name in names if isinstance(names, list) else ():
            with contextlib.suppress(OSError, ValueError):
                if isinstance(name, str) and (inside / name).resolve().is_relative_to(inside):
                    found.append(name)
        return tuple(found)

    def _remove_leftovers(self) -> None:
        """What a process that was killed had begun to write; we hold the lock, so nobody is writing now."""
        for name in (*TABLES, MANIFEST):
            for leftover in self.path.glob(f".{name}.*.part"):
                leftover.unlink(missing_ok=True)

    def _written(self) -> tuple[str, ...] | None:
        """The files that the run in the directory says it wrote; None if there is no finished run of ours."""
        manifest = _json_of(self.manifest)
        if not isinstance(manifest, dict) or not {"nearkin", "command"} <= manifest.keys():
            return None
        return self._inside(manifest.get("files"))

    def _forget_if_nothing_is_done(self) -> None:
        """A run that failed before it wrote anything leaves no trace: the next one is not asked to resume it."""
        with contextlib.suppress(OSError):  # what went wrong before, too many open files say, is what is to be told
            own = (_IDENTITY, _REPLACES)
            if self.work.exists() and not any(p.is_file() and p.name not in own for p in self.work.rglob("*")):
                shutil.rmtree(self.work, ignore_errors=True)

    def finish(self, manifest: Mapping[str, object], *, kept: bool = False) -> None:
        """Put the kept corpus into its place, write the manifest, remove the work: from here on the run is done.

        A kept corpus that an interrupted run had begun to put there is whole, and belongs to the results.
        """
        files = [name for name in TABLES if (self.path / name).exists()]
        if kept or self._moved():
            files += self._place_kept()
        with writing(self.path):
            digests = {name: _digest(self.path / name) for name in files if name in TABLES and name.endswith(_CHECKED)}
        write_checked_json(self.manifest, {**manifest, "files": files, "digests": digests})
        shutil.rmtree(self.work, ignore_errors=True)

    @property
    def kept_aside(self) -> Path:
        """Where the kept corpus is written until all of it is whole."""
        return self.work / "kept"

    def _place_kept(self) -> list[str]:
        """Move the kept corpus out of the work; the names of its files."""
        names = sorted(str(p.relative_to(self.work)) for p in self.kept_aside.rglob("*") if p.is_file())
        already = self._moved()  # by a run that ended in the middle of this
        names = sorted({*names, *already})
        write_json(self.work / _MOVED, names)
        for name in names:
            target = self.path / name
            with writing(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                if (self.work / name).exists():
                    os.replace(self.work / name, target)
        return names


def check_results(directory: Path, manifest: Mapping[str, object]) -> None:
    """See that the tables of a finished run, and its manifest, are what the run wrote.

    Files that people may have opened and stored again (CSV, TSV) are not looked at; nor is a run of an earlier version,
    which wrote no digests.

    Raises
    ------
    RunError
        A bit of one changed, or one is gone.
    """
    again = f"The run in {directory} is damaged: {{}} is not what the run wrote. Run the command again."
    if not has_right_checksum(manifest):
        raise RunError(again.format(MANIFEST))
    digests = manifest.get("digests", {})
    for name, digest in digests.items() if isinstance(digests, dict) else ():
        if name not in TABLES:
            raise RunError(again.format(MANIFEST))
        try:
            if _digest(directory / name) != digest:
                raise RunError(again.format(name))
        except FileNotFoundError:
            continue  # what needs it says so; the others go without it
        except OSError as error:
            raise RunError(f"{directory / name} cannot be read: {error.strerror}.") from error


def _json_of(path: Path) -> object:
    """What a small file says; None where there is none, or something else."""
    try:
        return json.loads(text_of(path))
    except (OSError, ValueError, RecursionError):
        return None


def _digest(path: Path) -> str:
    if path.exists() and not path.is_file():
        raise FileNotFoundError(path)
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def locked(path: Path, *, other: str = "another --out") -> Iterator[None]:
    """Hold an exclusive lock on a file; the system lets go of it whenever the process ends.

    Raises
    ------
    RunError
        Another process, or thread, holds it; ``other`` is what to choose then.
    OutputError
        There can be no file.
    """
    try:
        import fcntl
    except ImportError:  # no such locks on Windows; two runs in one directory are then the user's to avoid
        yield
        return
    with writing(path):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise RunError(f"{path} is not a file of Nearkin. Remove it, or choose {other}.")
        file = open(path, "a")  # noqa: SIM115 (closed below, after the lock is given back)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise RunError(f"Another run is writing to {path.parent}. Wait for it, or choose {other}.") from error
        if not _is_same(file.fileno(), path):
            raise RunError(f"Another run has just finished in {path.parent}. Try again.")
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)
    finally:
        file.close()
        with contextlib.suppress(OSError):
            path.parent.rmdir()  # empty: a run that was refused before it began made it


def _is_same(descriptor: int, path: Path) -> bool:
    """False if the file that was opened is no longer the one at this path: its owner removed it in between."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False


def _flattened(value: Mapping[str, object]) -> dict[str, str]:
    """{"inputs": {"n_files": 2}} -> {"inputs n_files": "2"}: one thing a name, to be told one by one."""
    flat: dict[str, str] = {}
    for name, inner in value.items():
        if isinstance(inner, dict):
            flat |= {f"{name} {key}": text for key, text in _flattened(inner).items()}
        else:
            flat[name] = json.dumps(inner, ensure_ascii=False)
    return flat
