"""What a command loads: each library costs its start so long."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nearkin.cli.main import run

ASKED = [
    *("asyncio.base_events", "email.message", "html.entities", "importlib.metadata._meta", "ssl"),
    *("jinja2", "numba", "numpy", "numpy.ma", "pandas", "pyarrow", "pyarrow.compute", "pyarrow.parquet", "pydantic"),
    *("rapidfuzz", "rich", "rich._emoji_codes", "rich.progress", "scipy", "sqlalchemy"),
    *("nearkin.collection.integrity.fsck", "nearkin.collection.versions", "nearkin.collection.by_containment"),
    *("nearkin.collection.check_in.check_in", "nearkin.collection.loads.incoming"),
    *("nearkin.collection.word_search.stored_words", "nearkin.stages.differences.comparing"),
    *("nearkin.stages.documents.delimited", "nearkin.stages.documents.extraction.serving"),
    *(
        "nearkin.stages.documents.folders",
        "nearkin.workflows.collection.tables",
        "nearkin.stages.documents.formats",
        "nearkin.stages.documents.load_files.records",
    ),
    *("nearkin.stages.documents.table_columns", "nearkin.manifests.dedup", "nearkin.manifests.inputs"),
    *("nearkin.workflows.reading.describing", "nearkin.workflows.reading.kept_documents"),
    *("nearkin.reports.dedup.page", "nearkin.reports.sentences.add", "nearkin.workflows.reading.exceptions"),
    *("nearkin.store.postgresql", "nearkin.store.sealing", "nearkin.store.environment"),
    *("nearkin.collection.similar", "nearkin.collection.stored.segments", "nearkin.stages.search.ranges.index"),
    *("nearkin.stages.differences.kinds", "nearkin.stages.differences.moves"),
    *("nearkin.stages.documents.extraction.language_data", "nearkin.stages.documents.extraction.nodes"),
    *("nearkin.stages.documents.extraction.ole", "nearkin.stages.documents.extraction.workers"),
    *("nearkin.stages.documents.keeping", "nearkin.stages.documents.load_files.dialect"),
]
QUESTION = {"numpy", "pyarrow", "rich", "sqlalchemy"}
"""Libraries of a question to a collection."""
CHECK_IN = {
    "rapidfuzz",
    *("nearkin.collection.check_in.check_in", "nearkin.stages.documents.formats"),
}
"""What a check needs besides: it reads a file, and indexes its text."""
SIMILAR = {"rapidfuzz", "nearkin.collection.similar", "nearkin.collection.stored.segments"}
COMPARISON = {
    "rapidfuzz",
    *("nearkin.stages.differences.comparing", "nearkin.stages.differences.kinds", "nearkin.stages.differences.moves"),
}
DEDUP = {
    *("numpy", "numpy.ma", "pyarrow", "pyarrow.compute", "pyarrow.parquet", "rich", "ssl"),
    *("nearkin.manifests.dedup", "nearkin.manifests.inputs"),
    *("nearkin.stages.documents.delimited", "nearkin.stages.documents.formats"),
    *("nearkin.stages.documents.load_files.records", "nearkin.stages.documents.table_columns"),
    *("nearkin.stages.documents.keeping", "nearkin.stages.documents.load_files.dialect"),
    *("nearkin.workflows.reading.describing", "nearkin.workflows.reading.kept_documents"),
    "nearkin.workflows.reading.exceptions",
}
LOADING = """
import atexit, gc, sys
from nearkin.cli.main import main
sys.argv = ["nearkin", *sys.argv[2:]]
atexit.register(lambda: open("loaded.txt", "w").write(" ".join([str(gc.get_freeze_count()), *sys.modules])))
main()
"""
DOCUMENTS = [f"{i} is the number of this document, and {i * i} is its square, which nobody needs" for i in range(100)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("loaded")
    lines = [json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(DOCUMENTS)]
    (folder / "in.jsonl").write_text("\n".join(lines))
    (folder / "question.txt").write_text(DOCUMENTS[5])
    with pytest.raises(SystemExit):
        run(["add", str(folder / "matter"), str(folder / "in.jsonl"), "-q"])
    return folder


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["--help"], set()),
        (["--version"], set()),
        (["plan", "--help"], set()),
        (["info", "matter"], {*QUESTION, "nearkin.collection.stored.segments"}),
        (["check", "matter", "question.txt"], {*QUESTION, *CHECK_IN}),
        (["similar", "matter", "d5"], {*QUESTION, *SIMILAR}),
        (["show", "matter", "d5"], {*QUESTION, "nearkin.store.sealing"}),
        (["list", "matter"], {*QUESTION, "nearkin.store.sealing", "nearkin.workflows.collection.tables"}),
        (
            ["search", "matter", "document"],
            {*QUESTION, "pyarrow.compute", "nearkin.collection.word_search.stored_words"},
        ),
        (["compare", "matter", "d5", "d6"], {*QUESTION, *COMPARISON}),
        (
            ["compare", "question.txt", "in.jsonl"],
            {"numpy", "pyarrow", "rich", *COMPARISON, "nearkin.stages.documents.formats"},
        ),
        (["dedup", "in.jsonl", "--out", "out", "--no-report", "-q"], DEDUP),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_loads_what_it_needs(arguments, allowed, folder) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LOADING, "nearkin", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ended.returncode in (0, 10), ended.stderr
    n_frozen, *loaded = (folder / "loaded.txt").read_text().split()
    assert set(loaded) & set(ASKED) <= allowed
    assert int(n_frozen) > 0, "the command ends with a search for garbage among all that it has imported"
