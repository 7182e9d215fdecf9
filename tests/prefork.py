"""Commands in processes of their own that start in no time: forked from one that has imported everything.

`python -m nearkin` takes a second to import what it needs, and tests run it hundreds of times. Here a server imports
it once, and forks a process for each command. A small client (this file, run as a script) hands its arguments, folder,
environment and standard streams over, and exits as the command does. What the command does is what it does otherwise:
it is a process, with memory, signals and an exit code of its own. Where the start itself is the subject (imports,
variables that Python reads when it starts, limits on a process), tests run ``python -m nearkin``.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import sys

KILL = signal.SIGUSR1
"""What the client gets for its command to be killed as by ``kill -9``, which it could not pass on itself."""
_PASSED_ON: dict[int, signal.Signals] = {
    signal.SIGTERM: signal.SIGTERM,
    signal.SIGINT: signal.SIGINT,
    KILL: signal.SIGKILL,
}
_STREAMS = (0, 1, 2)
_LENGTH = struct.Struct("<I")
_STATUS = struct.Struct("<i")


def ask(place: str, arguments: list[str]) -> int:
    """Run a command on this process's streams; its exit status as `os.waitpid` gives it."""
    child: list[int] = []
    early: list[signal.Signals] = []

    def pass_on(number: int, frame: object) -> None:
        if not child:
            early.append(_PASSED_ON[number])
        else:
            with contextlib.suppress(ProcessLookupError):  # it is done
                os.kill(child[0], _PASSED_ON[number])

    for number in _PASSED_ON:  # before there is a child, or it would outlive a client that is killed early
        signal.signal(number, pass_on)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.connect(place)
        wanted = json.dumps({"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}).encode()
        socket.send_fds(server, [_LENGTH.pack(len(wanted))], list(_STREAMS))
        server.sendall(wanted)
        child += _STATUS.unpack(_all_of(server, _STATUS.size))
        for number in early:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child[0], number)
        return int(_STATUS.unpack(_all_of(server, _STATUS.size))[0])


def _all_of(connection: socket.socket, size: int) -> bytes:
    read = b""
    while len(read) < size:
        more = connection.recv(size - len(read))
        if not more:
            raise ConnectionError("the server of commands is gone")
        read += more
    return read


def serve(listening: socket.socket) -> list[str]:
    """Take requests for ever; it comes back in the child that is to run a command, with its arguments."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait for the commands
    while True:
        connection, _ = listening.accept()
        if os.fork():
            connection.close()
            continue
        listening.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        start, streams, _, _ = socket.recv_fds(connection, _LENGTH.size, len(_STREAMS))
        start += _all_of(connection, _LENGTH.size - len(start))
        wanted = json.loads(_all_of(connection, _LENGTH.unpack(start)[0]))
        child = os.fork()
        if not child:
            connection.close()
            for stream, place in zip(streams, _STREAMS):
                os.dup2(stream, place)
                os.close(stream)
            os.environ.clear()
            os.environ.update(wanted["environment"])
            os.chdir(wanted["folder"])
            return list(wanted["arguments"])
        for stream in streams:
            os.close(stream)
        connection.sendall(_STATUS.pack(child))
        _, status = os.waitpid(child, 0)
        connection.sendall(_STATUS.pack(status))
        os._exit(0)


def _end_as(status: int) -> None:
    """Exit as the command did: with its code, or by its signal."""
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) != signal.SIGKILL:
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    _end_as(ask(sys.argv[1], sys.argv[2:]))
