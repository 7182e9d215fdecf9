"""Differences between the command that left an unfinished run and the one that is to resume it, in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from nearkin.nouns import counted

_N_SHOWN = 3
_FILES = {"inputs": "the input", "against": "against", "left": "left", "right": "right"}
_PARAMETERS = {
    "groups": "threshold",
    "ignored": "ignore",
    "left_encoding": "encoding",
    "left_max_document_bytes": "max_document_size",
    "max_document_bytes": "max_document_size",
    "right_encoding": "encoding",
    "right_max_document_bytes": "max_document_size",
}
"""Parameters that a run stores under another name."""
_OTHERS = {
    "columns": "the columns",
    "command": "the command",
    "nearkin": "the version of Nearkin",
    "schema": "the schema",
}
"""Stored names that are no parameters."""
_SIZES = ("disk", "max_document_size", "memory", "size", "total")
_UNITS = {"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10}
_SIDE_FILE = re.compile(r"(\d+ bytes), (.*?), (?:(\d{1,20})|[0-9a-f]{64})(, .*)?", re.DOTALL)
"""State of a file as `nearkin pairs` stores it: its size, the column of its text, and its time or its digest."""

_TIME = re.compile(r", changed [^,]*")

_TEXT_FILES = re.compile(r"(\d[\d,]* text files? of \d[\d,]* bytes?) in state [0-9a-f]+")
"""State of the text files that a load file names; the hexadecimal digits are that of their names, sizes and times."""


def as_option(parameter: str) -> str:
    """Spell a parameter as on the command line.

    Examples
    --------
    >>> as_option("max_document_size")
    '--max-document-size'
    """
    return f"--{parameter.replace('_', '-')}".replace("extraction-limits", "extraction-limit")


def differences(was: Mapping[str, object], now: Mapping[str, object], spell: Callable[[str], str] = as_option) -> str:
    """Say what differs between two identities of runs; empty if nothing does.

    Examples
    --------
    >>> differences({"parameters": {"threshold": 0.8}}, {"parameters": {"threshold": 0.9, "drop": "either"}})
    '--drop was not given and is now either; --threshold was 0.8 and is now 0.9'
    >>> differences({"max_document_bytes": 67108864}, {"max_document_bytes": 1048576})
    '--max-document-size was 64MiB and is now 1MiB'
    """
    told = list(dict.fromkeys(_all(was, now, spell)))
    more = [counted(len(told) - _N_SHOWN, "more difference")] if len(told) > _N_SHOWN else []
    return "; ".join(told[:_N_SHOWN] + more)


def without_times(identity: Mapping[str, object]) -> dict[str, object]:
    """Return the identity of a run without the times at which the files of its input changed.

    Examples
    --------
    >>> without_times({"inputs": {"n_files": 1, "files": {"a": "9 bytes, changed 2026-01-01 12:00:00"}, "state": "6f"}})
    {'inputs': {'n_files': 1, 'files': {'a': '9 bytes'}}}
    >>> without_times({"left": {"a": "12 bytes, body, 1800000000000000000"}})
    {'left': {'a': '12 bytes, body'}}
    """
    return {
        name: _inputs_without_times(value) if name in _FILES and isinstance(value, dict) else value
        for name, value in identity.items()
    }


def _inputs_without_times(inputs: Mapping[str, object]) -> dict[str, object]:
    if "n_files" not in inputs:
        return {path: _side_without_time(str(state)) for path, state in inputs.items()}
    files = {path: _TIME.sub("", str(state)) for path, state in _mapping(inputs.get("files")).items()}
    return {"n_files": inputs["n_files"], "files": files}


def _side_without_time(state: str) -> str:
    found = _SIDE_FILE.fullmatch(state)
    if found is None or found.group(3) is None:
        return state
    size, column, _, texts = found.groups()
    return f"{size}, {column}{texts or ''}"


def _all(was: Mapping[str, object], now: Mapping[str, object], spell: Callable[[str], str]) -> Iterator[str]:
    """Say each difference: those of options first."""
    names = [name for name in sorted(was.keys() | now.keys()) if was.get(name) != now.get(name)]
    for name in sorted(names, key=_FILES.__contains__):
        before, after = was.get(name), now.get(name)
        if name in _FILES:
            where = _FILES[name] if name == "inputs" else spell(name)
            yield from _of_inputs(where, _mapping(before), _mapping(after))
        elif name == "table" and None not in (before, after):
            yield f"{spell(name)} is another translation table"
        elif isinstance(before, dict) or isinstance(after, dict):
            inside = "" if name == "parameters" else f"{spell(name)} "
            for key in sorted(_mapping(before).keys() | _mapping(after).keys()):
                one, other = _mapping(before).get(key), _mapping(after).get(key)
                if one != other:
                    parameter = _PARAMETERS.get(key, key)
                    whose = f"{inside}{key}" if inside else spell(parameter)
                    yield _change(whose, _value(parameter, one), _value(parameter, other))
        else:
            parameter = _PARAMETERS.get(name, name)
            yield _change(_OTHERS.get(name) or spell(parameter), _value(parameter, before), _value(parameter, after))


def _of_inputs(where: str, was: Mapping[str, object], now: Mapping[str, object]) -> Iterator[str]:
    """Say which files differ; if their list does not show it, say what may."""
    is_listed = "n_files" in was or "n_files" in now
    before = _mapping(was.get("files")) if is_listed else was
    after = _mapping(now.get("files")) if is_listed else now
    told = False
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) == after.get(path):
            continue
        told = True
        if path not in before:
            yield f"{path} was not in {where}"
        elif path not in after:
            yield f"{path} was in {where} and no longer is"
        else:
            yield f"{path} in {where} has changed: {_file_differs(_file(before[path]), _file(after[path]))}"
    if told:
        return
    if was.get("n_files") != now.get("n_files"):
        yield f"{where} had {counted(_number(was), 'file')} and now has {_number(now):,}"
    elif before and len(before) == _number(now):
        yield f"the files of {where} come in another order, or are read with another format or other columns"
    else:
        yield f"what {where} names has changed, or is read with another format or other columns"


def _change(what: str, before: str, after: str) -> str:
    was, now = ("were", "are") if what == _OTHERS["columns"] else ("was", "is")
    return f"{what} {was} {before} and {now} now {after}"


def _value(parameter: str, value: object) -> str:
    """Write a value as the command line takes it."""
    if value is None:
        return "not given"
    if isinstance(value, bool):
        return "on" if value else "off"
    if parameter in _SIZES and isinstance(value, int):
        unit = next((unit for unit, size in _UNITS.items() if value and value % size == 0), None)
        return f"{value // _UNITS[unit]}{unit}" if unit else counted(value, "byte")
    if isinstance(value, list):
        return ", ".join(_value("", one) for one in value if one is not None) or "not given"
    return str(value)


def _file(state: object) -> str:
    """Write the state of a file.

    Examples
    --------
    >>> _file("12 bytes, body, 1800000000000000000")
    '12 bytes, column body, changed 2027-01-15 08:00:00+00:00'
    """
    found = _SIDE_FILE.fullmatch(str(state))
    if found is None:
        return str(state)
    size, column, moment, texts = found.groups()
    parts = [size] + ([f"column {column}"] if column != "None" else [])
    if moment:
        parts.append(f"changed {datetime.fromtimestamp(int(moment) / 1e9, UTC).isoformat(sep=' ')}")
    return ", ".join(parts) + (texts or "")


def _file_differs(before: str, after: str) -> str:
    was, now = (_TEXT_FILES.sub(r"\1", one) for one in (before, after))
    return text_files_differ(before, after) if was == now else f"it was {was} and is now {now}"


def text_files_differ(before: str, after: str) -> str:
    """Say how the text files that a load file names differ from those of another time.

    Examples
    --------
    >>> text_files_differ("2 text files of 116 bytes in state a81f", "2 text files of 99 bytes in state 03b4")
    'the files that it names were 2 text files of 116 bytes and are now 2 text files of 99 bytes'
    >>> text_files_differ("2 text files of 116 bytes in state a81f", "2 text files of 116 bytes in state 03b4")
    'the files that it names, 2 text files of 116 bytes, have other names, sizes or modification times'
    """
    was, now = (found.group(1) if (found := _TEXT_FILES.search(one)) else "none" for one in (before, after))
    if was == now:
        return f"the files that it names, {was}, have other names, sizes or modification times"
    return f"the files that it names were {was} and are now {now}"


def _number(one: Mapping[str, object]) -> int:
    n_files = one.get("n_files")
    return n_files if isinstance(n_files, int) else 0


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
