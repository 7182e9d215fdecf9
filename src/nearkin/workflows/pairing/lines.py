"""Tables of pairs as lines of text, made by Arrow without a Python object per pair."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.formats.delimited import safe_column
from nearkin.records import F64

_UNSAFE = "[\\\\\x00-\x1f\x7f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
"""Characters that would break a line or control a terminal."""
_TO_ESCAPE = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def pair_lines(table: pa.Table, names: tuple[pa.Array, pa.Array]) -> bytes:
    r"""``cosine<TAB>left<TAB>right<TAB>terms``, the format of translation mining tools, with the terms added.

    Parameters
    ----------
    table : pyarrow.Table
        With the schema `results.pairs_schema`.
    names : tuple of Array
        Names of the documents of each side.
    """
    left, right = (
        of.take(table[column].combine_chunks()) for of, column in zip(names, ("left_row", "right_row"), strict=True)
    )
    terms = table["terms"].combine_chunks()
    items = terms.flatten()
    words, own = items.field("term"), items.field("left_term")
    both = pc.binary_join_element_wise(own, words, pa.scalar("=", pa.large_string()))  # null if both have the same word
    told = pa.LargeListArray.from_arrays(_offsets(terms), pc.coalesce(both, words))
    return joined_lines(
        six_digits(table["cosine"].to_numpy()),
        escaped(left),
        escaped(right),
        pc.binary_join(told, pa.scalar(" ", pa.large_string())),
    )


def joined_lines(*columns: pa.Array) -> bytes:
    """Join columns with tabs, one line per row."""
    if not len(columns[0]):
        return b""
    lines = pc.binary_join_element_wise(*columns, pa.scalar("\t", pa.large_string()))
    ended = pc.binary_join_element_wise(lines, pa.scalar("", pa.large_string()), pa.scalar("\n", pa.large_string()))
    return b"".join(chunk.cast(pa.large_binary()).buffers()[2][: _n_bytes(chunk)] for chunk in _chunks(ended))


def escaped(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Escape names for lines and spreadsheets: those that begin like a formula become text."""
    unsafe = pc.match_substring_regex(texts, _UNSAFE)
    if not pc.any(unsafe).as_py():
        return safe_column(texts)
    places = np.flatnonzero(unsafe.to_numpy(zero_copy_only=False))
    mended = [_escaped(text) for text in texts.take(pa.array(places)).to_pylist()]
    return safe_column(pc.replace_with_mask(texts, unsafe, pa.array(mended, pa.large_string())))


def _escaped(text: str) -> str:
    return re.sub(_UNSAFE, lambda found: _TO_ESCAPE.get(found[0], f"\\u{ord(found[0]):04x}"), text)


def six_digits(cosines: F64) -> pa.LargeStringArray:
    """Format nonnegative numbers with six decimal digits.

    Examples
    --------
    >>> six_digits(np.array([0.3, 1.0, 0.0000004])).to_pylist()
    ['0.300000', '1.000000', '0.000000']
    """
    whole, rest = np.divmod(np.rint(cosines * 1e6).astype(np.int64), 1_000_000)
    digits = pc.utf8_lpad(pa.array(rest).cast(pa.large_string()), 6, "0")
    return pc.binary_join_element_wise(
        pa.array(whole).cast(pa.large_string()), digits, pa.scalar(".", pa.large_string())
    )


def _offsets(lists: pa.ListArray) -> pa.Array:
    return pc.subtract(lists.offsets, lists.offsets[0]).cast(pa.int64())


def _chunks(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def _n_bytes(chunk: pa.Array) -> int:
    return int(np.frombuffer(chunk.buffers()[1], np.int64)[len(chunk)])
