"""Files of a folder, and the zones of files that should find one another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from labs.similarity_index.published import EXPECTED, FILES, ZONE_NAMES
from nearkin.errors import SourceError
from nearkin.records import I64, Bool
from nearkin.stages.signatures.similarity_index import text_of_bytes
from nearkin.workflows.reading.sheets import read_rows

MAX_FILES = 500
COLUMNS = ("file", "zone")


@dataclass(frozen=True, slots=True)
class Zones:
    """Zone of each file, and the expected result of each pair.

    Parameters
    ----------
    zone : int64 array, shape (n_files,)
        0: no zone.
    expected : bool array, shape (n_files, n_files)
        Whether the first file should find the second; a file finds itself.
    is_published : bool
        Whether the zones are the paper's.
    """

    zone: I64
    expected: Bool
    is_published: bool

    @property
    def inside(self) -> Bool:
        """Whether the files of a pair are in the same zone, shape (n_files, n_files)."""
        inside: Bool = (self.zone[:, None] == self.zone[None, :]) & (self.zone > 0)[:, None]
        return inside


@dataclass(frozen=True, slots=True)
class Folder:
    """File names, in the order of the paper or by zone and name; their texts; their zones."""

    names: tuple[str, ...]
    texts: pa.LargeStringArray
    zones: Zones

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_characters(self) -> tuple[int, ...]:
        """Number of characters of each text."""
        return tuple(len(text.as_py()) for text in self.texts)


def read_folder(folder: Path, expected: Path | None) -> Folder:
    """Read every file of a folder as a text; zones are read from a CSV file, or are the paper's, by file name.

    Raises
    ------
    SourceError
        There are no files, or too many; one cannot be read; or the zones are unknown, or their file is wrong.
    """
    try:
        paths = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith(".")]
        if expected is not None:
            paths = [path for path in paths if path.resolve() != expected.resolve()]
        _check_count(folder, len(paths))
        data = {path.name: path.read_bytes() for path in paths}
    except OSError as error:
        raise SourceError(f"Cannot read {error.filename or folder}: {error.strerror}.") from error
    zone_of = zones_of_csv(expected, tuple(data)) if expected is not None else _published_zones(folder, tuple(data))
    names = tuple(zone_of)
    zone = np.array(list(zone_of.values()), np.int64)
    zones = Zones(zone, _expected(zone, is_published=expected is None), expected is None)
    return Folder(names, pa.array([text_of_bytes(data[name]) for name in names], pa.large_string()), zones)


def _check_count(folder: Path, n: int) -> None:
    if not 2 <= n <= MAX_FILES:
        raise SourceError(f"The experiment needs a folder of 2 to {MAX_FILES} files. {folder} has {n:,}.")


def _published_zones(folder: Path, names: tuple[str, ...]) -> dict[str, int]:
    """Return the paper's zones and order, if the folder has its files; other files have no zone and come last."""
    found = dict[str, int]()
    for file in FILES:
        present = [name for name in file.names if name in names]
        if len(present) > 1:
            raise SourceError(f"{folder} contains a file of the paper twice: {' and '.join(present)}.")
        if not present and file.zone:
            raise SourceError(
                f"{folder} is not the paper's collection (it has no {' or '.join(file.names)}), so you must say which "
                "of its files are similar: give --expected a CSV file with the columns file,zone. Files of one zone "
                "are similar to one another; omit those that are similar to none."
            )
        found |= dict.fromkeys(present, file.zone)
    return found | {name: 0 for name in names if name not in found}


def _expected(zone: I64, *, is_published: bool) -> Bool:
    """Expect the files of a zone to find one another; for the paper's zones, as in Tables 6 to 8."""
    expected: Bool = (zone[:, None] == zone[None, :]) & (zone > 0)[:, None]
    np.fill_diagonal(expected, True)
    if is_published:
        for number, rows in enumerate(EXPECTED, 1):
            expected[np.ix_(zone == number, zone == number)] = matrix(rows)
    return expected


def matrix(rows: str) -> Bool:
    """Make a matrix from its rows.

    Examples
    --------
    >>> matrix("10 01").tolist()
    [[True, False], [False, True]]
    """
    return np.array([[cell == "1" for cell in row] for row in rows.split()], np.bool_)


def zones_of_csv(path: Path, names: tuple[str, ...]) -> dict[str, int]:
    """Read the number of each name's zone, zone by zone, from a file with the columns file and zone.

    Raises
    ------
    SourceError
        The file cannot be read, lacks a column, lists an unknown file or one twice, or has no zone of two files.
    """
    (_, header), *rows = read_rows(path) or [(1, [])]
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise SourceError(
            f"{path} has no column {' and no column '.join(missing)}. --expected needs the columns file,zone. Its "
            f"columns are {', '.join(header) or 'none'}."
        )
    zone_of = dict[str, str]()
    for line, row in rows:
        told = dict(zip(header, row))
        name, zone = told.get("file", "").strip(), told.get("zone", "").strip()
        if name not in names:
            raise SourceError(f"{path}, line {line}: the folder has no file {name!r}.")
        if name in zone_of:
            raise SourceError(f"{path}, line {line}: {name!r} is listed twice.")
        zone_of[name] = zone
    zones = sorted(set(zone_of.values()) - {""})
    if not any(list(zone_of.values()).count(zone) >= 2 for zone in zones):
        raise SourceError(f"{path}: no zone has two files, so no files are expected to be similar.")
    numbers = {zone: number for number, zone in enumerate(zones, 1)} | {"": 0}
    placed = sorted((numbers[zone_of.get(name, "")] or len(numbers), name) for name in names)
    return {name: 0 if number == len(numbers) else number for number, name in placed}


def zone_name(zones: Zones, number: int) -> str:
    """Return the label of a zone for a table."""
    return f"zone {number}: {ZONE_NAMES[number - 1]}" if zones.is_published else f"zone {number}"
