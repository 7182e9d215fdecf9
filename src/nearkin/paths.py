"""File names: whether they name files of this machine, can be written, and why the system refused one."""

from __future__ import annotations

import errno
import glob
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from nearkin.errors import OutputError, ParameterError, SourceError
from nearkin.nouns import counted
from nearkin.wording import reveal_line

# A path that pathlib had in its hands has one slash left; a single letter before the colon is a drive of Windows.
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)", re.DOTALL)
_NEARLY_A_URL = re.compile(r"postgres(?:ql)?:(?!//)", re.IGNORECASE)
_KEYWORDS = re.compile(r"\s*(?:host|hostaddr|port|dbname|user|password|service)\s*=\s*\S+\s+\w+\s*=")
_PASSWORD = re.compile(r"(\bpassword\s*=\s*)(?:'[^']*'|[^\s&]+)")
_ESCAPED_BYTE = re.compile(r"\\x([89a-f][0-9a-f]|5c(?=x(?:5c|[89a-f][0-9a-f])))")
"""A byte that is not UTF-8, or the backslash of characters that look like one."""
STDIN = "-"
"""Name of standard input among names of files."""
DATABASE = "nearkin.sqlite"
"""Name of the file that makes a directory a collection."""
_OTHER_FORMATS = (".csv", ".tsv", ".jsonl", ".json", ".txt", ".xlsx")
_MAX_NAME = 1024
"""Maximum number of characters of a string that may be meant as the name of a file."""
_MAX_PART, _MAX_PATH = 255, 4095
"""Maximum length of the name of a file or folder, and of a whole path in bytes on Linux."""
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
    """Refuse names that are not files of this machine: object stores and web addresses."""
    if (url := _url(place)) is not None:
        raise SourceError(f"{not_supported(url)} Copy the files to this machine, or mount them, and name their path.")


def check_output(place: str | os.PathLike[str], option: str = "--out") -> None:
    """Refuse a name for results: a URL, or bytes that are not UTF-8, to which Arrow cannot write."""
    if (url := _url(place)) is not None:
        raise OutputError(f"{not_supported(url)} Write to a path of this machine, and copy the results from there.")
    name = os.fsencode(place)
    try:
        name.decode()
    except UnicodeDecodeError as error:
        shown = printable(os.fspath(place))
        raise OutputError(f"Cannot write {shown}: the name is not valid UTF-8. Choose another {option}.") from error


def check_own_format(place: str | os.PathLike[str], holds: str) -> None:
    """Refuse the name of a text file or spreadsheet for a result in a format of its own."""
    name, suffix = os.path.splitext(printable(os.fspath(place)))
    if suffix.lower() in _OTHER_FORMATS:
        raise ParameterError(
            f"{name}{suffix}: {holds} cannot be written as {suffix}. Choose another ending, or none.", parameter="out"
        )


def path_of(given: object, parameter: str) -> Path:
    """Return a path."""
    if not isinstance(given, str | os.PathLike) or not os.fspath(given):
        raise ParameterError.of(parameter, "a path", given)
    path = os.fsdecode(given)
    if "\0" in path:
        raise ParameterError.of(parameter, "a path, which cannot contain the character U+0000", path)
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise ParameterError.of(parameter, "a path, which cannot contain an unpaired surrogate", path) from error
    if (rule := rule_of_lengths(path)) is not None:
        raise ParameterError.of(parameter, rule, path)
    return Path(path)


def rule_of_lengths(path: str) -> str | None:
    """Return the rule that a path breaks if no file can have it, because a name or the whole is too long."""
    is_in_bytes = sys.platform == "linux"  # other systems count characters
    if max(len(os.fsencode(part)) if is_in_bytes else len(part) for part in path.split(os.sep)) > _MAX_PART:
        return f"a path, whose names have at most {_MAX_PART} {'bytes' if is_in_bytes else 'characters'} each"
    return f"a path of at most {_MAX_PATH:,} bytes" if is_in_bytes and len(os.fsencode(path)) > _MAX_PATH else None


def check_outside_collections(place: str | os.PathLike[str], option: str = "--out") -> None:
    """Refuse a file or directory for results inside the directory of a collection."""
    inner = os.path.realpath(place)
    while (outer := os.path.dirname(inner)) != inner:
        if os.path.lexists(os.path.join(outer, DATABASE)):
            shown, where = printable(os.fspath(place)), printable(outer)
            sentence = f"Cannot write {shown}: {where} is a collection. Choose a place for "
            raise OutputError(f"{sentence}{option} outside it.")
        inner = outer


def is_one_of(place: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> bool:
    """Whether a file is one of the inputs, under whatever name; ``-`` is the file that standard input reads.

    Examples
    --------
    >>> is_one_of("/etc/../etc/passwd", ["/etc/passwd"]), is_one_of("missing", ["missing"])
    (True, False)
    """
    try:
        status = os.stat(place)
    except (OSError, ValueError):
        return False
    return any(_is_file(status, os.fspath(path)) for path in inputs)


def _is_file(status: os.stat_result, path: str) -> bool:
    try:
        return os.path.samestat(status, os.fstat(0) if path == "-" else os.stat(path))
    except (OSError, ValueError):  # standard input is closed, or there is no such file
        return False


def printable(path: str) -> str:
    r"""Return a path in a form that JSON, Arrow and a terminal accept, even if its bytes are not UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def shown_path(path: str) -> str:
    r"""Return the path of a file as `printable` does, so that `on_disk` finds the file again.

    A backslash in a name that would read as the escape of another file's name is written as ``\x5c``.
    """
    shown = printable(path)
    if _ESCAPED_BYTE.search(path) is None or on_disk(shown) == path:
        return shown
    return printable(_ESCAPED_BYTE.sub(lambda escaped: rf"\x5c{escaped[0][1:]}", path))


def on_disk(path: str) -> str:
    r"""Return the path of the file that `shown_path` or `printable` wrote, with bytes that are not UTF-8 escaped."""
    if _ESCAPED_BYTE.search(path) is None:
        return path
    raw = _ESCAPED_BYTE.sub(lambda escaped: os.fsdecode(bytes.fromhex(escaped[1])), path)
    return raw if os.path.lexists(raw) else path


def check_are_texts(given: Sequence[object], instead: str) -> None:
    """Refuse names of files of this machine where texts are expected; ``instead`` says how to read the files.

    Strings are names of files if each of them is one line of at most 1,024 characters and names a file or folder that
    exists, is a glob that finds one, or ends in the suffix of another that does.
    """
    paths = [value for value in given if isinstance(value, os.PathLike)]
    if names := paths or _names(given):
        came = counted(len(names), "name of a file or folder", "names of files or folders")
        shown = reveal_line(os.fsdecode(names[0]))
        raise ParameterError(f"Texts are expected. Got {came}, such as {shown!r}. {instead}")


def _names(given: Sequence[object]) -> list[str]:
    suffixes, missing = set[str](), set[str]()
    names = [os.fsdecode(value) for value in given if isinstance(value, str | bytes)]
    for name in names:
        suffix = os.path.splitext(name)[1]
        if _is_found(name):
            suffixes.add(suffix)
        elif suffix and _is_like_a_name(name):
            missing.add(suffix)
        else:
            return []
    return names if len(names) == len(given) and missing <= suffixes else []


def _is_found(name: str) -> bool:
    """Whether it names a file or folder that exists; a hostile pattern could walk through the whole disk."""
    if not _is_like_a_name(name):
        return False
    is_glob = glob.has_magic(name) and not glob.has_magic(os.path.dirname(name))
    return os.path.lexists(name) or (is_glob and next(glob.iglob(name), None) is not None)


def _is_like_a_name(name: str) -> bool:
    if len(name) > _MAX_NAME or "\0" in name or len(name.splitlines()) != 1:
        return False
    try:
        os.fsencode(name)
    except UnicodeEncodeError:  # an unpaired surrogate
        return False
    return True


def why(error: OSError) -> str:
    """Explain why the system cannot write or open a file."""
    return _WORDS.get(error.errno or _number_in(str(error)), error.strerror or str(error))


def _number_in(message: str) -> int:
    """Error number in messages of Arrow and numpy: ``[errno 28] …``, or a number of unwritten items."""
    if " requested and " in message:
        return errno.EFBIG if has_limit_on_files() else errno.ENOSPC
    occurrence = re.search(r"\[errno (\d+)\]", message, re.IGNORECASE)
    return int(occurrence[1]) if occurrence else 0


def has_limit_on_files() -> bool:
    """Whether the size of the files that this process writes is limited (``ulimit -f``)."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return False
    return resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY


def not_supported(url: str) -> str:
    """Say that URLs are not supported."""
    return f"{without_password(url)}: object stores and other URLs are not supported yet."


def without_password(url: str) -> str:
    """Mask the password of a URL, of one with a slash or the host missing, and of psql's keywords.

    Examples
    --------
    >>> without_password("mysql://ada:secret@localhost/matters")
    'mysql://ada:***@localhost/matters'
    >>> without_password("postgresql://ada:secret"), without_password("host=db password=secret")
    ('postgresql://ada:***', 'host=db password=***')
    """
    masked = re.sub(r"((?:://|^postgres(?:ql)?:/?)[^:/@]*):.*@", r"\1:***@", url, flags=re.DOTALL | re.IGNORECASE)
    masked = re.sub(r"(://[^\[:/@?][^:/@?]*):(?!\d{1,5}(?:[/?]|$))[^@]+$", r"\1:***", masked, flags=re.DOTALL)
    return _PASSWORD.sub(r"\1***", masked)


def is_like_a_server(place: str) -> bool:
    """Whether a place is no path, but was meant for PostgreSQL: a URL without its slashes, or psql's keywords.

    Examples
    --------
    >>> [is_like_a_server(one) for one in ("postgresql:/ada@host/db", "host=db password=secret", "matter", "a:b")]
    [True, True, False, False]
    """
    return bool(_NEARLY_A_URL.match(place) or _KEYWORDS.match(place))


def _url(place: str | os.PathLike[str]) -> str | None:
    if isinstance(place, str) and "://" not in place and not is_like_a_server(place):
        return None
    occurrence = _URL.fullmatch(os.fspath(place))
    if occurrence is None or isinstance(place, str):
        return occurrence and occurrence[0]
    return f"{occurrence[1]}:{'///' if occurrence[1].lower() == 'file' else '//'}{occurrence[2]}"


def file_sha256(path: str) -> str:
    """Return the SHA-256 of a file's stored bytes, in hexadecimal; SourceError if it cannot be read."""
    import hashlib  # loads OpenSSL, which most commands do not need

    try:
        with Path(path).open("rb", buffering=0) as raw:
            return hashlib.file_digest(raw, "sha256").hexdigest()
    except OSError as error:
        raise SourceError(f"Cannot read {path}: {error.strerror or error}.") from error
