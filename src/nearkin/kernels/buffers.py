"""Conversion of Arrow strings to the two arrays that kernels take, and back, without copying the text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def text_buffers(texts: pa.LargeStringArray | pa.LargeBinaryArray) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the bytes and the offsets of an Arrow array of large strings; a null counts as empty.

    Returns
    -------
    data : uint8 array
        From the array's whole buffer.
    offsets : int64 array, shape (len(texts) + 1,)
        Text ``i`` is ``data[offsets[i]:offsets[i + 1]]``.
    """
    if texts.null_count:
        texts = texts.fill_null("" if pa.types.is_large_string(texts.type) else b"")
    if not len(texts):
        return np.zeros(0, np.uint8), np.zeros(1, np.int64)
    _, offset_buffer, data_buffer = texts.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    data = np.zeros(0, np.uint8) if data_buffer is None else np.frombuffer(data_buffer, np.uint8)
    return data, offsets


def large_strings(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> pa.LargeStringArray:
    """Make an Arrow array over these two arrays; the bytes must be UTF-8."""
    return pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def as_type(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Cast, unless that changes nothing: the first cast of a process imports pyarrow.compute, which takes 30 ms."""
    return array if array.type == wanted else array.cast(wanted)


def strings(texts: Sequence[str]) -> pa.LargeStringArray:
    """Make an Arrow array of Python strings without pyarrow's test for pandas data, which would import pandas."""
    return binaries([text.encode("utf-8") for text in texts]).view(pa.large_string())


def binaries(parts: Sequence[bytes]) -> pa.LargeBinaryArray:
    """Make an Arrow array of bytes in the same way."""
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(parts), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(parts))]
    )


def integers(values: NDArray[np.int64]) -> pa.Int64Array:
    """Make an Arrow array of numbers in the same way, without copying them."""
    values = np.ascontiguousarray(values, np.int64)
    return pa.Int64Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])
