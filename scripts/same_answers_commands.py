"""Commands of `nearkin` in processes forked from one that has imported everything: started by `same_answers.py`.

Imports take longer than most commands. A line of JSON on standard input asks for a command; the answer is its exit
code.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import signal
import sys

LIMIT_S = 900


def import_everything() -> None:
    """Import all modules that commands use, but those of Spark and of extras that are not installed."""
    import nearkin

    for module in pkgutil.walk_packages(nearkin.__path__, "nearkin."):
        if "spark" not in module.name and not module.name.endswith(("__main__", ".labs", ".lab")):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
    for name in ("pyarrow.parquet", "pyarrow.compute", "pyarrow.csv", "pyarrow.json", "rich.table", "numba"):
        importlib.import_module(name)


def wanted() -> list[str] | None:
    """Fork a process for each request; return its arguments there, and None at the end of the requests."""
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            signal.alarm(LIMIT_S)
            for number, name in enumerate(("stdin", "stdout", "stderr")):
                os.dup2(os.open(asked[name], os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT), number)
            os.environ.update(asked["environment"])
            os.chdir(asked["folder"])
            arguments: list[str] = asked["arguments"]
            return arguments
        os.write(1, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    return None


import_everything()
if (arguments := wanted()) is not None:
    from nearkin.__main__ import main

    sys.argv = ["nearkin", *arguments]
    main()
