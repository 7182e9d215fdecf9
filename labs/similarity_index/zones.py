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
from nearkin.workflows.reading.sheets import read_sheet

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
    sheet = read_sheet(path, "utf-8", lambda names: range(len(names)))
    header = sheet.names
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise SourceError(
            f"{path} has no column {' and no column '.join(missing)}. --expected needs the columns file,zone. Its "
            f"columns are {', '.join(header) or 'none'}."
        )
    zone_of = dict[str, str]()
    for row, line in enumerate(sheet.lines):
        name, zone = (sheet.text(header.index(column), row).strip() for column in COLUMNS)
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


@dataclass(frozen=True, slots=True)
class CountedPairs:
    """Correct and false results of a run, over all ordered pairs of files, including each with itself.

    Parameters
    ----------
    n_false_positives, n_false_negatives, n_correct : int
        Counted as in the paper; see `count`.
    n_as_expected : int
        Number of pairs, of ``n_pairs``, that agree with Tables 6 to 8.
    n_pairs : int
    """

    n_false_positives: int
    n_false_negatives: int
    n_correct: int
    n_as_expected: int
    n_pairs: int

    @property
    def score(self) -> float:
        """Correct results divided by false ones, or by 1 if there are none.

        Examples
        --------
        >>> CountedPairs(0, 10, 35, 225, 225).score
        3.5
        """
        return self.n_correct / max(1, self.n_false_positives + self.n_false_negatives)


def count(hits: Bool, zones: Zones) -> CountedPairs:
    """Count as in the paper.

    Inside a zone a hit is correct and a miss a false negative, even if none is expected. Outside the zones a file
    that finds itself is correct, any other hit is a false positive.

    Parameters
    ----------
    hits : bool array, shape (n_files, n_files)
        Whether the second file is similar to the first.
    zones : Zones

    Examples
    --------
    >>> zones = Zones(np.array([1, 1, 0]), np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], bool), False)
    >>> count(np.array([[1, 0, 0], [1, 1, 1], [0, 0, 1]], bool), zones)
    CountedPairs(n_false_positives=1, n_false_negatives=1, n_correct=4, n_as_expected=7, n_pairs=9)
    """
    inside, itself = zones.inside, np.eye(len(hits), dtype=np.bool_)
    return CountedPairs(
        int((hits & ~inside & ~itself).sum()),
        int((~hits & inside).sum()),
        int((hits & (inside | itself)).sum()),
        int((hits == zones.expected).sum()),
        hits.size,
    )


# The list of Snowball (snowballstem.org), which is published under these terms:
#
# Copyright (c) 2001, Dr Martin Porter
# Copyright (c) 2004,2005, Richard Boulton
# Copyright (c) 2013, Yoshiki Shibukawa
# Copyright (c) 2006-2025, Olly Betts
# All rights reserved.
#
# Redistribution and use in source and binary forms, with or without
# modification, are permitted provided that the following conditions
# are met:
#
#   1. Redistributions of source code must retain the above copyright notice,
#      this list of conditions and the following disclaimer.
#   2. Redistributions in binary form must reproduce the above copyright notice,
#      this list of conditions and the following disclaimer in the documentation
#      and/or other materials provided with the distribution.
#   3. Neither the name of the Snowball project nor the names of its contributors
#      may be used to endorse or promote products derived from this software
#      without specific prior written permission.
#
# THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND
# ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED
# WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
# DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT OWNER OR CONTRIBUTORS BE LIABLE FOR
# ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES
# (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES;
# LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON
# ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT
# (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS
# SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
SNOWBALL = """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves what which who whom this that these those am is are
    was were be been being have has had having do does did doing would should could ought i'm you're he's she's
    it's we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd i'll you'll he'll she'll we'll
    they'll isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't won't wouldn't shan't
    shouldn't can't cannot couldn't mustn't let's that's who's what's here's there's when's where's why's how's
    a an the and but if or because as until while of at by for with about against between into through during
    before after above below to from up down in out on off over under again further then once here there when
    where why how all any both each few more most other some such no nor not only own same so than too very
"""

# The list of Apache Lucene (EnglishAnalyzer). Copyright The Apache Software Foundation; under the Apache licence 2.0,
# as this project is.
LUCENE = """
    a an and are as at be but by for if in into is it no not of on or such that the their then there these they
    this to was will with
"""
