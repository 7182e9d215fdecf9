"""Progress of an interrupted run, and where it resumes: the message of ``--resume``."""

from __future__ import annotations

from collections.abc import Sequence

from nearkin.nouns import agreeing, counted
from nearkin.runs.directory import RunDirectory
from nearkin.runs.spool import SPOOL, Spool
from nearkin.workflows.dedup.reading import BeginningRead
from nearkin.workflows.reading.inputs import Input, LooseFilesInput

_STAGES = (
    ("sketch", "search/sizes.npz"),
    ("link", "search/runs.json"),
    ("shingle pairs", "verification/shingle pairs.npz"),
    ("verify", "verification/matches.npz"),
)
"""File that each finished stage leaves in the work folder; later stages take seconds and leave none."""
_LAST = "group"


def resumed_in_words(directory: RunDirectory, inputs: Sequence[Input], *, is_resumed: bool) -> str:
    """Return what ``--resume`` found, and where the run continues.

    Parameters
    ----------
    directory : RunDirectory
    inputs : sequence of Input
        All inputs of the run, those of the other set last.
    is_resumed : bool
        Whether there was an unfinished run.
    """
    if not is_resumed:
        return f"--resume: {directory.path} holds no unfinished run, so this run starts from the beginning"
    from nearkin.engines.spark.stages import stages_kept

    if kept := stages_kept(directory.work):
        n_stages = counted(len(kept), "finished stage")
        return f"--resume: found {n_stages} of the cluster ({', '.join(kept)}); continuing with the next one"
    n_read, following = files_read(Spool(directory.work / SPOOL), inputs)
    n_files = sum(len(one.names) for one in inputs)
    if following is not None:
        read = f"{n_read:,} of {counted(n_files, 'file')} {agreeing(n_read, 'was', 'were')} read completely"
        if not n_read:
            none = f"none of {counted(n_files, 'file')} was read completely"
            read = "the file was not read completely" if n_files == 1 else none
        return f"--resume: {read}; {following}"
    done = [name for name, mark in _STAGES if (directory.work / mark).exists()]
    stages = [name for name, _ in _STAGES] + [_LAST]
    return (
        f"--resume: {counted(n_files, 'file')} {agreeing(n_files, 'was', 'were')} read"
        + (f"; done: {', '.join(done)}" if done else "")
        + f"; continuing with: {stages[len(done)]}"
    )


def has_kept(directory: RunDirectory, inputs: Sequence[Input]) -> bool:
    """Whether an interrupted run read a file completely, or finished a stage on a cluster."""
    from nearkin.engines.spark.stages import stages_kept

    return bool(stages_kept(directory.work)) or files_read(Spool(directory.work / SPOOL), inputs)[0] > 0


def files_read(spool: Spool, inputs: Sequence[Input]) -> tuple[int, str | None]:
    """Return the number of files read completely, and what happens to the first other one.

    Documents in files of their own are not read again; any other file is read from its beginning.
    """
    n_read, first_source, following = 0, 0, None
    for index, one in enumerate(inputs):
        if spool.mark(index).exists():
            n_read += len(one.names)
        else:
            n_files = BeginningRead.of(index, first_source, one, spool).n_files
            n_read += n_files
            if following is None:
                name, is_loose = one.names[n_files], isinstance(one, LooseFilesInput)
                following = f"continuing with {name}" if is_loose else f"reading {name} from its start"
        first_source += len(one.names)
    return n_read, following
