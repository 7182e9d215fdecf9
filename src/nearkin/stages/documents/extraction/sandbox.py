"""Sandbox of an extraction worker, applied before it reads a file: limits of the kernel, no network, no other files.

Sources: Linux,
Documentation/userspace-api/landlock.rst and seccomp_filter.rst.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_FILTER = 38, 22, 2
_MAX_OPEN_FILES = 256
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# What reaches the network, starts programs, looks into other processes, or would do any of it for us (io_uring).
_DENIED = {
    "socket": (41, 198), "connect": (42, 203), "accept": (43, 202), "bind": (49, 200), "listen": (50, 201),
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "kill": (62, 129), "ptrace": (101, 117),
    "mount": (165, 40), "umount2": (166, 39), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "unshare": (272, 97), "accept4": (288, 242), "perf_event_open": (298, 241), "open_by_handle_at": (304, 265),
    "setns": (308, 268), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "bpf": (321, 280),
    "execveat": (322, 281), "userfaultfd": (323, 282), "pidfd_send_signal": (424, 424), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "pidfd_getfd": (438, 438),
}  # fmt: skip
"""Numbers on x86_64 and aarch64."""
_CLONE, _CLONE3 = {"x86_64": 56, "aarch64": 220}, 435
_CLONE_THREAD = 0x10000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM, _ENOSYS = 1, 38
_X32_BIT = 0x40000000
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_READ_FILE, _READ_DIR, _EXECUTE = 1 << 2, 1 << 3, 1 << 0
_RIGHTS_OF_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_LIBRARIES = ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/dev/urandom")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """Parts of the sandbox that are in force: ``setrlimit``, a seccomp filter, and Landlock."""

    limits: bool
    system_calls: bool
    file_system: bool

    @property
    def in_words(self) -> str:
        """Say which parts are in force."""
        parts = {
            "limits of memory and time": self.limits, "no network (seccomp)": self.system_calls,
            "no files but its own (Landlock)": self.file_system,
        }  # fmt: skip
        held, missing = (
            ", ".join(name for name, is_held in parts.items() if is_held is want) for want in (True, False)
        )
        return f"{held or 'no limits'}; not here: {missing}" if missing else held


def apply_sandbox(*, memory_bytes: int, file_bytes: int, directory: str, libraries: Sequence[str]) -> Sandbox:
    """Confine this process for good to a writable directory, and to reading libraries; sizes are in bytes."""
    limits = _limit(memory_bytes, file_bytes)
    if not sys.platform.startswith("linux"):
        return Sandbox(limits=limits, system_calls=False, file_system=False)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    confined = _confine_files(libc, directory, [*libraries, *_LIBRARIES])
    return Sandbox(limits=limits, system_calls=_filter_calls(libc), file_system=confined)


def _limit(memory_bytes: int, file_bytes: int) -> bool:
    wanted = (
        (resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, _MAX_OPEN_FILES),
        (resource.RLIMIT_FSIZE, file_bytes),
    )  # fmt: skip
    try:
        for what, most in wanted:
            hard = resource.getrlimit(what)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(what, (most, most))
    except (OSError, ValueError):
        return False
    return True


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _filter_calls(libc: ctypes.CDLL) -> bool:
    machine = platform.machine()
    if machine not in _AUDIT_ARCH:
        return False
    program = _program(machine)
    room = ctypes.create_string_buffer(program, len(program))
    filter_program = _Program(len(program) // 8, ctypes.cast(room, ctypes.c_void_p))
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_FILTER, ctypes.byref(filter_program), 0, 0) == 0)


def _program(machine: str) -> bytes:
    calls = [
        _step(_LOAD, 4), _jump(_EQUAL, _AUDIT_ARCH[machine], 1, 0), _step(_RETURN, _KILL), _step(_LOAD, 0),
    ]  # fmt: skip
    if machine == "x86_64":  # calls of x32 have other numbers
        calls += [_jump(_AT_LEAST, _X32_BIT, 0, 1), _step(_RETURN, _KILL)]
    calls += [_jump(_EQUAL, _CLONE3, 0, 1), _step(_RETURN, _ERRNO | _ENOSYS)]
    calls += [
        _jump(_EQUAL, _CLONE[machine], 0, 3), _step(_LOAD, 16), _jump(_ANY_BIT, _CLONE_THREAD, 0, 1),
        _step(_RETURN, _ALLOW), _step(_LOAD, 0), _jump(_EQUAL, _CLONE[machine], 0, 1), _step(_RETURN, _ERRNO | _EPERM),
    ]  # fmt: skip
    column = list(_AUDIT_ARCH).index(machine)
    for number in sorted(filter(None, (numbers[column] for numbers in _DENIED.values()))):
        calls += [_jump(_EQUAL, number, 0, 1), _step(_RETURN, _ERRNO | _EPERM)]
    return b"".join([*calls, _step(_RETURN, _ALLOW)])


def _step(code: int, value: int) -> bytes:
    return struct.pack("<HBBI", code, 0, 0, value)


def _jump(code: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


def _confine_files(libc: ctypes.CDLL, directory: str, readable: Iterable[str]) -> bool:
    """Allow only reading of libraries and writing in one directory; return whether the kernel supports it."""
    version = libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        return False
    rights = _RIGHTS_OF_VERSION.get(version, _RIGHTS_OF_VERSION[5])
    attributes = struct.pack("<Q", rights)
    rules = libc.syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    if rules < 0:
        return False
    try:
        for path in {*readable}:
            _allow(libc, rules, path, (_READ_FILE | _READ_DIR | _EXECUTE) & rights)
        _allow(libc, rules, directory, rights)
        return bool(libc.syscall(_LANDLOCK_RESTRICT, rules, ctypes.c_uint32(0)) == 0)
    finally:
        os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            rights &= _READ_FILE | _EXECUTE
        rule = struct.pack("<Qi", rights, place)
        libc.syscall(_LANDLOCK_ADD, rules, ctypes.c_uint32(1), rule, ctypes.c_uint32(0))
    finally:
        os.close(place)
