"""Standard input, saved in the work folder if it is needed a second time."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from nearkin.errors import ResumeError
from nearkin.formats.sealed import damaged_file, missing_file
from nearkin.paths import STDIN
from nearkin.runs.files import published, read_work_json, write_work_json
from nearkin.runs.spool import SPOOL, Spool
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.sniffing import standard_input
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.inputs import StoredSource, file_inputs

_SAVED = "stdin"
_SAVED_DIGEST = "stdin.json"


def is_pipe(source: Source) -> bool:
    """Whether a source can be read only once: standard input, a named pipe, a shell's ``<(command)``."""
    if isinstance(source, StoredSource):
        return False
    return source.path == STDIN or not Path(source.path).is_file()


@contextlib.contextmanager
def stdin_of_run(stdin: BinaryIO | None, work: Path, *, resume: bool) -> Iterator[BinaryIO | None]:
    """Open the standard input saved by the interrupted run if it is to be resumed, else the given one.

    Raises
    ------
    RunError
        The saved input was changed.
    """
    saved = work / _SAVED
    if not resume or not saved.exists():
        yield stdin
        return
    if not saved.is_file() or file_sha256(str(saved)) != read_work_json(work / _SAVED_DIGEST, ("sha256",))["sha256"]:
        raise damaged_file(saved)
    with open(saved, "rb") as file:
        yield file


def save_stdin(sources: Sequence[Source], stdin: BinaryIO | None, work: Path) -> Path | None:
    """Return standard input as a file, from which the kept corpus is written; None if it is not among the sources.

    Raises
    ------
    ResumeError
        An interrupted run read it completely and did not save it.
    RunError
        What it saved is gone.
    """
    if not any(source.path == STDIN for source in sources):
        return None
    path = work / _SAVED
    if not path.exists():
        inputs = file_inputs(sources, encoding="utf-8")
        spool = Spool(work / SPOOL)
        if any(one.names == (STDIN,) and spool.mark(i).exists() for i, one in enumerate(inputs)):
            if (work / _SAVED_DIGEST).exists():
                raise missing_file(path)
            raise ResumeError(
                "--write-kept reads standard input twice, but the interrupted run, started without it, has already "
                "read it completely. Omit --write-kept, or start over with --overwrite."
            )
        with published(path, durable=False) as aside, open(aside, "wb") as file:
            shutil.copyfileobj(standard_input(stdin), file, 1 << 20)
            file.flush()
            # written before the copy is renamed, so that it exists if the copy does
            write_work_json(work / _SAVED_DIGEST, {"sha256": file_sha256(str(aside))})
    return path
