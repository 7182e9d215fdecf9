"""64-bit hashes of strings, to find equal ones without storing them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops


def hash_strings(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return one hash per string; equal strings have equal hashes.

    Parameters
    ----------
    data, offsets : uint8 array, int64 array of shape (n_strings + 1,)
        String ``i`` is ``data[offsets[i]:offsets[i + 1]]``.

    Returns
    -------
    hashes : uint64 array, shape (n_strings,)

    Examples
    --------
    >>> a, b, c = hash_strings(np.frombuffer(b"xyxyx", np.uint8), np.array([0, 2, 4, 5]))
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    hashes = np.empty(len(offsets) - 1, np.uint64)
    loops("identity", int(offsets[-1] - offsets[0])).hash_many(*frozen(data, offsets), hashes)
    return hashes
