"""Progress bars for a person who watches a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from nearkin.cli.printing import Printer, shown, warn
from nearkin.kernels.choosing import announcing
from nearkin.nouns import agreeing
from nearkin.runs.progress import Unit
from nearkin.wording import is_warning

if TYPE_CHECKING:
    from rich.progress import TaskID


_COMPILING = "compiling kernels that this Python environment uses for the first time"


class Bars:
    """Progress bars, one per stage, with rate and time left; messages are printed above them."""

    def __init__(self, console: Console, *, is_quiet: bool) -> None:
        self._console = console
        self._is_quiet = is_quiet
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    @contextmanager
    def shown(self) -> Iterator[Bars]:
        """Show the bars while the block runs, from the first stage on."""
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
            self._progress = progress_on(self._console)
            self._progress.start()
        self._task = self._progress.add_task(stage, total=total or None, unit=unit)

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


@contextmanager
def bars_shown(*, is_quiet: bool) -> Iterator[Bars]:
    """Show bars on standard error until the block ends."""
    with Bars(Printer(stderr=True), is_quiet=is_quiet).shown() as bars, announcing(partial(bars.say, _COMPILING)):
        yield bars


class _Amount(ProgressColumn):
    def render(self, task: Task) -> Text:
        unit = task.fields["unit"]
        is_one_step = unit == "steps" and (task.total or 1) == 1
        noun = "" if unit == "bytes" else agreeing(round(task.completed), unit.removesuffix("s"))
        text = "" if is_one_step else f"{_amount(task.completed, unit)} {noun}"
        return Text(text.rstrip(), style="progress.download", no_wrap=True)


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        unit, speed = task.fields["unit"], task.finished_speed or task.speed
        text = f"{_amount(speed, unit)}/s" if speed and unit != "steps" else ""
        return Text(text, style="progress.data.speed", no_wrap=True)


class _Left(ProgressColumn):
    def render(self, task: Task) -> Text:
        left_s = None if task.finished else task.time_remaining
        text = "" if left_s is None else f"{int(left_s) // 60}:{int(left_s) % 60:02d} left"
        return Text(text, style="progress.remaining", no_wrap=True)


def progress_on(console: Console) -> Progress:
    """Return a display of bars, which is shown once it is started."""
    return Progress(
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description:<14}"),
        BarColumn(bar_width=12),
        _Amount(),
        _Rate(),
        TimeElapsedColumn(),
        _Left(),
        console=console,
    )


def _amount(n: float | None, unit: str) -> str:
    n = n or 0.0
    if unit != "bytes":
        return f"{n:,.0f}"
    for name in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:,.0f} {name}"
        n /= 1000
    return f"{n:,.1f} GB"
