"""Names of files: which are of this machine, which can be written, and why the system refuses one."""

from __future__ import annotations

import errno
import os
import re

from nearkin.errors import OutputError, SourceError

# A path that pathlib had in its hands has one slash left; a single letter before the colon is a drive of Windows.
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)", re.DOTALL)
_WORDS = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "the disk quota is exhausted; free some space",
    errno.EFBIG: "the file would exceed the limit on the size of files (ulimit -f, or of the file system)",
    errno.EROFS: "the file system is read-only; choose another place",
    errno.EMFILE: "this process has too many open files; raise the limit (ulimit -n)",
    errno.ENFILE: "this machine has too many open files",
    errno.EACCES: "permission denied; check the permissions of the directory",
    errno.EPERM: "permission denied; check the permissions of the directory",
}


def check_input(place: str | os.PathLike[str]) -> None:
    """Refuse what names no file of this machine: an object store, a web address.

    Raises
    ------
    SourceError

    Examples
    --------
    >>> check_input("corpus/part-1.jsonl")
    >>> check_input("s3://bucket/corpus")
    Traceback (most recent call last):
    ...
    nearkin.errors.SourceError: s3://bucket/corpus: object stores and other URLs are not supported yet. Copy the files \
to this machine, or mount them, and name their path.
    """
    if (url := _url(place)) is not None:
        raise SourceError(f"{not_supported(url)} Copy the files to this machine, or mount them, and name their path.")


def check_output(place: str | os.PathLike[str], option: str = "--out") -> None:
    r"""Refuse a name that results cannot have: a URL, or bytes that are not UTF-8, which Arrow does not write to.

    Raises
    ------
    OutputError

    Examples
    --------
    >>> check_output("results")
    >>> check_output("results-\udcff")
    Traceback (most recent call last):
    ...
    nearkin.errors.OutputError: Cannot write results-\xff: the name is not valid UTF-8. Choose another --out.
    """
    if (url := _url(place)) is not None:
        raise OutputError(f"{not_supported(url)} Write to a path of this machine, and copy the results from there.")
    name = os.fsencode(place)
    try:
        name.decode()
    except UnicodeDecodeError as error:
        shown = name.decode("utf-8", "backslashreplace")
        raise OutputError(f"Cannot write {shown}: the name is not valid UTF-8. Choose another {option}.") from error


def why(error: OSError) -> str:
    """Explain why the system cannot write or open a file.

    Examples
    --------
    >>> why(OSError(errno.EFBIG, "File too large"))
    'the file would exceed the limit on the size of files (ulimit -f, or of the file system)'
    >>> why(OSError(errno.ENOTDIR, "Not a directory"))
    'Not a directory'
    """
    return _WORDS.get(error.errno or _number_in(str(error)), error.strerror or str(error))


def _number_in(message: str) -> int:
    """Error number in messages of Arrow and numpy: ``[errno 28] …``, or a number of unwritten items."""
    if " requested and " in message:
        return errno.EFBIG if has_limit_on_files() else errno.ENOSPC
    found = re.search(r"\[errno (\d+)\]", message, re.IGNORECASE)
    return int(found[1]) if found else 0


def has_limit_on_files() -> bool:
    """Whether this process may write files up to some size only: ``ulimit -f``."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return False
    return resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY


def not_supported(url: str) -> str:
    """A sentence about a URL where a path is wanted."""
    return f"{without_password(url)}: object stores and other URLs are not supported yet."


def without_password(url: str) -> str:
    """A URL without what may be its password.

    Examples
    --------
    >>> without_password("mysql://ada:secret@localhost/matters")
    'mysql://ada:***@localhost/matters'
    """
    return re.sub(r"(://[^:/@]*):.*@", r"\1:***@", url, flags=re.DOTALL)


def _url(place: str | os.PathLike[str]) -> str | None:
    """The URL that a place is, as it was typed; None for a path."""
    if isinstance(place, str) and "://" not in place:
        return None
    found = _URL.fullmatch(os.fspath(place))
    if found is None or isinstance(place, str):
        return found and found[0]
    return f"{found[1]}:{'///' if found[1].lower() == 'file' else '//'}{found[2]}"
