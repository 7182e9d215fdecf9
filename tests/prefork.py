"""Commands in processes of their own that start in no time: forked from one that has imported everything.

`python -m nearkin` takes a second to import what it needs, and tests run it hundreds of times. Here a server imports
it once, and forks a process for each command. A small client (this file, run as a script) hands its arguments, folder,
environment and standard streams over, and exits as the command does. What the command does is what it does otherwise:
it is a process, with memory, signals and an exit code of its own. Where the start itself is the subject (imports,
variables that Python reads when it starts, limits on a process), tests run ``python -m nearkin``.
"""

from __future__ import annotations

import _signal
import _socket
import os
import sys

# What the client does not import takes it no time: `signal` and `socket`, which these two are the core of, import
# enumerations, regular expressions and selectors, and take longer than all that the client does.

KILL = int(_signal.SIGUSR1)
"""What the client gets for its command to be killed as by ``kill -9``, which it could not pass on itself."""
_PASSED_ON = {_signal.SIGTERM: _signal.SIGTERM, _signal.SIGINT: _signal.SIGINT, KILL: _signal.SIGKILL}
_STREAMS = (0, 1, 2)
_NUMBER_BYTES = 4


def ask(place: str, arguments: list[str]) -> int:
    """Run a command on this process's streams; its exit status as `os.waitpid` gives it."""
    child: list[int] = []
    early: list[int] = []

    def pass_on(number: int, frame: object) -> None:
        if child:
            _kill(child[0], _PASSED_ON[number])
        else:
            early.append(_PASSED_ON[number])

    for number in _PASSED_ON:  # before there is a child, or it would outlive a client that is killed early
        _signal.signal(number, pass_on)
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    server.connect(place)
    variables = [f"{name}={value}" for name, value in os.environ.items()]
    wanted = b"\0".join(map(os.fsencode, [os.getcwd(), str(len(arguments)), *arguments, *variables]))
    streams = b"".join(number.to_bytes(_NUMBER_BYTES, sys.byteorder) for number in _STREAMS)
    server.sendmsg([_as_bytes(len(wanted))], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    server.sendall(wanted)
    child.append(_number_of(_all_of(server, _NUMBER_BYTES)))
    for number in early:
        _kill(child[0], number)
    return _number_of(_all_of(server, _NUMBER_BYTES))


def _kill(pid: int, number: int) -> None:
    try:  # noqa: SIM105  # for which there would be contextlib, to be imported
        os.kill(pid, number)
    except ProcessLookupError:  # it is done
        pass


def _as_bytes(number: int) -> bytes:
    return number.to_bytes(_NUMBER_BYTES, "little", signed=True)


def _number_of(sent: bytes) -> int:
    return int.from_bytes(sent, "little", signed=True)


def _all_of(connection: _socket.socket, size: int) -> bytes:
    read = b""
    while len(read) < size:
        more = connection.recv(size - len(read))
        if not more:
            raise ConnectionError("the server of commands is gone")
        read += more
    return read


def serve(listening: _socket.socket, owner_ends: int) -> list[str] | None:
    """Take requests until the process of a descriptor ends, then return None.

    It also comes back in the child that is to run a command, with its arguments.
    """
    import select

    running: dict[int, tuple[int, _socket.socket]] = {}  # by descriptors of the processes
    events = select.poll()
    events.register(listening, select.POLLIN)
    events.register(owner_ends, select.POLLIN)
    while True:
        for number, _ in events.poll():
            if number == owner_ends:
                return None
            if number != listening.fileno():
                events.unregister(number)
                os.close(number)
                child, connection = running.pop(number)
                _tell(connection, os.waitpid(child, 0)[1])
                connection.close()
                continue
            connection, _ = listening.accept()
            try:
                streams, wanted = _request(connection)
            except ConnectionError:  # the client was killed
                connection.close()
                continue
            child = os.fork()
            if not child:
                for one, (_, other) in running.items():
                    os.close(one)
                    other.close()
                connection.close()
                listening.close()
                os.close(owner_ends)
                return _become(streams, wanted)
            for stream in streams:
                os.close(stream)
            _tell(connection, child)
            process = os.pidfd_open(child)
            running[process] = child, connection
            events.register(process, select.POLLIN)


def _request(connection: _socket.socket) -> tuple[list[int], list[str]]:
    """The client's streams; its folder, the number of its arguments, these, and its variables."""
    import socket

    start, streams, _, _ = socket.recv_fds(connection, _NUMBER_BYTES, len(_STREAMS))
    start += _all_of(connection, _NUMBER_BYTES - len(start))
    return streams, list(map(os.fsdecode, _all_of(connection, _number_of(start)).split(b"\0")))


def _tell(connection: _socket.socket, number: int) -> None:
    try:  # noqa: SIM105
        connection.sendall(_as_bytes(number))
    except OSError:  # the client was killed
        pass


def _become(streams: list[int], wanted: list[str]) -> list[str]:
    """Make this process the client's: with its streams, its folder and its variables; its arguments."""
    for stream, place in zip(streams, _STREAMS):
        os.dup2(stream, place)
        os.close(stream)
    folder, n_arguments, *rest = wanted
    os.environ.clear()
    os.environ.update(variable.split("=", 1) for variable in rest[int(n_arguments) :])
    os.chdir(folder)
    return rest[: int(n_arguments)]


def _end_as(status: int) -> None:
    """Exit as the command did: with its code, or by its signal."""
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) != _signal.SIGKILL:
            _signal.signal(os.WTERMSIG(status), _signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    _end_as(ask(sys.argv[1], sys.argv[2:]))
