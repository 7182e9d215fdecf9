"""Names of files in archives and mails, made safe: they become parts of ids, never paths of this machine."""

from __future__ import annotations

import re
import unicodedata

_DRIVE = re.compile(r"^[A-Za-z]:(?=[\\/])")
_MAX_CHARACTERS = 1000


def safe_name(name: str) -> str:
    r"""Return a relative name with slashes, without steps upwards, drives and control characters.

    Examples
    --------
    >>> safe_name("../../etc/passwd"), safe_name("C:\\Users\\a.doc"), safe_name("/a//b/./c"), safe_name("a\nb")
    ('etc/passwd', 'Users/a.doc', 'a/b/c', 'a\\nb')
    >>> safe_name(r"\\server\share\x.doc"), safe_name("..")
    ('server/share/x.doc', '')
    """
    parts = _DRIVE.sub("", name).replace("\\", "/").split("/")
    kept = "/".join(part for part in parts if part not in ("", ".", ".."))
    shown = "".join(one if _is_printable(one) else one.encode("unicode_escape").decode() for one in kept)
    return shown[:_MAX_CHARACTERS]


def is_unsafe(name: str) -> bool:
    """Whether a name is a path outside of the folder of its archive.

    Examples
    --------
    >>> is_unsafe("a/../../b"), is_unsafe("/etc/passwd"), is_unsafe("a/b")
    (True, True, False)
    """
    parts = name.replace("\\", "/").split("/")
    return ".." in parts or name.startswith(("/", "\\")) or _DRIVE.match(name) is not None


def _is_printable(one: str) -> bool:
    return unicodedata.category(one) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
