"""What a type checker says to whoever calls the library: options are the words that there are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GOOD = """
import nearkin
from nearkin.options.signatures import SigningOptions

nearkin.dedup(["a"], measure="containment", group="component", preset="fineweb", normalise="nfkc,case")
nearkin.dedup(["a"], shingle=nearkin.Words(3), normalise=nearkin.Normalisation(case=False), keep="max:year")
nearkin.sign("docs.jsonl", method="topsig", normalise="nfkc").to_pandas().head()
nearkin.pairs(["a"], ["b"], translate="left", method="window").pairs.num_rows
nearkin.neighbours("signatures.parquet", equal="first").distance.bit_length()
nearkin.audit("clean", measure="jaccard", threshold=0.8).missed.num_rows
nearkin.plan(["a"], measure="containment").in_words.upper()
nearkin.plan_pairs(10, 10, method="window").methods.num_rows
nearkin.StreamDeduplicator(normalise="none").add(("a", 1), "a text")
SigningOptions(method="simhash-fast")


def ask(matter: nearkin.Collection) -> None:
    matter.similar("a", measure="letters", gamma=0.1)
"""
BAD = {
    'nearkin.dedup(["a"], measure="jacard")': '"measure"',
    'nearkin.dedup(["a"], drop="all")': '"drop"',
    'nearkin.dedup(["a"], treshold=0.8)': '"treshold"',
    'nearkin.dedup(["a"], threshold="0.8")': '"threshold"',
    'nearkin.spark.dedup(None, drop="either")': '"drop"',
    'nearkin.StreamDeduplicator().add(["a"], "a text")': '"add"',
    'nearkin.Collection.open("matter").similar("a", measure="bits")': '"measure"',
    'ReadingRules(on_error="ignore")': '"on_error"',
}


@pytest.mark.slow
def test_options_are_typed(tmp_path: Path) -> None:
    """The good calls pass; each of the bad ones is refused, at its argument."""
    head = "import nearkin.spark\nfrom nearkin.stages.documents.rules import ReadingRules\n"
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text(head + "\n".join(BAD) + "\n")
    cache = ["--cache-dir", str(ROOT / ".mypy_cache")]
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--no-error-summary",
        *cache,
    ]
    found = subprocess.run(
        [*command, str(tmp_path / "good.py"), str(tmp_path / "bad.py")],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = found.stdout.splitlines()
    assert not [line for line in lines if "good.py" in line], found.stdout
    for number, said in enumerate(BAD.values(), 3):
        assert any(f"bad.py:{number}: error" in line and said in line for line in lines), found.stdout
