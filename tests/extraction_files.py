"""What the tests of extraction share: files from bytes to documents, through real workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from nearkin.stages.documents.extraction.messages import ExtractedNode, ExtractionRequest
from nearkin.stages.documents.extraction.pool import ExtractionPool
from nearkin.stages.documents.readers.extracted import as_documents
from nearkin.stages.documents.rows import Row
from nearkin.stages.documents.rules import ExtractionLimits


def written(folder: Path, files: Mapping[str, bytes]) -> list[tuple[str, Path]]:
    """Names and paths of files in a folder, to be extracted."""
    found = []
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        found.append((name, path))
    return found


def each(pool: ExtractionPool, files: Sequence[tuple[str, Path]]) -> Iterator[tuple[str, Iterator[ExtractedNode]]]:
    """The name of each file with its nodes, in the order of the files."""
    for name, answer in [(name, pool.submit(ExtractionRequest(name=name), str(path))) for name, path in files]:
        yield name, answer.nodes()
        pool.drop(answer)


def extracted(pool: ExtractionPool, files: Sequence[tuple[str, Path]]) -> dict[str, Row]:
    """The documents of files by their ids."""
    found: dict[str, Row] = {}
    for name, nodes in each(pool, files):
        for one in as_documents(name, nodes):
            assert one.doc_id not in found
            found[one.doc_id] = one
    return found


def extracted_once(folder: Path, files: Mapping[str, bytes], /, **limits: int) -> dict[str, Row]:
    """The same, by a pool of two workers with limits of its own."""
    with ExtractionPool(2, ExtractionLimits(**limits)) as pool:
        return extracted(pool, written(folder, files))


def text_of(one: Row) -> str:
    assert one.text is not None, one.problem
    return one.text.decode()
