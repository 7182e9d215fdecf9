"""The console that commands print to."""

from __future__ import annotations

from rich.console import Console


class Printer(Console):
    """A console whose reader may go away, as ``head`` does."""

    def on_broken_pipe(self) -> None:
        """End with the exit code for it; a run of which only the progress is no longer watched goes on in silence."""
        if not self.stderr:
            raise BrokenPipeError
        self.quiet = True
