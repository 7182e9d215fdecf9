from __future__ import annotations

from collections.abc import Iterator

import pytest

from nearkin.stages.documents.extraction.pool import ExtractionPool


@pytest.fixture(scope="session")
def pool() -> Iterator[ExtractionPool]:
    """Two workers for all tests whose files do them no harm."""
    with ExtractionPool(2) as made:
        yield made
