"""The columns of a progress bar: a stage with its rate and the time left."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from nearkin.nouns import agreeing


class _Amount(ProgressColumn):
    """Amount done; empty for a stage of one step."""

    def render(self, task: Task) -> Text:
        unit = task.fields["unit"]
        is_one_step = unit == "steps" and (task.total or 1) == 1
        noun = "" if unit == "bytes" else agreeing(round(task.completed), unit.removesuffix("s"))
        text = "" if is_one_step else f"{_amount(task.completed, unit)} {noun}"
        return Text(text.rstrip(), style="progress.download", no_wrap=True)


class _Rate(ProgressColumn):
    """Units per second."""

    def render(self, task: Task) -> Text:
        unit, speed = task.fields["unit"], task.finished_speed or task.speed
        text = f"{_amount(speed, unit)}/s" if speed and unit != "steps" else ""
        return Text(text, style="progress.data.speed", no_wrap=True)


class _Left(ProgressColumn):
    """Estimated time left."""

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
