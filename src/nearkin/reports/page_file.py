"""Report page of finished results; if it cannot be made, the results stay, and a message says why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nearkin.errors import MissingExtraError
from nearkin.runs.files import published
from nearkin.runs.progress import Progress

_LIMITS = "limits on memory or on open files may be too low (ulimit -v, ulimit -n)"
_COMPLETE = "All other results are complete."


def write_page(path: Path, render: Callable[[], str], progress: Progress, *, instead: str) -> str | None:
    """Write a page; if the ``report`` extra is missing or rendering fails, say that there is no page.

    Parameters
    ----------
    path : Path
    render : function
        Gives the page.
    progress : Progress
    instead : str
        A sentence: how to get a page later.

    Returns
    -------
    str or None
        For the manifest: why the page could not be made.

    Raises
    ------
    OutputError
        The page was made, and cannot be written.
    """
    try:
        page = render()
    except MissingExtraError as error:
        progress.say(f"{error}. Everything else is written.")
        return None
    except (OSError, MemoryError) as error:  # modules and templates are loaded while a page is made
        problem = f"{path.name} is missing. {str(error) or 'Not enough memory'}; {_LIMITS}. {_COMPLETE} {instead}"
        progress.say(problem)
        return problem
    with published(path) as aside:
        aside.write_text(page, encoding="utf-8")
    return None
