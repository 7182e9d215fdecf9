"""``python -m nearkin``, and the command ``nearkin``."""

from __future__ import annotations

import atexit
import gc
import signal

TYPE_CHECKING = False  # as in `nearkin`
if TYPE_CHECKING:
    from typing import NoReturn

gc.set_threshold(200_000)  # imports make 150,000 objects that stay: to look for garbage among them at the start
atexit.register(gc.freeze)  # and at the end takes a quarter of a short command


def main() -> NoReturn:
    """Run the command line; Ctrl-C while its modules are imported ends the process without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored, as after nohup
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    from nearkin.cli.main import run

    run()


if __name__ == "__main__":
    main()
