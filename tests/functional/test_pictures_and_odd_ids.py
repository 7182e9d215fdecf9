"""A folder with pictures beside texts is no failure; ids of any type are found and come back."""

from __future__ import annotations

import datetime
import decimal
import uuid
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin
from nearkin.errors import DocumentError

WEBP = b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0/\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0"
TEXT = "the ferry left the old pier before the rain began, and nobody was on the upper deck"


def test_pictures_do_not_count_as_unreadable(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for i in range(6):
        (folder / f"{i}.webp").write_bytes(WEBP)
    (folder / "a.txt").write_text(TEXT)
    (folder / "b.txt").write_text(TEXT + " at all")
    result = nearkin.dedup(folder, max_unreadable=0)
    assert result.documents["reason"].to_pylist().count("unreadable") == 6
    (folder / "c.txt").write_bytes(b"\xff\xfe\xfd")
    with pytest.raises(DocumentError):
        nearkin.dedup(folder, max_unreadable=0.3)


@pytest.mark.parametrize(
    ("values", "ids"),
    [
        ([0.5, 1.5], ["0.5", "1.5"]),
        ([decimal.Decimal("1.50"), decimal.Decimal("2.50")], ["1.50", "2.50"]),
        ([datetime.date(2020, 1, 2), datetime.date(2020, 1, 3)], ["2020-01-02", "2020-01-03"]),
        ([uuid.UUID(int=i).bytes for i in (1, 2)], [str(uuid.UUID(int=i)) for i in (1, 2)]),
        ([b"sixteen letters!", b"0123456789abcdef"], ["sixteen letters!", "0123456789abcdef"]),
    ],
    ids=["floats", "decimals", "dates", "UUIDs", "16 letters"],
)
def test_an_id_of_any_type_is_found_and_comes_back(tmp_path: Path, values: list[object], ids: list[str]) -> None:
    table = pa.table({"uid": values, "url": ["http://a", "http://b"], "text": [TEXT, TEXT[::-1]]})
    pq.write_table(table, tmp_path / "in.parquet")
    assert nearkin.dedup(tmp_path / "in.parquet").documents["id"].to_pylist() == ids
    assert nearkin.dedup(table).documents["id"].to_pylist() == ids
