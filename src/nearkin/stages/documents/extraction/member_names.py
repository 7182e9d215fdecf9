"""Names of files in archives and mails, made safe: they become parts of ids, never paths of this machine."""

from __future__ import annotations

import re
import unicodedata

_DRIVE = re.compile(r"^(?:[A-Za-z]:(?=[\\/]))+")
_MAX_CHARACTERS = 1000
_CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")


def safe_name(name: str) -> str:
    r"""Return a relative name with slashes, without "..", drives and control characters.

    Examples
    --------
    >>> safe_name("../../etc/passwd"), safe_name("C:\\Users\\a.doc"), safe_name("/a//b/./c"), safe_name("a\nb")
    ('etc/passwd', 'Users/a.doc', 'a/b/c', 'a%0Ab')
    >>> safe_name(r"\\server\share\x.doc"), safe_name("..")
    ('server/share/x.doc', '')
    """
    shown = "".join(one if unicodedata.category(one) not in _CONTROLS else _escaped(one) for one in name)
    parts = [part for part in shown.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    while parts and _DRIVE.match(f"{parts[0]}/"):
        del parts[0]
    return "/".join(parts)[:_MAX_CHARACTERS].rstrip("/")


def _escaped(one: str) -> str:
    return "".join(f"%{byte:02X}" for byte in one.encode("utf-8", "surrogatepass"))
