"""Truncated and damaged files: as an error, and as a row of a run that continues."""

from __future__ import annotations

from nearkin.errors import TruncatedInputError
from nearkin.nouns import counted
from nearkin.stages.documents.compression import StreamFault

DAMAGED = "damaged file"
"""Kind of such a problem in counts of problems."""
_MARK, _MISSING = f"{DAMAGED}: ", "; what comes after is missing"
_NOTHING = "; none of its documents can be read"


def truncated_input(name: str, fault: StreamFault | str, n_documents: int | None = None) -> TruncatedInputError:
    """Return the error for a damaged file.

    Parameters
    ----------
    name : str
    fault : StreamFault or str
    n_documents : int, optional
        Number of documents read before the damage, if they are counted.

    Examples
    --------
    >>> raise truncated_input("a.jsonl.gz", "the gzip stream is truncated", 395)
    Traceback (most recent call last):
    ...
    nearkin.errors.TruncatedInputError: a.jsonl.gz: the gzip stream is truncated, after 395 documents. Get the file
    again, or add --on-error skip to use the documents before the damage.
    """
    if n_documents is None:
        return TruncatedInputError(f"{name}: {fault}{_advice('to use what comes before the damage')}")
    if not n_documents:
        where, otherwise = "before the first document", "to continue without it"
    else:
        where, otherwise = f"after {counted(n_documents, 'document')}", "to use the documents before the damage"
    return TruncatedInputError(f"{name}: {fault}, {where}{_advice(otherwise)}")


def _advice(otherwise: str) -> str:
    return f". Get the file again, or add --on-error skip {otherwise}."


def problem_of(fault: StreamFault | str, *, is_whole: bool = False) -> str:
    """Return the problem of the row that represents the missing rest of a file, or the whole file.

    Examples
    --------
    >>> problem_of("the gzip stream is truncated")
    'damaged file: the gzip stream is truncated; what comes after is missing'
    """
    return f"{_MARK}{fault}{_NOTHING if is_whole else _MISSING}"


def fault_of(problem: str) -> str:
    """Return the fault of the file from such a problem.

    Examples
    --------
    >>> fault_of(problem_of("the gzip stream is truncated", is_whole=True))
    'the gzip stream is truncated'
    """
    return problem.removeprefix(_MARK).removesuffix(_MISSING).removesuffix(_NOTHING)


def is_damage(problem: str | None) -> bool:
    """Whether a problem represents the missing rest of a file instead of a document.

    Examples
    --------
    >>> is_damage(problem_of("the gzip stream is truncated")), is_damage("the text is null"), is_damage(None)
    (True, False, False)
    """
    return problem is not None and problem.startswith(_MARK)
