"""Arrays that grow on disk: what is read back is what was written under that name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nearkin.errors import RunError
from nearkin.runs.arrays import GrowingArray, mapped_array


def written(path: Path, numbers: list[int], **name: str) -> list[int]:
    growing = GrowingArray(path, np.int32, **name)
    for number in numbers:
        growing.add(np.array([number]))
    return growing.mapped().tolist()


def test_two_arrays_that_were_swapped_are_noticed(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    assert written(a, [1, 2]) == mapped_array(a, np.int32).tolist() == [1, 2]
    assert written(b, [3, 4]) == mapped_array(b, np.int32).tolist() == [3, 4]
    a.rename(tmp_path / "c")
    b.rename(a)
    (tmp_path / "c").rename(b)
    for path in (a, b):
        with pytest.raises(RunError, match=rf"{path} is damaged"):
            mapped_array(path, np.int32)


def test_an_array_may_be_written_under_another_name_than_it_is_read(tmp_path):
    assert written(tmp_path / "aside", [1, 2], name="whole") == [1, 2]
    with pytest.raises(RunError, match="aside is damaged"):
        mapped_array(tmp_path / "aside", np.int32)
    (tmp_path / "aside").rename(tmp_path / "whole")
    assert mapped_array(tmp_path / "whole", np.int32).tolist() == [1, 2]


def test_an_array_without_a_part_is_empty(tmp_path):
    assert written(tmp_path / "none", []) == mapped_array(tmp_path / "none", np.int32).tolist() == []
