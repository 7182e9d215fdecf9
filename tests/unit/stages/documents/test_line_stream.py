"""Lines of a stream are given as they arrive."""

from __future__ import annotations

import io
import os
import random

import pytest

from nearkin.workflows.collection.check_stream import arriving_lines


class _InPieces(io.BytesIO):
    """A stream that gives a few bytes at a time, as a pipe may."""

    def __init__(self, data: bytes, chance: random.Random) -> None:
        super().__init__(data)
        self.chance = chance

    def read1(self, size: int = -1) -> bytes:
        return super().read1(self.chance.randrange(1, 9))


@pytest.mark.parametrize("seed", range(30))
def test_every_line_once_and_in_order(seed):
    chance = random.Random(seed)
    lines = [bytes(chance.choices(b"abc ", k=chance.choice([0, 1, 3, 30]))) for _ in range(40)]
    data = b"\n".join(lines) + b"\n" * chance.randrange(2)
    lots = list(arriving_lines(_InPieces(data, chance), max_lines=7, max_line_bytes=20))
    found = [line for lot in lots for line in lot]
    expected = data.split(b"\n")[: None if data[-1:] != b"\n" else -1]
    assert [line.number for line in found] == list(range(1, len(expected) + 1))
    assert [line.data for line in found] == [line if len(line) <= 20 else b"" for line in expected]
    assert [line.is_too_long for line in found] == [len(line) > 20 for line in expected]
    assert max(map(len, lots)) <= 7


def test_nothing_is_waited_for_once_a_line_is_there():
    reading, writing = os.pipe()
    with open(reading, "rb") as stream, open(writing, "wb", buffering=0) as pipe:
        lots = arriving_lines(stream)
        for line in (b"one", b"two"):
            pipe.write(line + b"\nand a part")
            assert next(lots)[0].data.endswith(line)
            pipe.write(b"\n")
            assert next(lots)[0].data == b"and a part"
