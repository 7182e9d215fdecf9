"""Digests of the input, computed before it is read: bytes that changed behind an equal size and time are noticed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from nearkin.formats.sealed import missing_file
from nearkin.manifests.stored import InputFile
from nearkin.nouns import counted
from nearkin.paths import on_disk, shown_path
from nearkin.runs.files import read_work_json, write_work_json
from nearkin.runs.run import JobRun
from nearkin.stages.documents.digest import file_sha256
from nearkin.stages.documents.formats import StoredFormat, holding
from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.inputs import StoredSource
from nearkin.workflows.reading.rereading import changed_while_read, describe
from nearkin.workflows.resources import Resources

_MAX_NAMED = 100


@dataclass(frozen=True, slots=True)
class FileDigest:
    """Bytes of a file as the run found them.

    Parameters
    ----------
    noted_ns : int or None
        Time at which the system last noted a change, before the digest was computed. Programs can set the time of
        modification, but not this one.
    sha256 : str or None
        None if the file could not be read.
    texts_sha256 : str or None
        Digest of the texts in the files that it names, if it is a load file that names some.
    """

    noted_ns: int | None
    sha256: str | None
    texts_sha256: str | None = None


FileDigests = Mapping[str, FileDigest]
"""Digests by the path of the source."""
NO_DIGESTS: FileDigests = {}


@dataclass(frozen=True, slots=True)
class InputSide:
    """Files of one side of the input.

    Parameters
    ----------
    called : str
        Name of the side in messages.
    sources : sequence of Source
    encoding : str
    """

    called: str
    sources: Sequence[Source]
    encoding: str


@dataclass(frozen=True, slots=True)
class DescribedInputs:
    """Files of a run with the digests of their bytes.

    Parameters
    ----------
    sides : mapping of str to sequence of InputFile
        Files of each side, in the order of their sources.
    watched : mapping of str to (int, str)
        Files of many documents, or all files of a finished run, with `FileDigest.noted_ns` and the digest.
    digests : mapping of str to FileDigests
        Digests of the files of each side; none of a finished run.
    """

    sides: Mapping[str, Sequence[InputFile]]
    watched: Mapping[str, tuple[int, str]]
    digests: Mapping[str, FileDigests] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        sides: Mapping[str, InputSide],
        run: JobRun,
        resources: Resources,
    ) -> DescribedInputs:
        """Describe the files of a run, and check that an interrupted run, if it is resumed, read the same bytes.

        Parameters
        ----------
        sides : mapping of str to InputSide
        run : JobRun
        resources : Resources

        Raises
        ------
        ResumeError
            A file has other bytes than the interrupted run read.
        RunError
            The stored digests are damaged or missing.
        """
        noted = {name: [_noted_ns(source.path) for source in side.sources] for name, side in sides.items()}
        found = {name: describe(side.sources, resources, run.meter, side.encoding) for name, side in sides.items()}
        now = {name: _digests(files) for name, files in found.items()}
        if run.input_digests.exists():
            before = read_work_json(run.input_digests, tuple(now))
            for name, side in sides.items():
                for different in _differences(before[name], now[name], side.called):
                    raise run.cannot_be_resumed(different)
        elif run.has_work:
            raise missing_file(run.input_digests)
        else:
            write_work_json(run.input_digests, now)
        digests = {
            name: {
                source.path: FileDigest(moment, one.sha256, one.texts_sha256)
                for source, moment, one in zip(side.sources, noted[name], found[name], strict=True)
            }
            for name, side in sides.items()
        }
        watched = {
            source.path: (one.noted_ns, one.sha256)
            for name, side in sides.items()
            for source in filter(_is_watched, side.sources)
            if (one := digests[name][source.path]).noted_ns is not None and one.sha256 is not None
        }
        return cls(found, watched, digests)

    @classmethod
    def of_finished(cls, files: Sequence[InputFile]) -> DescribedInputs:
        """Watch the files of a finished run; call it before their bytes are compared with the stored digests."""
        paths = [(on_disk(one.path), one.sha256) for one in files if one.format not in get_args(StoredFormat)]
        watched = {
            path: (moment, sha256)
            for path, sha256 in paths
            if sha256 is not None and (moment := _noted_ns(path)) is not None
        }
        return cls({"inputs": files}, watched)

    def check_unchanged(self) -> None:
        """Refuse watched files that have other bytes now, even if their size and time are as before.

        Raises
        ------
        SourceError
        """
        for path, (moment, sha256) in self.watched.items():
            if _noted_ns(path) != moment and file_sha256(path) != sha256:
                raise changed_while_read(path)


def fingerprint_of(sources: Sequence[Source]) -> dict[str, object]:
    """Return files and how they are read, for the fingerprint of a run; their bytes are compared by their digests.

    Each is named if they are few; one digest covers all.
    """
    files = {source.path: _in_words(source) for source in sources}
    return {
        "n_files": len(sources),
        "files": {shown_path(path): words for path, words in files.items()} if len(files) <= _MAX_NAMED else {},
        "digest": hashlib.sha256(repr(list(files.items())).encode(errors="backslashreplace")).hexdigest()[:16],
    }


def _in_words(source: Source) -> str:
    if isinstance(source, StoredSource):
        return f"{source.format}, {source.documents.state()}"
    columns = [f"{name} {value!r}" for name in ("text", "id", "delimiter") if (value := getattr(source, name))]
    return ", ".join([counted(source.size_bytes, "byte"), source.format, *columns])


def has_many_documents(source: Source) -> bool:
    """Whether this is not a file of a single document."""
    return holding(source.format) != "one document"


def _is_watched(source: Source) -> bool:
    return has_many_documents(source) and not isinstance(source, StoredSource)


def _noted_ns(path: str) -> int | None:
    try:
        return os.stat(path).st_ctime_ns
    except (OSError, ValueError):
        return None


def _digests(files: Sequence[InputFile]) -> dict[str, list[str | None]]:
    return {one.path: [one.sha256, one.texts_sha256] for one in files}


def _differences(
    before: Mapping[str, Sequence[str | None]], now: Mapping[str, Sequence[str | None]], where: str
) -> Iterator[str]:
    """Say which files have other bytes."""
    for path, digests in now.items():
        if before.get(path) != digests:
            yield f"{path} in {where} has other bytes"
