"""Command line of the scripts: the folder to write to."""

from __future__ import annotations

import argparse
from pathlib import Path


def target_folder(description: str | None, default: str | None = None) -> Path:
    """Return the folder that the command line names, or the default."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    shown = "folder for the documents" + (f"; default: {default}" if default else "")
    parser.add_argument("folder", nargs="?" if default else None, default=default, help=shown)
    return Path(parser.parse_args().folder)
