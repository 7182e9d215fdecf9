"""Numbers with their nouns: every message that counts something says it through `counted`."""

from __future__ import annotations


def counted(n: int, noun: str, plural: str = "") -> str:
    """A number and its noun.

    Parameters
    ----------
    n : int
    noun : str
        In the singular; words around it stay as they are: ``"verified pair"``.
    plural : str
        Where it is not the noun with an s.

    Examples
    --------
    >>> counted(1, "document"), counted(2135, "exact copy", "exact copies"), counted(0, "pair")
    ('1 document', '2,135 exact copies', '0 pairs')
    """
    return f"{n:,} {agreeing(n, noun, plural)}"


def agreeing(n: int, one: str, many: str = "") -> str:
    """The noun or the verb that goes with a number, where the number itself stands elsewhere.

    Examples
    --------
    >>> agreeing(1, "is", "are"), agreeing(2, "is", "are"), agreeing(2, "row")
    ('is', 'are', 'rows')
    """
    return one if n == 1 else many or f"{one}s"
