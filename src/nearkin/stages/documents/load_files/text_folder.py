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
from dataclasses import dataclass, field
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
from nearkin.stages.documents.foreign import foreign
from nearkin.stages.documents.rules import too_long
from nearkin.wording import reveal

_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_MAX_PATH = 4_096
_MAX_PARTS = 64
_MAX_OPEN = 32
_MAX_SHOWN = 200
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class RefusedPathError(ValueError):
    """A text file cannot be read; the message is the problem of the document."""


@dataclass(slots=True)
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
    max_document_bytes : int

    Examples
    --------
    >>> TextFolder("/data").parts(r"TEXT\001\A-1.txt")
    ['TEXT', '001', 'A-1.txt']
    """

    root: str
    beside: str = ""
    encoding: str = "utf-8"
    max_document_bytes: int = 1 << 26
    _folders: dict[tuple[str, ...], int] = field(default_factory=dict)
    _names: dict[tuple[str, ...], dict[str, list[str]]] = field(default_factory=dict)

    def close(self) -> None:
        """Close the folders."""
        for descriptor in self._folders.values():
            os.close(descriptor)
        self._folders.clear()

    def parts(self, path: str) -> list[str]:
        """Return the parts of a path below the folder.

        Raises
        ------
        RefusedPathError
            The path is absolute or leads out of the folder, or names a drive, a share or a device.
        """
        shown = _shown(path)
        if _CONTROL.search(path):
            raise RefusedPathError(f"the path of its text {shown} has a control character")
        if len(path) > _MAX_PATH:
            raise RefusedPathError(f"the path of its text is longer than {_MAX_PATH:,} characters")
        plain = path.strip().replace("\\", "/")
        if plain.startswith("//"):
            raise RefusedPathError(f"the path of its text {shown} names a network share; only files below --text-root")
        if re.match(r"[A-Za-z]:", plain):
            raise RefusedPathError(f"the path of its text {shown} names a drive; only files below --text-root are read")
        if path.strip().startswith("/"):
            raise RefusedPathError(f"the path of its text {shown} is absolute; only files below --text-root are read")
        parts = [one for one in plain.split("/") if one not in ("", ".")]
        if parts and parts[0] == "..":
            parts = [*self._from_root(), *parts]
        below: list[str] = []
        for part in parts:
            if part == "..":
                if not below:
                    raise RefusedPathError(f"the path of its text {shown} leads out of the folder of the texts")
                below.pop()
            elif _DEVICES.fullmatch(part.rstrip(" .")):
                raise RefusedPathError(f"the path of its text {shown} names a device")
            else:
                below.append(part)
        if not below or len(below) > _MAX_PARTS:
            raise RefusedPathError(f"the path of its text {shown} names no file")
        return below

    def _from_root(self) -> list[str]:
        """Return the parts that lead from the root to the folder of the load file; none if it lies elsewhere."""
        root, beside = os.path.realpath(self.root), os.path.realpath(self.beside or self.root)
        within = beside == root or beside.startswith(root.rstrip(os.sep) + os.sep)
        return list(Path(os.path.relpath(beside, root)).parts) if within and beside != root else []

    def read(self, path: str) -> bytes:
        """Return the text of a file, in UTF-8.

        Raises
        ------
        RefusedPathError
            There is no such file below the folder, or it is not a text.
        """
        *folders, name = self.parts(path)
        shown = _shown(path)
        try:
            descriptor = self._opened(tuple(folders), name, shown)
        except OSError as error:
            raise RefusedPathError(f"cannot open its text file {shown}: {why(error)}") from error
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise RefusedPathError(f"its text file {shown} is not a regular file")
        with os.fdopen(descriptor, "rb") as file:
            try:
                # not more than there is: Python takes the memory for all that is asked for
                data = file.read(min(status.st_size, self.max_document_bytes) + 1)
                if len(data) > self.max_document_bytes:
                    raise RefusedPathError(too_long(status.st_size, self.max_document_bytes))
            except OSError as error:
                raise RefusedPathError(f"cannot read its text file {shown}: {why(error)}") from error
        return self._text(data, name, shown)

    def state_of(self, path: str) -> tuple[int, int] | None:
        """Return size and time of change, in nanoseconds, of a text file; None if there is none that can be read."""
        found = self.file_of(path)
        return None if found is None else (found.st_size, found.st_mtime_ns)

    def file_of(self, path: str) -> os.stat_result | None:
        """Return the state of a text file; None if there is none that can be read."""
        try:
            *folders, name = self.parts(path)
            place = self._folder(tuple(folders), path)
            try:
                return os.stat(name, dir_fd=place, follow_symlinks=False)
            except FileNotFoundError:
                spelled = self._spelled(tuple(folders), place, name, path)
                return os.stat(spelled, dir_fd=place, follow_symlinks=False)
        except (RefusedPathError, OSError):
            return None

    def _advice(self, name: str) -> str:
        """Say which folder is not there, and how to name the folder that it is in."""
        if self.beside and os.path.realpath(self.root) == os.path.realpath(self.beside):
            where, advice = "beside the load file", "; name the folder that has it with --text-root"
        else:
            where, advice = "in --text-root", ""
        return f": there is no folder {_shown(name)} {where}{advice}"

    def _opened(self, folders: tuple[str, ...], name: str, shown: str) -> int:
        """Open a file of a folder, by any spelling of its name."""
        place = self._folder(folders, shown)
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            return os.open(name, flags, dir_fd=place)
        except FileNotFoundError:
            found = self._spelled(folders, place, name, shown)
            return os.open(found, flags, dir_fd=place)
        except OSError as error:
            raise self._refused(error, shown) from error

    def _folder(self, folders: tuple[str, ...], shown: str) -> int:
        """Return an open folder below the root; the last ones stay open."""
        if folders in self._folders:
            return self._folders[folders]
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        if not folders:
            place = os.open(self.root, flags)
        else:
            above, name = self._folder(folders[:-1], shown), folders[-1]
            try:
                place = os.open(name, flags | os.O_NOFOLLOW, dir_fd=above)
            except FileNotFoundError:
                spelled = self._spelled(folders[:-1], above, name, shown, is_folder=True)
                place = os.open(spelled, flags | os.O_NOFOLLOW, dir_fd=above)
            except OSError as error:
                raise self._refused(error, shown) from error
        if len(self._folders) >= _MAX_OPEN:
            for key in [one for one in self._folders if one and one != folders[: len(one)]]:
                os.close(self._folders.pop(key))
        self._folders[folders] = place
        return place

    def _spelled(self, folders: tuple[str, ...], place: int, name: str, shown: str, *, is_folder: bool = False) -> str:
        """Return the only name in a folder that is the same except for case, Unicode form and encoding."""
        if folders not in self._names:
            if len(self._names) >= _MAX_OPEN:
                self._names.clear()
            names: dict[str, list[str]] = {}
            for one in os.listdir(place):
                names.setdefault(folded_file_name(one), []).append(one)
            self._names[folders] = names
        found = self._names[folders].get(folded_file_name(name), [])
        if not found:
            raise RefusedPathError(
                f"its text file {shown} is missing{self._advice(name) if is_folder and not folders else ''}"
            )
        if len(found) > 1:
            raise RefusedPathError(f"its text file {shown} is ambiguous: {len(found)} names differ only by case")
        return found[0]

    @staticmethod
    def _refused(error: OSError, shown: str) -> Exception:
        """Return the problem of a name that cannot be opened."""
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
            return RefusedPathError(f"its text file {shown} is, or lies behind, a link; links are not followed")
        return error

    def _text(self, data: bytes, name: str, shown: str) -> bytes:
        """Return the bytes of a text file in UTF-8."""
        for mark, encoding in BYTE_ORDER_MARKS:
            if data.startswith(mark):
                return self._checked(into_utf8(data[len(mark) :], encoding), encoding, shown, mark)
        if (kind := foreign(data[: 1 << 16], name)) is not None and not kind.is_text:
            raise RefusedPathError(f"its text file {shown}: {kind.problem}")
        if (advice := looks_like_utf16(data)) is not None:
            raise RefusedPathError(f"its text file {shown} {advice}")
        encoding = with_byte_order(self.encoding)
        if not (is_utf8(encoding) or is_taken_as_utf8(data, encoding, is_all=True)):
            data = into_utf8(data, encoding)
        return self._checked(data, encoding, shown)

    @staticmethod
    def _checked(data: bytes, encoding: str, shown: str, mark: bytes = b"") -> bytes:
        if (problem := why_not_utf8(data, encoding, mark)) is not None:
            raise RefusedPathError(f"its text file {shown}: {problem}")
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
