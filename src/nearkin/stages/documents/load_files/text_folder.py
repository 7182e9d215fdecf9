r"""Text files that a load file names, always inside one folder.

A path in a load file is hostile input. Each of its parts is opened from the folder before it, without following
links, so a path that passes the checks cannot lead out, even if the folder changes meanwhile. Case and encoding of a
name need not be those of the disk: load files come from Windows.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
from pathlib import Path

from nearkin.paths import why
from nearkin.stages.documents.encodings import (
    BYTE_ORDER_MARKS,
    into_utf8,
    is_taken_as_utf8,
    is_utf8,
    looks_like_utf16,
    why_not_utf8,
    with_byte_order,
)
from nearkin.stages.documents.faults import Reason, RecordFault, problem_of, reason_of, sentence_of
from nearkin.stages.documents.foreign import foreign
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, too_long
from nearkin.wording import reveal

_MAX_PARTS = 64
_MAX_LISTED = 32
_MAX_SHOWN = 200
_OPENED = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class RefusedPathError(RecordFault):
    """A text file cannot be read; the message is the problem of the document."""

    def __init__(self, sentence: str, reason: Reason = "damaged") -> None:
        super().__init__(reason, sentence)


class TextFolder:
    r"""Folder of text files.

    Parameters
    ----------
    root : str
        Folder that no path leaves.
    beside : str
        Folder of the load file, from which paths that begin with ``..`` are followed.
    encoding : str
        Encoding of files that are not UTF-8.
    max_bytes : int
        A longer text is refused.

    Examples
    --------
    >>> TextFolder("/data").parts(r"TEXT\001\A-1.txt")
    ['TEXT', '001', 'A-1.txt']
    """

    def __init__(
        self, root: str, beside: str = "", encoding: str = "utf-8", max_bytes: int = MAX_DOCUMENT_BYTES
    ) -> None:
        self._root, self._beside, self._encoding, self._max_bytes = root, beside, encoding, max_bytes
        self._names = dict[tuple[str, ...], dict[str, list[str]]]()

    def parts(self, path: str) -> list[str]:
        """Return the parts of a path below the folder.

        Raises
        ------
        RefusedPathError
            The path is absolute or leads out of the folder, or names a drive or a share.
        """
        plain = path.strip().replace("\\", "/")
        if path.strip().startswith("/") or plain.startswith("//") or re.match(r"[A-Za-z]:", plain):
            problem = f"the path of its text {_shown(path)} is absolute; only files below --text-root are read"
            raise RefusedPathError(problem)
        parts = [part for part in plain.split("/") if part not in ("", ".")]
        if parts[:1] == [".."]:
            parts = [*self._from_root(), *parts]
        below: list[str] = []
        for part in parts:
            if part != "..":
                below.append(part)
            elif below:
                below.pop()
            else:
                raise RefusedPathError(f"the path of its text {_shown(path)} leads out of the folder of the texts")
        if not 0 < len(below) <= _MAX_PARTS or "\0" in plain:
            raise RefusedPathError(f"the path of its text {_shown(path)} names no file")
        return below

    def _from_root(self) -> list[str]:
        """Return the parts that lead from the root to the folder of the load file; none if it lies elsewhere."""
        root, beside = Path(self._root).resolve(), Path(self._beside or self._root).resolve()
        return list(beside.relative_to(root).parts) if beside.is_relative_to(root) else []

    def opened(self, path: str) -> int:
        """Return the descriptor of a regular file.

        Raises
        ------
        RefusedPathError
        """
        *folders, name = self.parts(path)
        place = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        above: tuple[str, ...] = ()
        for part in (*folders, name):
            flags = _OPENED | (os.O_DIRECTORY if len(above) < len(folders) else 0)
            try:
                below = self._open(part, flags, place, above)
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
                    problem = f"its text file {_shown(path)} is, or lies behind, a link; links are not followed"
                elif error.errno == errno.ENOENT:
                    problem = f"its text file {_shown(path)} is missing{self._advice(part, above, folders)}"
                else:
                    problem = f"cannot open its text file {_shown(path)}: {why(error)}"
                raise RefusedPathError(problem) from error
            finally:
                os.close(place)
            place, above = below, (*above, part)
        if not stat.S_ISREG(os.fstat(place).st_mode):
            os.close(place)
            raise RefusedPathError(f"its text file {_shown(path)} is not a regular file")
        return place

    def _open(self, name: str, flags: int, place: int, folders: tuple[str, ...]) -> int:
        """Open a file or folder in a folder: by its name, or by one that is the same except for case and encoding."""
        try:
            return os.open(name, flags, dir_fd=place)
        except FileNotFoundError:
            if folders not in self._names:
                if len(self._names) >= _MAX_LISTED:
                    self._names.clear()
                names = self._names[folders] = {}
                for listed in os.listdir(place):
                    names.setdefault(folded_file_name(listed), []).append(listed)
            alike = self._names[folders].get(folded_file_name(name), [])
            if len(alike) > 1:
                raise RefusedPathError(
                    f"its text file {_shown(name)} is ambiguous: {len(alike)} names differ only by case"
                ) from None
            if not alike:
                raise
            return os.open(alike[0], flags, dir_fd=place)

    def _advice(self, part: str, above: tuple[str, ...], folders: list[str]) -> str:
        """Say how to name the folder that has the first folder of a path, if that is missing."""
        if above or not folders:
            return ""
        if self._root != self._beside:
            return f": there is no folder {_shown(part)} in --text-root"
        return f": there is no folder {_shown(part)} beside the load file; name the folder that has it with --text-root"

    def changed_ns(self, path: str) -> int:
        """Return the time of a file's last change, in nanoseconds; errors as by `opened`."""
        descriptor = self.opened(path)
        try:
            return os.fstat(descriptor).st_mtime_ns
        finally:
            os.close(descriptor)

    def read(self, path: str) -> bytes:
        """Return the text of a file, in UTF-8.

        Raises
        ------
        RefusedPathError
            There is no such file below the folder, or it is not a text.
        """
        with os.fdopen(self.opened(path), "rb") as file:
            n_bytes = os.fstat(file.fileno()).st_size
            if n_bytes > self._max_bytes:
                raise RefusedPathError(sentence_of(too_long(n_bytes, self._max_bytes)), "too large")
            try:
                data = file.read(n_bytes)
            except OSError as error:
                raise RefusedPathError(f"cannot read its text file {_shown(path)}: {why(error)}") from error
        return self._text(data, path)

    def _text(self, data: bytes, path: str) -> bytes:
        mark, encoding = next((one for one in BYTE_ORDER_MARKS if data.startswith(one[0])), (b"", ""))
        problem = None
        if mark:
            data = into_utf8(data[len(mark) :], encoding)
        elif (kind := foreign(data[: 1 << 16], os.path.basename(path))) is not None and not kind.is_text:
            problem = problem_of("not text", kind.problem)
        elif (problem := looks_like_utf16(data)) is None:
            encoding = with_byte_order(self._encoding)
            if not (is_utf8(encoding) or is_taken_as_utf8(data, encoding, is_all=True)):
                data = into_utf8(data, encoding)
        if problem is None:
            problem = why_not_utf8(data, encoding, mark)
        if problem is not None:
            raise RefusedPathError(f"its text file {_shown(path)}: {sentence_of(problem)}", reason_of(problem))
        return data


def folded_file_name(name: str) -> str:
    """Return a name without the differences between systems; bytes that are not UTF-8 are read as CP1252."""
    raw = os.fsencode(name)
    try:
        name = raw.decode()
    except UnicodeDecodeError:
        name = raw.decode("cp1252", "replace")
    return unicodedata.normalize("NFC", name).casefold()


def _shown(path: str) -> str:
    return f"'{reveal(path if len(path) <= _MAX_SHOWN else f'{path[:_MAX_SHOWN]}…')}'"
