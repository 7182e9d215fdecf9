"""Sources of a run with the digests of their bytes, for the manifest."""

from __future__ import annotations

import os
from collections.abc import Sequence

from nearkin.engines.local import map_ordered
from nearkin.errors import SourceError
from nearkin.manifests.stored import InputFile, NotReadFiles
from nearkin.paths import STDIN, printable, shown_path
from nearkin.runs.progress import Meter
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.formats.load_file import LoadFile
from nearkin.stages.documents.not_read import NotRead
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.inputs import StoredSource
from nearkin.workflows.resources import Resources

_N_PATHS = 20


def describe(
    sources: Sequence[Source], resources: Resources, meter: Meter, encoding: str | None = None
) -> list[InputFile]:
    """Return the sources with the digests of their bytes, and of the text files of load files if ``encoding`` is given.

    A separate pass reads the bytes: a reader of Parquet or Arrow skips some of them, and a resumed run does
    not read again what is in its spool.
    """
    if not sources:
        return []
    with meter.stage("digest inputs", sum(source.size_bytes for source in sources), "bytes") as progress:

        def digest(source: Source) -> str | None:
            if isinstance(source, StoredSource):
                return source.documents.digest
            try:
                return None if source.path == STDIN else file_sha256(source.path)
            except (OSError, SourceError):
                return None  # it was reported as a problem when it was read

        digests = []
        for source, value in zip(sources, map_ordered(digest, sources, threads=resources.n_threads), strict=True):
            digests.append(value)
            progress.advance(source.size_bytes)
    return [
        InputFile(
            path=shown_path(s.path),
            size_bytes=s.size_bytes,
            sha256=value,
            format=s.format,
            text=s.text,
            id=s.id,
            name=printable(s.name),
            end_row=_end_row(s),
            texts_sha256=None if encoding is None or s.path == STDIN else texts_sha256(s, encoding),
        )
        for s, value in zip(sources, digests, strict=True)
    ]


def not_read_files(found: Sequence[NotRead]) -> tuple[NotReadFiles, ...] | None:
    """Return what was not read for the manifest, with the first paths of each; None if there is nothing."""
    told = [
        NotReadFiles(
            place=printable(one.place),
            reason=one.reason,
            n=len(one.paths),
            paths=tuple(printable(path) for path in one.paths[:_N_PATHS]),
        )
        for one in found
    ]
    return tuple(told) or None


def texts_sha256(source: Source, encoding: str) -> str | None:
    """Return the SHA-256 of the texts in the files that a load file names; None if it is no load file or names none."""
    form = FORMATS.get(source.format)
    return form.digest_of_texts(source, encoding) if isinstance(form, LoadFile) else None


def _end_row(source: Source) -> int | None:
    return source.documents.end_row if isinstance(source, StoredSource) else None


def check_comes_again(path: str) -> None:
    """Check that the input with this name can be read again.

    Raises
    ------
    SourceError
        Nothing has that name, or it is a pipe.
    """
    if path == STDIN:
        raise SourceError(
            "The input was standard input, which cannot be read again. Save it to a file, and read the file."
        )
    if not os.path.lexists(path):
        if os.path.isabs(path):
            raise SourceError(f"{printable(path)} does not exist. Its documents must be read again: restore the file.")
        raise SourceError(
            f"There is no {printable(path)} in {printable(os.getcwd())}, and its documents must be read again. Restore "
            "the file, or run the command in the directory from which it was read first: the path is relative."
        )
    if os.path.exists(path) and not os.path.isfile(path):
        raise SourceError(
            f"{printable(path)} is no longer a file, and its documents must be read again: restore the file."
        )


def changed(name: str, how: str = "") -> SourceError:
    """Return the error for an input that changed since it was first read; ``how`` describes the difference."""
    differs = f" ({how})" if how else ""
    return SourceError(f"{printable(name)} has changed since it was read{differs}. Repeat the command that read it.")


def changed_documents() -> SourceError:
    """Return the error for documents in memory that are not those of the first reading."""
    return SourceError("The given documents differ from those that the run read. Give the same documents again.")


def changed_while_read(name: str) -> SourceError:
    """Return the error for an input that changed during the run."""
    return SourceError(
        f"{printable(name)} changed while it was read. Run again when nothing writes to it, or use a copy."
    )
