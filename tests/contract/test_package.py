"""What the package promises to whoever imports it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from packaging.requirements import Requirement

import nearkin
from nearkin import errors, results, signatures
from nearkin.cli.main import app


def loaded_by(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter has after some code."""
    program = f"import sys\n{code}\nprint(' '.join(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    return set(
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    )


def test_every_requirement_has_a_minimum_and_allows_the_version_of_the_tests(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    lines = (root / "constraints.txt").read_text().splitlines()
    tested = dict(line.lower().replace("_", "-").split("==") for line in lines if not line.startswith("#"))
    for needed in map(Requirement, asked):
        if needed.name == "nearkin":
            continue
        assert any(one.operator in (">=", "==") for one in needed.specifier), str(needed)
        if needed.name in tested:
            assert tested[needed.name] in needed.specifier, f"{needed}: constraints.txt has {tested[needed.name]}"


def test_importing_it_loads_nothing_heavy():
    heavy = {"numba", "llvmlite", "numpy", "pyarrow", "pandas", "polars", "rich", "click", "jinja2"}
    assert not loaded_by("import nearkin; nearkin.__version__; dir(nearkin)") & heavy
    assert not loaded_by("from nearkin import NearkinError; import nearkin.errors") & heavy


def test_it_runs_as_a_module():
    ended = subprocess.run([sys.executable, "-m", "nearkin", "--version"], capture_output=True, text=True, check=True)
    assert ended.stdout == f"nearkin {nearkin.__version__}\n"


PUBLIC = {
    nearkin: {
        "Characters", "Code", "Collection", "NearkinError", "Normalisation", "StreamDeduplicator", "Words",
        "__version__", "audit", "compare", "dedup", "evaluate", "families", "neighbours", "pairs", "passages",
        "plan", "plan_pairs", "sign", "threads",
    },
    results: {
        "AuditResult", "CheckIn", "CheckInMany", "CheckOptions", "Checked", "CollectionGroups", "ComparedTexts",
        "Conflicts", "CorpusPlan", "DedupResult", "DocumentFilter", "DocumentHistory", "DocumentsOfPassage",
        "EvaluationResult", "FamiliesResult",
        "GroupsSince", "ListedDocuments", "NeighboursResult", "PairsPlan", "PairsResult",
        "PassagesOfDocument", "PassagesResult", "SearchResult", "SignedDocuments",
        "SimilarDocuments", "StreamMatch", "ThreadsResult", "TranslationTable", "Versions",
    },
    signatures: {
        "Bands", "BitMinHash", "GrowingStatistics", "MinHash", "OnlineTopSig", "RandomProjection", "Simhash",
        "SimilarityIndex", "Statistics", "TermVectors", "TopSig", "WeightedTopSig",
        "count_features", "nearest", "neighbour_pairs",
    },
}  # fmt: skip


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_the_public_names_are_these(module):
    assert module.__all__ == sorted(module.__all__)
    assert set(module.__all__) == PUBLIC[module]
    modules = ["results", "signatures"] if module is nearkin else []
    assert dir(module) == sorted([*module.__all__, *modules])
    assert [getattr(module, name).__name__ for name in modules] == [f"nearkin.{name}" for name in modules]


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_the_public_names_are_documented(module):
    """All of them on one page, and nothing else: what is there is what a version promises."""
    page = (Path(__file__).parents[2] / "docs/reference/api.md").read_text()
    listed = set(re.findall(r"^\.\. auto(?:class|function|exception):: (\w+)$", page, re.MULTILINE))
    assert set(module.__all__) - {"__version__"} <= listed
    assert listed == {name for names in PUBLIC.values() for name in names} - {"__version__"}


def every_error() -> list[type[errors.NearkinError]]:
    found, waiting = [], [errors.NearkinError]
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting += one.__subclasses__()
    return found


def test_codes_tell_kinds_of_errors_apart():
    codes = {one.__name__: one.exit_code for one in every_error()}
    assert codes["ParameterError"] == 2
    assert codes["InputError"] == codes["SourceError"] == 3
    assert codes["DocumentError"] == 4
    assert codes["RunError"] == codes["OutputError"] == codes["ResumeError"] == codes["OutputExistsError"] == 5
    assert codes["MissingExtraError"] == 6
    assert codes["EngineError"] == 8
    assert issubclass(errors.ParameterError, ValueError)
    assert issubclass(errors.MissingExtraError, ImportError)


def test_every_module_can_be_imported():
    names = [info.name for info in pkgutil.walk_packages(nearkin.__path__, "nearkin.") if "__main__" not in info.name]
    assert len(names) > 60
    for name in names:
        importlib.import_module(name)


OTHER_NAMES = {
    "documents", "signed", "mails", "progress", "options", "file_format", "extraction_limits", "n_terms",
    "agreement", "splits", "translate", "density", "min_terms", "bits", "distance", "permutations", "window",
    "min_occurrences", "equal", "online", "date_tag",
}  # fmt: skip
"""Parameters that are arguments of a command, or have no option of the same name; docs/guides/python-api.md."""


@pytest.mark.parametrize(
    ("function", "command"),
    [
        (nearkin.dedup, "dedup"), (nearkin.pairs, "pairs"), (nearkin.sign, "sign"), (nearkin.neighbours, "neighbours"),
        (nearkin.threads, "threads"), (nearkin.passages, "passages"), (nearkin.audit, "audit"),
        (nearkin.Collection.similar, "similar"),
        (nearkin.Collection.versions, "versions"), (nearkin.Collection.groups, "groups"),
        (nearkin.Collection.conflicts, "conflicts"),
    ],
)  # fmt: skip
def test_a_parameter_has_the_name_of_its_option(function, command):
    """The first name: ``--method`` is another one of ``--measure``."""
    found = app.get_command(click.Context(app), command)
    options = {one.opts[0].removeprefix("--").replace("-", "_") for one in found.params}
    of_places = {"self", "place", "other", "version"}
    parameters = set(inspect.signature(function).parameters)
    assert parameters - options <= OTHER_NAMES | of_places
    assert not parameters - {"self"} - set(re.findall(r"\w+", function.__doc__)), "not documented"
