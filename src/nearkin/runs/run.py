"""One run of a job: its directory, its stages, its report, and its manifest, which is written last."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from nearkin.errors import MissingExtraError, OutputError, OutputExistsError, ResumeError
from nearkin.formats.sealed import damaged_file, missing_file
from nearkin.nouns import first_of
from nearkin.paths import check_output, check_outside_collections
from nearkin.runs.files import (
    locked,
    published,
    read_work_json,
    write_checked_json,
    write_json,
    write_work_json,
    writing,
)
from nearkin.runs.finished import FORMAT, IDENTITY, MANIFEST, TABLES, WORK, digest_of, json_in, manifest_if_any
from nearkin.runs.progress import Meter, Progress, Silent, StageCost, Unit

LOCK = ".lock"
_OVERLAYS = ("overlay.csv", "overlay.dat")
_CHECKED = ".parquet"
_N_SHOWN = 5
_UNNAMED = ("parameters", "files")
"""Parts of a fingerprint whose values are named without them."""
_MOVED = "kept.json"
COPIES = ("kept", "annotated")
"""Folders with records of the input: those that are kept; all, with the results beside them."""
_REPLACES = "replaces-results"
_DIGESTS = "inputs.json"
_OWN = (IDENTITY, _REPLACES, _DIGESTS)
"""Names of work files that are no results of a stage: without such results they are not needed."""
RESUME_HINT = "Finished work is kept; run the same command with --resume to continue."
"""Note at the end of a run that was interrupted, or ran out of memory or disk, after finishing part of its work."""
_OF_THE_MACHINE = (KeyboardInterrupt, MemoryError, OutputError)
"""Errors after which the same command may succeed."""
_AGAIN = "Run the command again with --overwrite to create the report."
_LIMITS = "limits on memory or on open files may be too low (ulimit -v, ulimit -n)"


class FinishedRecord(Protocol):
    """Record of a finished run, with the fields ``stages`` and ``report_problem``."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def as_stored(self) -> dict[str, object]:
        """Return the record as JSON types."""


M = TypeVar("M", bound=FinishedRecord)


@dataclass(frozen=True, slots=True)
class JobRun:
    """A run with its output directory, which belongs to no other run.

    The manifest is written last: a directory with a manifest is complete. ``.work`` holds intermediate files until the
    run is done.

    Parameters
    ----------
    path : Path
        The directory.
    meter : Meter
    is_resumable : bool
        Whether the command accepts ``--resume``.
    """

    path: Path
    meter: Meter = field(default_factory=lambda: Meter(Silent()))
    is_resumable: bool = True

    def __post_init__(self) -> None:
        """Refuse a directory that is not writable before anything is read.

        Raises
        ------
        OutputError
        """
        check_output(self.path)
        file = next((path for path in (self.path, *self.path.parents) if os.path.exists(path)), None)
        if file is not None and not file.is_dir():
            it_is = "it is a file" if file == self.path else f"{file} is a file"
            raise OutputError(f"Cannot write {self.path}: {it_is}, and --out must be a directory.")

    @property
    def work(self) -> Path:
        """Directory of intermediate files; removed when the run is done."""
        return self.path / WORK

    @property
    def manifest(self) -> Path:
        """Path of the manifest."""
        return self.path / MANIFEST

    @property
    def input_digests(self) -> Path:
        """Path of the digests of the input, which a run may write before its first stage."""
        return self.work / _DIGESTS

    @property
    def progress(self) -> Progress:
        """Receiver of the messages of the run."""
        return self.meter.progress

    @property
    def stages(self) -> tuple[StageCost, ...]:
        """Cost of each stage so far."""
        return tuple(self.meter.costs)

    def stage(self, name: str, total: int = 0, unit: Unit = "steps") -> contextlib.AbstractContextManager[Progress]:
        """Measure the block as a stage."""
        return self.meter.stage(name, total, unit)

    @property
    def is_unfinished(self) -> bool:
        """Whether a run was begun here and not finished."""
        return (not os.path.exists(self.manifest) or self._is_to_replace) and os.path.exists(self.work / IDENTITY)

    @contextlib.contextmanager
    def claimed(self, fingerprint: Mapping[str, object], *, resume: bool, overwrite: bool) -> Iterator[None]:
        """Claim the directory for one new or resumed run, and keep other processes out until the block ends.

        What a killed run left is replaced if no stage left its result.

        Parameters
        ----------
        fingerprint : mapping
            Everything that determines the result, with the name of the command: a run is resumed only with an equal
            one.
        resume : bool
            Resume the unfinished run in the directory, if there is one.
        overwrite : bool
            Replace what an earlier run left: an unfinished run at once, a finished one at `begin_results`.

        Raises
        ------
        OutputExistsError
            The directory holds results or an unfinished run and neither option is set, or it holds other files.
        OutputError
            The directory cannot be written, or is inside a collection.
        ResumeError
            The unfinished run has another fingerprint.
        RunError
            Its fingerprint is missing or damaged.
        """
        check_outside_collections(self.path)
        with writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        with locked(self.path / LOCK):
            is_of_no_use = not resume and self._is_of_no_use(fingerprint)
            self._prepare(fingerprint, resume=resume, overwrite=overwrite or is_of_no_use)
            if resume:
                beginning = (
                    "continuing the unfinished run" if self.has_work else "nothing is done yet: a new run begins"
                )
                self.progress.say(f"--resume: {beginning}")
            try:
                yield
            except BaseException as error:
                self._forget_if_nothing_is_done()
                if isinstance(error, _OF_THE_MACHINE) and self.is_resumable and self.is_unfinished:
                    error.add_note(RESUME_HINT)
                raise

    def _is_of_no_use(self, fingerprint: Mapping[str, object]) -> bool:
        """Whether an unfinished run has nothing to continue: no stage ended, or this command cannot continue one."""
        if not self.is_unfinished or self.manifest.exists():
            return False
        begun = json_in(self.work / IDENTITY)
        is_same = isinstance(begun, dict) and begun.get("command") == fingerprint.get("command")
        return not self.has_work or (is_same and not self.is_resumable)

    def _prepare(self, fingerprint: Mapping[str, object], *, resume: bool, overwrite: bool) -> None:
        # through JSON, to compare what was stored
        wanted = json.loads(json.dumps(fingerprint))
        if self.work.exists() and resume and (self._is_to_replace or not self.manifest.exists()):
            self._remove_leftovers()
            if (self.work / IDENTITY).exists():
                self._check_fingerprint(wanted)
            else:  # the earlier run ended before it began
                self._check_nothing_is_done()
                write_json(self.work / IDENTITY, wanted)
            return
        if overwrite and self._written() is None:
            self._remove_results()
        elif overwrite:  # results stay until new ones replace them
            self._remove_leftovers()
            with writing(self.work):
                shutil.rmtree(self.work, ignore_errors=True)
        elif self.manifest.exists():
            if resume and self._written() is not None:  # the run was killed when only its work was left to remove
                shutil.rmtree(self.work, ignore_errors=True)
            done = "the results of a finished run: nothing is left to resume" if resume else "the results of a run"
            go_on = "--resume to continue the run that replaces them, or " if self._is_to_replace else ""
            raise OutputExistsError(
                f"{self.path} already holds {done}. Add {go_on}--overwrite to replace "
                f"{'both' if go_on else 'them'}, or choose another --out."
            )
        elif self.work.exists():
            raise OutputExistsError(
                f"{self.path} holds an unfinished run. Add --resume to continue it, or --overwrite to start again."
            )
        elif others := [p.name for p in self.path.iterdir() if p.name != LOCK]:
            raise OutputExistsError(
                f"{self.path} is not empty ({first_of(sorted(others), 3)}) and not a run of Nearkin. "
                f"Choose a new directory for --out."
            )
        with writing(self.work):
            self.work.mkdir()
            if self.manifest.exists():
                (self.work / _REPLACES).touch()
        write_json(self.work / IDENTITY, wanted)

    @property
    def _is_to_replace(self) -> bool:
        """Whether an unfinished run is to replace the results that still exist."""
        return os.path.exists(self.work / _REPLACES)

    def begin_results(self) -> None:
        """Remove the results that this run replaces; call it before the first new result is written.

        A run that fails or is interrupted before this call has lost nothing.
        """
        if self._is_to_replace:
            self._remove_files(self._written() or ())
            with writing(self.work):
                (self.work / _REPLACES).unlink()

    def _check_nothing_is_done(self) -> None:
        """Refuse work without the fingerprint of its run: it may come from another input or other options."""
        if not self.work.is_dir():
            raise damaged_file(self.work)
        if self.has_work:
            raise missing_file(self.work / IDENTITY)
        self.input_digests.unlink(missing_ok=True)  # of whatever run it was

    @property
    def has_work(self) -> bool:
        """Whether a stage of an unfinished run left its result."""
        return any(map(self._is_work, self.work.rglob("*")))

    def _is_work(self, path: Path) -> bool:
        """Whether something below the work directory was written by a stage."""
        parts = [f".{name}.*.part" for name in _OWN]
        return not path.is_dir() and path.name not in _OWN and not any(map(path.match, parts))

    def _check_fingerprint(self, wanted: Mapping[str, object]) -> None:
        stored = json_in(self.work / IDENTITY)
        if not isinstance(stored, dict):
            raise damaged_file(self.work / IDENTITY)
        if different := differences(stored, wanted):
            raise self.cannot_be_resumed(different)

    def cannot_be_resumed(self, different: str) -> ResumeError:
        """Return the error for an unfinished run of another command or input, from what is different."""
        return ResumeError(
            f"The unfinished run in {self.path} cannot be resumed with this command: {different}. "
            "Run the original command on the original input, or start again with --overwrite instead of --resume."
        )

    def _remove_results(self) -> None:
        """Remove only files that a run wrote.

        The manifest goes first, so that half-removed results do not look complete.
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
        """Remove the manifest, the tables and other files of a run."""
        with writing(self.path):
            self.manifest.unlink(missing_ok=True)
            for name in (*TABLES, *_OVERLAYS, *names):
                (self.path / name).unlink(missing_ok=True)
            folders = [p for name in COPIES for p in self.path.glob(f"{name}/**/") if p.is_dir()]
            for folder in sorted(folders, reverse=True):
                with contextlib.suppress(OSError):  # it contains other files: keep it
                    folder.rmdir()

    def _moved(self) -> tuple[str, ...]:
        """Return the kept files that an unfinished run was moving to their places."""
        stored = json_in(self.work / _MOVED)
        return self._inside(stored.get("names") if isinstance(stored, dict) else None)

    def _inside(self, names: object) -> tuple[str, ...]:
        """Filter a stored list, which may have been tampered with: keep names of files inside the directory."""
        inside, found = self.path.resolve(), []
        for name in names if isinstance(names, list) else ():
            with contextlib.suppress(OSError, ValueError):
                if isinstance(name, str) and (inside / name).resolve().is_relative_to(inside):
                    found.append(name)
        return tuple(found)

    def _remove_leftovers(self) -> None:
        """Remove incomplete files of a killed process; this process holds the lock, so no other is writing them."""
        for name in (*TABLES, *_OVERLAYS, MANIFEST):
            for leftover in self.path.glob(f".{name}.*.part"):
                leftover.unlink(missing_ok=True)

    def _written(self) -> tuple[str, ...] | None:
        """Return the files that a finished run lists as written; None if there is no finished run of Nearkin."""
        manifest = manifest_if_any(self.path)
        if manifest is None:
            return None
        return self._inside(manifest.get("files"))

    def _forget_if_nothing_is_done(self) -> None:
        """Remove all traces of a run that failed before it wrote anything, so that the next run need not resume it.

        The work of a run that cannot be resumed goes, too, unless it has begun to write results.
        """
        with contextlib.suppress(OSError):  # the original error, such as too many open files, is the one to report
            has_results = not self.manifest.exists() and any((self.path / name).exists() for name in TABLES)
            is_of_use = self.is_resumable and self.has_work
            if self.work.exists() and not has_results and not is_of_use:
                shutil.rmtree(self.work, ignore_errors=True)

    def report(self, manifest: M, render: Callable[[M], str], *, instead: str = _AGAIN) -> M:
        """Write ``report.html``; without the ``report`` extra, or enough memory, say that there is no page.

        Parameters
        ----------
        manifest : FinishedRecord
        render : callable
            Makes the page from the manifest.
        instead : str
            A sentence: how to get a page later.

        Returns
        -------
        FinishedRecord
            With the stages so far, and why there is no page.

        Raises
        ------
        OutputError
            The page cannot be written.
        """
        problem = None
        with self.stage("report"):
            try:
                page = render(replace(manifest, stages=self.stages))
            except MissingExtraError as error:
                self.progress.say(f"{error}. Everything else is written.")
            except (OSError, MemoryError) as error:  # modules and templates are loaded while a page is made
                why = str(error) or "Not enough memory"
                problem = f"report.html is missing. {why}; {_LIMITS}. All other results are complete. {instead}"
                self.progress.say(problem)
            else:
                with published(self.path / "report.html") as aside:
                    aside.write_text(page, encoding="utf-8")
        return replace(manifest, stages=self.stages, report_problem=problem)

    def finish(self, manifest: M, *, copies: Sequence[str] = ()) -> M:
        """Move these of the `COPIES` to their places, write the manifest, and remove the work: now the run is done.

        A kept corpus that an interrupted run had begun to move is complete, and belongs to the results. Return the
        manifest with the cost of all stages.
        """
        if (moved := self.work / _MOVED).exists():
            read_work_json(moved, ("names",))
        files = [name for name in (*TABLES, *_OVERLAYS) if (self.path / name).exists()]
        if copies or self._moved():
            files += self._place(copies)
        with writing(self.path):
            digests = {
                name: digest_of(self.path / name) for name in files if name in TABLES and name.endswith(_CHECKED)
            }
        manifest = replace(manifest, stages=self.stages)
        stored = {"format": FORMAT, **manifest.as_stored(), "files": files, "digests": digests}
        write_checked_json(self.manifest, stored)
        shutil.rmtree(self.work, ignore_errors=True)
        return manifest

    def begin_kept(self, name: str = "kept") -> Path:
        """Return the path at which copies of records are written until they are complete; see `COPIES`.

        Files of a killed run are removed.
        """
        aside = self.work / name
        with writing(aside):
            if aside.is_dir():
                shutil.rmtree(aside)
            aside.unlink(missing_ok=True)
        return aside

    def _place(self, copies: Sequence[str]) -> list[str]:
        """Move copies of records out of the work directory; return the names of their files.

        Another folder of copies there is what an interrupted run was asked for, and may be half written.
        """
        asides = [self.work / name for name in copies]
        names = [str(p.relative_to(self.work)) for aside in asides for p in aside.rglob("*") if p.is_file()]
        already = self._moved()  # by a run that was interrupted at this point
        names = sorted({*names, *already})
        write_work_json(self.work / _MOVED, {"names": names})
        for name in names:
            target = self.path / name
            with writing(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                if (self.work / name).exists():
                    os.replace(self.work / name, target)
        return names


def differences(was: Mapping[str, object], now: Mapping[str, object]) -> str:
    """Name what differs between the fingerprints of two runs, with both values; empty if nothing does.

    Examples
    --------
    >>> differences({"parameters": {"threshold": 0.8}}, {"parameters": {"threshold": 0.9, "drop": "either"}})
    'drop was not given and is now either; threshold was 0.8 and is now 0.9'
    """
    before, after = dict(_flat(was)), dict(_flat(now))
    names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    shown = [
        f"{name} was {before.get(name, 'not given')} and is now {after.get(name, 'not given')}"
        for name in names[:_N_SHOWN]
    ]
    return "; ".join(shown + [f"{len(names) - _N_SHOWN:,} more"] * (len(names) > _N_SHOWN))


def _flat(fingerprint: Mapping[str, object], inside: str = "") -> Iterator[tuple[str, object]]:
    """Yield the values inside of a fingerprint, with their names."""
    for name, value in fingerprint.items():
        if isinstance(value, dict):
            yield from _flat(value, inside if name in _UNNAMED else f"{inside}{name} ")
        elif value is not None:
            yield f"{inside}{name}", value
