"""Collections for ``nearkin add --dry-run``, also before there is one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from nearkin.collection.collection import Collection
from nearkin.errors import MissingCollectionError
from nearkin.store.place import Place
from nearkin.store.store import refuse_other_files


@contextmanager
def opened_to_preview(path_or_url: str | Path, open_at: Callable[..., Collection]) -> Iterator[Collection]:
    """Open a collection, or an empty one in a temporary directory if there is none: nothing is left behind.

    Parameters
    ----------
    path_or_url : str or Path
    open_at : callable
        `Collection.open` with its settings: it takes a place, and ``create``.

    Raises
    ------
    CollectionError, OutputError
        The collection cannot be opened, or could not be created there.
    """
    with ExitStack() as stack:
        try:
            opened = open_at(path_or_url)
        except MissingCollectionError:
            directory = Place.parse(path_or_url).directory
            if directory is not None and directory.exists():
                refuse_other_files(directory)
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nearkin-")))
            opened = open_at(folder / "collection", create=True)
        yield stack.enter_context(opened)
