"""Arrays that grow on disk: what is read back is what was written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nearkin.errors import RunError
from nearkin.runs.spool import GrowingArray, mapped_array


@pytest.mark.parametrize("numbers", [[], [1, 2]])
def test_an_array_is_read_as_it_was_written(numbers: list[int], tmp_path: Path) -> None:
    path = tmp_path / "a"
    growing = GrowingArray(path, np.int32)
    for number in numbers:
        growing.add(np.array([number]))
    assert growing.mapped().tolist() == mapped_array(path, np.int32).tolist() == numbers
    data = path.read_bytes()
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    with pytest.raises(RunError, match=rf"{path} is damaged"):
        mapped_array(path, np.int32)
