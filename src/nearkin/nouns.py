"""Numbers with their nouns; every message that counts something uses `counted`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def counted(n: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> counted(1, "document"), counted(2135, "exact copy", "exact copies"), counted(0, "batch")
    ('1 document', '2,135 exact copies', '0 batches')
    """
    return f"{n:,} {agreeing(n, noun, plural)}"


def agreeing(n: int, singular: str, many: str = "") -> str:
    """Return the noun or the verb that agrees with a number, without the number."""
    return singular if n == 1 else many or f"{singular}{'es' if singular.endswith('ch') else 's'}"


def wave_text(name: object) -> str:
    """Name a wave, without saying "wave" twice."""
    return str(name) if str(name).lower().startswith("wave ") else f"wave {name}"


def first_of(names: Sequence[str], n_shown: int, n: int | None = None) -> str:
    """List the first names and count the rest.

    Parameters
    ----------
    n
        Length of the whole list, if ``names`` is only its beginning.

    Examples
    --------
    >>> first_of(["a", "b"], 3), first_of(["a", "b", "c"], 2), first_of(["a", "b"], 2, n=1002)
    ('a, b', 'a, b and 1 more', 'a, b and 1,000 more')
    """
    shown = ", ".join(names[:n_shown])
    n_more = (len(names) if n is None else n) - n_shown
    return f"{shown} and {n_more:,} more" if n_more > 0 else shown


def one_of(names: Iterable[str]) -> str:
    """List alternatives.

    Examples
    --------
    >>> one_of(["a"]), one_of(["a", "b"]), one_of(["a", "b", "c"])
    ('a', 'a or b', 'a, b or c')
    """
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
