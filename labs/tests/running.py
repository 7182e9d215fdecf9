"""An experiment's command in this process."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from command_here import call_here
from functional.conftest import Ended


def lab_here(name: str, *arguments: str | float | Path) -> Ended:
    main = import_module(f"labs.{name.replace('-', '_')}.__main__").main
    given = [str(argument) for argument in arguments]
    return Ended(*call_here(lambda: sys.exit(main(given)), arguments=["labs", *given]))
