"""One run of a job: its directory, its stages, its report, and its manifest, which appears last; results read again.

`JobRun.finish` moves all files to their places, the manifest last: a directory with a manifest is complete.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import Field, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import msgspec
import pyarrow as pa

from nearkin._version import __version__
from nearkin.errors import (
    MissingExtraError,
    NearkinError,
    OutputError,
    OutputExistsError,
    ParameterError,
    ResumeError,
    RunError,
)
from nearkin.formats.sealed import damaged_file, has_right_checksum, missing_file
from nearkin.nouns import first_of
from nearkin.paths import check_output, check_outside_collections
from nearkin.runs.files import locked, published, text_of, write_checked_json, write_json, writing
from nearkin.runs.progress import Meter, Progress, Silent, StageCost, Unit

MANIFEST = "manifest.json"
FORMAT = 1
"""Format of the files of a run."""
WORK = ".work"
IDENTITY = "run.json"
"""Name of the work file with the parameters and the input of an unfinished run."""
HOW_TO_FINISH = "Run the command that began it again with --resume or --overwrite"
TABLES = (
    "documents.parquet", "pairs.parquet", "groups.parquet", "against.parquet", "problems.parquet", "families.parquet",
    "families.csv", "exceptions.csv", "pairs.tsv", "known.tsv", "threads.parquet",
    "passages.parquet", "cut.parquet",
    "report.html",
)  # fmt: skip


def json_in(path: Path) -> object:
    """Read a small JSON file; None if it is missing or invalid."""
    try:
        return json.loads(text_of(path))
    except (OSError, ValueError, RecursionError):
        return None


def manifest_if_any(directory: Path) -> Mapping[str, Any] | None:
    """Return the manifest in a directory, unchecked; None if there is none of Nearkin."""
    stored = json_in(directory / MANIFEST)
    is_ours = isinstance(stored, dict) and {"nearkin", "command"} <= stored.keys()
    return stored if is_ours else None  # type: ignore[return-value]  # it is a mapping


def read_manifest(directory: Path) -> Mapping[str, Any]:
    """Read the manifest of a finished run; RunError if there is none, or it is of another format."""
    path = directory / MANIFEST
    try:
        stored = json.loads(text_of(path))
    except FileNotFoundError as error:
        if (directory / WORK).exists():
            raise RunError(f"The run in {directory} is not finished. {HOW_TO_FINISH}.") from error
        raise RunError(f"{directory} holds no finished run: there is no file {MANIFEST}.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{path} cannot be read ({error}). Run the command again.") from error
    if not isinstance(stored, dict) or not has_right_checksum(stored):
        raise _changed(directory, MANIFEST)
    if (given := stored.get("format")) != FORMAT:
        raise RunError(f"{path} has format {given}; this version of Nearkin reads format {FORMAT}.")
    return stored


def read_results(directory: Path, tables: Collection[str] = TABLES) -> Mapping[str, Any]:
    """Read the manifest of a finished run, and check that these of its tables are unchanged, else RunError."""
    manifest = read_manifest(directory)
    digests = manifest.get("digests", {})
    for name, digest in digests.items() if isinstance(digests, dict) else ():
        if name not in TABLES:
            raise _changed(directory, MANIFEST)
        if name not in tables:
            continue
        try:
            if digest_of(directory / name) != digest:
                raise _changed(directory, name)
        except FileNotFoundError:
            continue  # a job that needs the file reports it
        except OSError as error:
            raise RunError(f"{directory / name} cannot be read: {error.strerror}.") from error
    return manifest


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, which must exist."""
    if path.exists() and not path.is_file():
        raise FileNotFoundError(path)
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _changed(directory: Path, name: str) -> RunError:
    return RunError(f"The run in {directory} is damaged: {name} was changed. Run the command again.")


_ERRORS = (
    OSError, pa.ArrowException, msgspec.ValidationError, ArithmeticError, ValueError, TypeError, LookupError,
    AttributeError,
)  # fmt: skip


@contextmanager
def damage_of(directory: Path, advice: str = "Run the command again.") -> Iterator[None]:
    """Convert errors that a damaged file of a run causes to one that names the run, as invalid options in it do.

    Other errors of Nearkin pass.

    Examples
    --------
    >>> with damage_of(Path("clean")):
    ...     {}["parameters"]
    Traceback (most recent call last):
    nearkin.errors.RunError: The run in clean is damaged ('parameters' is missing). Run the command again.
    """
    try:
        yield
    except ParameterError as error:
        raise damaged_run(directory, str(error), advice) from error
    except NearkinError:
        raise
    except _ERRORS as error:
        why = str(error.args[0] if isinstance(error, KeyError) and error.args else error).partition("\n")[0].rstrip(".")
        if isinstance(error, KeyError) and " " not in why:
            why = f"{why!r} is missing"
        if isinstance(error, FileNotFoundError) and error.filename:
            why = f"{Path(error.filename).name} is missing"
        raise damaged_run(directory, why, advice) from error


def damaged_run(directory: Path, why: str, advice: str = "Run the command again.") -> RunError:
    """Return the error for a run that its command cannot have written."""
    return RunError(f"The run in {directory} is damaged ({why}). {advice}")


def listing_of(directory: Path) -> dict[str, object]:
    """Return the part of a manifest that lists the files of a directory, with digests of the tables."""
    order = {name: place for place, name in enumerate(TABLES)}
    names = [str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()]
    files = sorted(names, key=lambda name: (order.get(name, len(order)), name))
    checked = [name for name in files if name in order and name.endswith(".parquet")]
    return {"format": FORMAT, "files": files, "digests": {name: digest_of(directory / name) for name in checked}}


def files_of(directory: Path, manifest: object) -> list[Path]:
    """Return the files in a directory that a manifest lists; RunError if it was changed to list others."""
    advice = "Remove it, or choose another --out."
    with damage_of(directory, advice):
        names = manifest["files"] if isinstance(manifest, dict) and has_right_checksum(manifest) else TABLES
        files, root = [directory / name for name in names], directory.resolve()
        if outside := next((path for path in files if root not in path.resolve().parents), None):
            raise damaged_run(directory, f"{MANIFEST} lists {outside}, which is outside", advice)
        return files


LOCK = ".lock"
_RESULTS = "results"
_REPLACED = "replaced.json"
_DIGESTS = "inputs.json"
_N_SHOWN = 5
_UNNAMED = ("parameters", "files")
"""Parts of a fingerprint whose values are named without them."""
RESUME_HINT = "Finished work is kept; run the same command with --resume to continue."
"""Note at the end of a run that was interrupted, or ran out of memory or disk, after finishing part of its work."""
_OF_THE_MACHINE = (KeyboardInterrupt, MemoryError, OutputError)
"""Errors after which the same command may succeed."""
_AGAIN = "Run the command again with --overwrite to create the report."
_LIMITS = "limits on memory or on open files may be too low (ulimit -v, ulimit -n)"
State = Literal["free", "other files", "unfinished", "moving", "finished"]


class FinishedRecord(Protocol):
    """Record of a finished run, with the fields ``stages`` and ``report_problem``."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def as_stored(self) -> dict[str, object]:
        """Return the record as JSON types."""


M = TypeVar("M", bound=FinishedRecord)


@dataclass(frozen=True, slots=True)
class JobRun:
    """A run with its output directory, which belongs to no other run."""

    path: Path
    meter: Meter = field(default_factory=lambda: Meter(Silent()))
    is_resumable: bool = True

    def __post_init__(self) -> None:
        """Raise OutputError for a directory that is not writable before anything is read."""
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
    def results(self) -> Path:
        """Directory of the files that users will see, until the run is done."""
        return self.work / _RESULTS

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
        return os.path.exists(self.work / IDENTITY) or self._is_moving

    @property
    def has_work(self) -> bool:
        """Whether a stage of an unfinished run left its result."""
        begun = (IDENTITY, _DIGESTS, _REPLACED)
        files = (path for path in self.work.rglob("*") if not path.is_dir() and not path.is_relative_to(self.results))
        return any(path.name not in begun and path.suffix != ".part" for path in files)

    @property
    def _is_moving(self) -> bool:
        stored = manifest_if_any(self.results)
        return stored is not None and has_right_checksum(stored)

    @property
    def state(self) -> State:
        """What is in the directory; an unfinished run may be one that replaces results."""
        if self._is_moving:
            return "moving"
        is_finished = manifest_if_any(self.path) is not None
        if self.has_work and (self.is_unfinished or not is_finished):
            return "unfinished"
        return "finished" if is_finished else "other files" if self._other_files else "free"

    @property
    def _other_files(self) -> list[str]:
        if manifest_if_any(self.path) is not None:
            return []
        return sorted(path.name for path in self.path.iterdir() if path.name not in (LOCK, WORK))

    @contextlib.contextmanager
    def claimed(self, fingerprint: Mapping[str, object], *, resume: bool, overwrite: bool) -> Iterator[None]:
        """Claim the directory for one new or resumed run until the block ends.

        Parameters
        ----------
        fingerprint
            Everything that determines the result: a run is resumed only with an equal one, and by the same version.
        """
        check_outside_collections(self.path)
        with writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        with locked(self.path / LOCK):
            self._begin(
                json.loads(json.dumps({"nearkin": __version__, **fingerprint})), resume=resume, overwrite=overwrite
            )
            try:
                yield
            except BaseException as error:
                self._forget_if_nothing_is_done()
                if isinstance(error, _OF_THE_MACHINE) and self.is_resumable and self.is_unfinished:
                    error.add_note(RESUME_HINT)
                raise

    def _begin(self, fingerprint: Mapping[str, object], *, resume: bool, overwrite: bool) -> None:
        if self.state == "moving":
            self._publish()
        if self.state == "finished":  # and its work is of no use
            shutil.rmtree(self.work, ignore_errors=True)
        match self.state, resume, overwrite:
            case "unfinished", True, _:
                self._check_fingerprint(fingerprint)
                self.progress.say("--resume: continuing the unfinished run")
            case ("free", _, _) | ("unfinished" | "finished", _, True) if not self._other_files:
                files_of(self.path, manifest_if_any(self.path))  # refused before anything is computed
                if resume:
                    self.progress.say("--resume: nothing is done yet: a new run begins")
                with writing(self.work):
                    shutil.rmtree(self.work, ignore_errors=True)
                    self.work.mkdir()
                write_json(self.work / IDENTITY, fingerprint)
            case "unfinished", _, False:
                go_on = "--resume to continue it, or " if self.is_resumable else ""
                raise OutputExistsError(f"{self.path} holds an unfinished run. Add {go_on}--overwrite to start again.")
            case "finished", _, _:
                done = "the results of a finished run: nothing is left to resume" if resume else "the results of a run"
                raise OutputExistsError(
                    f"{self.path} already holds {done}. Add --overwrite to replace them, or choose another --out."
                )
            case _:
                raise OutputExistsError(
                    f"{self.path} is not empty ({first_of(self._other_files, 3)}) and not a run of Nearkin. "
                    f"Choose a new directory for --out."
                )
        with writing(self.results):
            shutil.rmtree(self.results, ignore_errors=True)
            self.results.mkdir()

    def _check_fingerprint(self, fingerprint: Mapping[str, object]) -> None:
        if not (self.work / IDENTITY).exists():  # the work may be of another input or of other options
            raise missing_file(self.work / IDENTITY)
        stored = json_in(self.work / IDENTITY)
        if not isinstance(stored, dict):
            raise damaged_file(self.work / IDENTITY)
        if different := differences(stored, fingerprint):
            raise self.cannot_be_resumed(different)

    def cannot_be_resumed(self, different: str) -> ResumeError:
        """Return the error for an unfinished run of another command or input, from what is different."""
        return ResumeError(
            f"The unfinished run in {self.path} cannot be resumed with this command: {different}. "
            "Run the original command on the original input, or start again with --overwrite instead of --resume."
        )

    def _forget_if_nothing_is_done(self) -> None:
        """Leave the directory as it was before."""
        with contextlib.suppress(OSError):  # the original error, such as too many open files, is the one to report
            if not self._is_moving and not (self.is_resumable and self.has_work):
                shutil.rmtree(self.work, ignore_errors=True)

    def report(self, manifest: M, render: Callable[[M], str], *, instead: str = _AGAIN) -> M:
        """Write ``report.html``, and return the manifest with the stages so far and why there is no page."""
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
                with published(self.results / "report.html") as aside:
                    aside.write_text(page, encoding="utf-8")
        return replace(manifest, stages=self.stages, report_problem=problem)

    def finish(self, manifest: M) -> M:
        """Write the manifest, move all results to their places, and remove the work."""
        manifest = replace(manifest, stages=self.stages)
        with writing(self.path):
            listing = listing_of(self.results)
        write_checked_json(self.results / MANIFEST, {**manifest.as_stored(), **listing})
        self._publish()
        return manifest

    def _publish(self) -> None:
        replaced = self.work / _REPLACED
        with writing(self.path):
            if manifest_if_any(self.path) is not None:
                os.replace(self.path / MANIFEST, replaced)
            if replaced.exists():
                for path in files_of(self.path, json_in(replaced)):
                    path.unlink(missing_ok=True)
                    with contextlib.suppress(OSError):  # other files in it, or it is gone
                        os.removedirs(path.parent)
                replaced.unlink()
            for path in sorted(self.results.rglob("*")):
                target = self.path / path.relative_to(self.results)
                if path.is_file() and path != self.results / MANIFEST:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    os.replace(path, target)
            (self.work / IDENTITY).unlink(missing_ok=True)  # what is left there is of no run when the manifest appears
            os.replace(self.results / MANIFEST, self.path / MANIFEST)
        shutil.rmtree(self.work, ignore_errors=True)


def differences(was: Mapping[str, object], now: Mapping[str, object]) -> str:
    """Name what differs between the fingerprints of two runs, with both values.

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
    for name, value in fingerprint.items():
        if isinstance(value, dict):
            yield from _flat(value, inside if name in _UNNAMED else f"{inside}{name} ")
        elif value is not None:
            yield f"{inside}{name}", value
