"""Result that is one file, whose name the user chose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from nearkin.errors import OutputError, OutputExistsError, ParameterError
from nearkin.paths import check_output, check_outside_collections, check_own_format, is_one_of, on_disk, printable
from nearkin.runs.run import WORK, manifest_if_any

_INPUTS = ("inputs", "against", "source", "left", "right", "table")
"""Keys of a manifest that lead to the files that the run read."""


def check_free(
    out: Path, *, overwrite: bool, inputs: Iterable[str | Path] = (), option: str = "--out", holds: str = ""
) -> None:
    """Refuse a file that exists, cannot be written, or would damage one of the ``inputs``, before any work is done."""
    check_output(out, option)
    if holds:
        check_own_format(out, holds)
    read = [*inputs]
    if not out.is_dir():
        refuse_input(out, [*read, *(path for place in read for path in _read_by_run(place))], option)
    check_outside_collections(out, option)
    for place in read:
        if _is_run(Path(place)) and Path(place).resolve() in out.resolve().parents:
            raise OutputError(f"Cannot write {out}: {place} is a run. Choose a place for {option} outside it.")
    if out.is_symlink() or (out.exists() and not out.is_file() and not out.is_dir()):
        raise OutputError(f"Cannot write {out}: it is a link or a device; {option} must be a regular file.")
    if out.is_dir():
        raise OutputError(f"Cannot write {out}: it is a directory; {option} must be a file.")
    if out.exists() and not overwrite:
        raise OutputExistsError(f"{out} already exists. Choose another {option}, or add --overwrite to replace it.")
    if not out.parent.is_dir():
        raise OutputError(f"Cannot write {out}: the directory {out.parent} does not exist.")


def refuse_input(out: Path, inputs: Iterable[str | Path], option: str = "--out") -> None:
    """Raise ParameterError for an output that is an input, whatever its path."""
    for path in inputs if out.exists() else ():
        if is_one_of(out, [path]):
            shown = printable(str(path))
            raise ParameterError(
                f"{out} is one of the inputs ({shown}). Choose another file.", parameter=option.strip("-'")
            )


def _is_run(place: Path) -> bool:
    return (place / WORK).is_dir() or manifest_if_any(place) is not None


def _read_by_run(place: str | Path) -> Iterator[str]:
    pending: list[object] = [] if (manifest := manifest_if_any(Path(place))) is None else [manifest]
    while pending:
        entry = pending.pop()
        if isinstance(entry, dict):
            pending += [entry[name] for name in _INPUTS if name in entry]
            if isinstance(path := entry.get("path"), str):
                yield on_disk(path)
        elif isinstance(entry, list):
            pending += entry
