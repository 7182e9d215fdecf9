"""Zstandard: the module of the standard library, or before Python 3.14 its backport."""

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import *  # noqa: F403
else:
    from backports.zstd import *  # noqa: F403
