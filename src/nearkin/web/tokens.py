"""Token of scripts, read from a file."""

from __future__ import annotations

from pathlib import Path

from nearkin.errors import SourceError
from nearkin.paths import why

_MIN_CHARACTERS = 32


def read_token(path: Path) -> str:
    """Return the token in a file, without surrounding white space.

    Raises
    ------
    SourceError
        The file cannot be read, others may read it, or the token is short or has characters that no header can have.
    """
    try:
        mode, token = path.stat().st_mode, path.read_text(encoding="ascii").strip()
    except UnicodeDecodeError:
        raise SourceError(f"{path}: a token has ASCII characters only.") from None
    except OSError as error:
        raise SourceError(f"{path}: {why(error)}.") from error
    if mode & 0o077:
        raise SourceError(f"{path}: other users may read this file. Run: chmod 600 {path}")
    if len(token) < _MIN_CHARACTERS or not token.isprintable() or " " in token:
        raise SourceError(f"{path}: a token has at least {_MIN_CHARACTERS} printable characters without spaces.")
    return token
