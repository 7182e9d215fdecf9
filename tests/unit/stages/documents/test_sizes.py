"""Sizes in the words of users."""

from __future__ import annotations

import pytest

from nearkin.errors import ParameterError
from nearkin.stages.documents.rules import parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0), ("1024", 1024), ("1KB", 1000), ("1kb", 1000), ("1KiB", 1024), ("2GiB", 2 << 30), ("2 GB", 2 * 10**9),
        ("1.5MiB", 3 << 19), (" 3M ", 3_000_000), ("1TiB", 1 << 40), ("7b", 7),
    ],
)  # fmt: skip
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "1PB", "-1GB", "1e9", "1,5GB", "1GBB", "1 G i B", "nan", "1GB\n2"])
def test_what_is_no_size(text):
    with pytest.raises(ParameterError, match="2GiB"):
        parse_size(text)
