"""A screen: its address, its parameters, and its answer as a page and as JSON, or another address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

if TYPE_CHECKING:
    from nearkin.web.service import GoTo, ReviewService, ScreenAnswer
    from nearkin.web.sign_in import Visitor


@dataclass(frozen=True, slots=True)
class ScreenFile:
    """File with the contents of a screen.

    Parameters
    ----------
    is_sandboxed_page
        Whether it opens in the browser as a page of its own, which the service did not make: it reaches nothing of the
        service.
    """

    suffix: str
    media_type: str
    make: Callable[[ReviewService, Visitor, Any], bytes]
    is_sandboxed_page: bool = False
    query: type[msgspec.Struct] | None = None


@dataclass(frozen=True, slots=True)
class Screen:
    """Screen that shows something and changes nothing.

    Parameters
    ----------
    path
        Its JSON is at the same path with ``.json`` behind it; that of the home page is at ``/index.json``.
    table
        Returns what the screen lists as a table, which is at the same path with ``.csv``, ``.parquet`` and ``.jsonl``
        behind it; it has all rows, also those that the page does not show.
    """

    path: str
    query: type[msgspec.Struct]
    answer: Callable[[ReviewService, Any], ScreenAnswer]
    table: Callable[[ReviewService, Any], pa.Table] | None = None
    files: tuple[ScreenFile, ...] = ()
    is_part: bool = False

    @property
    def json_path(self) -> str:
        """Path of its JSON."""
        return "/index.json" if self.path == "/" else f"{self.path}.json"


@dataclass(frozen=True, slots=True)
class FileField:
    """Field of a form for a file, by its name; if there can be several files, the form's function takes a tuple."""

    name: str
    max_files: int = 1


@dataclass(frozen=True, slots=True)
class ChangeForm:
    """Form that changes the collection.

    Parameters
    ----------
    is_change
        Whether it changes the collection; otherwise it is also there with ``--read-only``.
    """

    path: str
    body: type[msgspec.Struct]
    act: Callable[..., GoTo | ScreenAnswer]
    file: FileField | None = None
    is_change: bool = True


class NoQuery(msgspec.Struct):
    """A screen without parameters."""
