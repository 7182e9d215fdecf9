"""What holds of the kernels that the tests of a module compiled or loaded."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def compiled_for_no_literal() -> Iterator[None]:
    """Else each such kernel takes its seconds twice: for the literal that a variable starts as, and for its type."""
    yield
    modules = [module for name, module in sys.modules.items() if name.startswith("nearkin.kernels.compiled.")]
    for kernel in {one for module in modules for one in vars(module).values() if hasattr(one, "nopython_signatures")}:
        for signature in kernel.nopython_signatures:
            assert "Literal" not in str(signature.args), f"{kernel.py_func.__name__}{signature.args}"
