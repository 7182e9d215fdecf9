"""Look-up of a host name within a time limit, because the system's look-up takes as long as its resolver waits."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import Future

_MAX_AT_ONCE = 8
_turns = threading.BoundedSemaphore(_MAX_AT_ONCE)


def addresses_of(host: str, port: int, *, within_s: float) -> list[str]:
    """Return the addresses of a host.

    A look-up that takes longer goes on in its thread, which ends with the process; no more than eight do at once.

    Parameters
    ----------
    host : str
    port : int
    within_s : float
        Maximum time in seconds.

    Raises
    ------
    TimeoutError
    OSError
        The name has no address.
    UnicodeError
        A label of the name has more than 63 characters.

    Examples
    --------
    >>> addresses_of("127.0.0.1", 443, within_s=1.0)
    ['127.0.0.1']
    """
    until, found = time.monotonic() + within_s, Future[list[str]]()

    def look_up() -> None:
        try:
            found.set_result([str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)])
        except (OSError, UnicodeError) as error:
            found.set_exception(error)
        finally:
            _turns.release()

    if not _turns.acquire(timeout=within_s):
        raise TimeoutError(f"the address of {host} was not found in time")
    # not a pool, whose threads the end of the process would wait for
    threading.Thread(target=look_up, name="nearkin-look-up", daemon=True).start()
    try:
        return found.result(max(0.0, until - time.monotonic()))
    except TimeoutError as error:
        raise TimeoutError(f"the address of {host} was not found in time") from error
