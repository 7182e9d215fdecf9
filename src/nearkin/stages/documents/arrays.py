"""Arrow arrays of strings and bytes, whose characters are not checked."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.kernels.buffers import text_buffers

WITHOUT_CHECK = {
    pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view(),
}  # fmt: skip
"""String types, and the binary type with the same layout."""
WITHOUT_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
"""View types, for which Arrow lacks functions, and equivalent types that have them all."""
_ARE_BINARY = (
    pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary,
)  # fmt: skip


def as_binary(values: pa.Array) -> pa.Array:
    """Return strings as large_binary, unchecked: they may not be UTF-8."""
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), pa.large_binary())
    if values.type in WITHOUT_CHECK:
        values = values.view(WITHOUT_CHECK[values.type])
    return values.cast(pa.large_binary())


def plain(values: pa.Array) -> pa.Array:
    """Return values without dictionary, extension or views."""
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if pa.types.is_dictionary(values.type):
        if values.type.value_type not in WITHOUT_VIEWS:
            return values.dictionary_decode()
        return plain(values.dictionary).take(values.indices)
    without_views = WITHOUT_VIEWS.get(values.type)
    return values if without_views is None else as_binary(values).view(without_views)  # a cast would check strings


def value_type(type_: pa.DataType) -> pa.DataType:
    """Return the type of the values, without dictionary or extension."""
    if isinstance(type_, pa.BaseExtensionType):
        type_ = type_.storage_type
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def holds_characters(type_: pa.DataType) -> bool:
    """Whether a column of this type can hold texts."""
    return value_type(type_) in WITHOUT_CHECK or is_binary(type_)


def is_binary(type_: pa.DataType) -> bool:
    """Whether a column of this type holds bytes."""
    return any(check(value_type(type_)) for check in _ARE_BINARY)


def without_empty(doc_ids: pa.Array) -> pa.Array:
    """Return ids with null in the place of empty strings, which name no document.

    Examples
    --------
    >>> without_empty(pa.array(["a", "", "b"], pa.large_string())).to_pylist()
    ['a', None, 'b']
    """
    if not pa.types.is_large_string(doc_ids.type) or np.diff(text_buffers(doc_ids)[1]).all():
        return doc_ids  # and nothing of pyarrow.compute is loaded
    return pc.if_else(pc.equal(doc_ids, ""), None, doc_ids)
