"""Progress bars for a person who watches a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)  # fmt: skip

from nearkin.cli.printing import Printer, shown, warn
from nearkin.kernels.choosing import announcing
from nearkin.runs.progress import Unit
from nearkin.wording import is_warning

if TYPE_CHECKING:
    from rich.progress import TaskID


_COMPILING = "compiling kernels that this Python environment uses for the first time"


class Bars:
    """Progress bars, one per stage, with share and time left; messages are printed above them."""

    def __init__(self, *, is_quiet: bool) -> None:
        self._console = Printer(stderr=True)
        self._is_quiet = is_quiet
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    @contextmanager
    def shown(self) -> Iterator[Bars]:
        """Show the bars while the block runs, from the first stage on."""
        with announcing(partial(self.say, _COMPILING)):
            try:
                yield self
            finally:
                if self._progress is not None:
                    self._progress.stop()

    def start(self, stage: str, total: int, unit: Unit) -> None:
        """Add a bar for the stage."""
        if self._is_quiet or not self._console.is_terminal:
            return
        if self._progress is None:
            columns = TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn(compact=True)
            name = TextColumn("{task.description:<14}")
            spinner, bar = SpinnerColumn(finished_text="[green]✓"), BarColumn(bar_width=12)
            self._progress = Progress(spinner, name, bar, *columns, console=self._console)
            self._progress.start()
        self._task = self._progress.add_task(stage, total=total or None)

    def advance(self, n: int) -> None:
        """Advance the bar."""
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task, n)

    def finish(self) -> None:
        """Fill the bar."""
        if self._progress is not None and self._task is not None:
            task = self._progress.tasks[self._task]
            done = max(task.total or 0, task.completed, 1)
            self._progress.update(self._task, total=done, completed=done)
            self._task = None

    def say(self, message: str) -> None:
        """Print a message above the bars; if quiet, only a warning."""
        if self._is_quiet:
            if is_warning(message):
                warn(message)
        else:
            self._console.print(f"[dim]·[/] {shown(message)}", highlight=False, soft_wrap=True)
