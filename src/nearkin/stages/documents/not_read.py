"""Files and folders of the input that are not read, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRead:
    """Files or folders of one place that are not read, for one reason.

    Parameters
    ----------
    place : str
        Folder or pattern that they were found by.
    reason : str
        Noun in the plural, such as "hidden files and folders".
    paths : tuple of str
        Sorted.
    sentence : str
        What a command says of them.
    """

    place: str
    reason: str
    paths: tuple[str, ...]
    sentence: str


Note = str | NotRead
"""A sentence about the input, or what was not read in it."""


def sentences_of(notes: Iterable[Note]) -> Iterator[str]:
    """Yield what a command says."""
    for one in notes:
        yield one if isinstance(one, str) else one.sentence


def not_read_among(notes: Iterable[Note]) -> tuple[NotRead, ...]:
    """Return what was not read."""
    return tuple(dict.fromkeys(one for one in notes if isinstance(one, NotRead)))
