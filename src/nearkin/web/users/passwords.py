"""Passwords: their rules, and their hashes by Argon2id."""

from __future__ import annotations

import functools
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from nearkin.errors import ParameterError

MIN_CHARACTERS, MAX_CHARACTERS = 12, 1_024
_HASHER = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4)
"""The second recommendation of RFC 9106 (Biryukov, Dinu, Khovratovich, Josefsson, 2021): 64 MiB, three passes."""


def hash_of(password: str) -> str:
    """Return the hash of a new password, with its parameters and a new salt.

    Raises
    ------
    ParameterError
        The password is too short or too long.
    """
    told = _normal(password)
    if not MIN_CHARACTERS <= len(told) <= MAX_CHARACTERS:
        raise ParameterError(
            f"A password must have {MIN_CHARACTERS} to {MAX_CHARACTERS:,} characters. Got {len(told):,} instead."
        )
    return _HASHER.hash(told.encode("utf-8", "surrogatepass"))


def is_password(password: str, expected: str | None) -> bool:
    """Whether a password has a hash.

    Parameters
    ----------
    password : str
    expected : str or None
        None for a name that no user has: the answer is False, after the same computation.
    """
    told = _normal(password)[: MAX_CHARACTERS + 1].encode("utf-8", "surrogatepass")  # no password is that long
    try:
        is_right = _HASHER.verify(expected or hash_of_nobody(), told)
    except (VerificationError, InvalidHashError):
        return False
    return is_right and expected is not None


@functools.cache
def hash_of_nobody() -> str:
    """Return the hash that a password is compared with if nobody has the name; the first call computes it."""
    return _HASHER.hash(b"the password of nobody")


def _normal(password: str) -> str:
    """Return a password in NFC: keyboards differ in how they write an accented letter."""
    return unicodedata.normalize("NFC", password)
