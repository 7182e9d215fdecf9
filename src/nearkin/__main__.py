"""``python -m nearkin``, and the command ``nearkin``."""

from __future__ import annotations

import gc
import os
import signal

TYPE_CHECKING = False  # as in `nearkin`
if TYPE_CHECKING:
    from typing import NoReturn

gc.set_threshold(200_000)  # imports make 150,000 objects that stay: to look for garbage among them takes time
_INTERRUPTED = 130


def main() -> NoReturn:
    """Run the command line; Ctrl-C while its modules are imported ends the process without a word."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored, as after nohup
        signal.signal(signal.SIGINT, _end)

    from nearkin.cli.main import main as start  # a tenth of these objects

    start()


def _end(number: int, frame: object) -> NoReturn:
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
