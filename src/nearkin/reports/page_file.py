"""A page beside results that are whole: where it cannot be drawn, the results stand, and it is said why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nearkin.errors import DrawingError, MissingExtraError
from nearkin.reports.drawing import LIMITS, drawing
from nearkin.runs.files import published
from nearkin.runs.progress import Progress


def write_page(path: Path, render: Callable[[], str], progress: Progress, *, instead: str) -> str | None:
    """Write a page; without the ``report`` extra, or where it cannot be drawn, say that there is none.

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
        For the manifest: why the page could not be drawn.

    Raises
    ------
    OutputError
        The page was drawn, and cannot be written.
    """
    try:
        with drawing():
            page = render()
    except MissingExtraError as error:
        progress.say(f"{error}. Everything else is written.")
        return None
    except DrawingError as error:
        return _told(path, str(error), progress, instead)
    except (OSError, MemoryError) as error:  # modules and templates are loaded while a page is made
        return _told(path, f"{str(error) or 'Not enough memory'}; {LIMITS}.", progress, instead)
    with published(path) as aside:
        aside.write_text(page, encoding="utf-8")
    return None


def _told(path: Path, why: str, progress: Progress, instead: str) -> str:
    problem = f"{path.name} is missing. {why} All other results are complete. {instead}"
    progress.say(problem)
    return problem
