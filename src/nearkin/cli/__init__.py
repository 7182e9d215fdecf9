"""The command line: a thin shell over the workflows."""

from __future__ import annotations


def main() -> None:
    """Run the command that was typed."""
    from nearkin.cli.shell import run

    run()
