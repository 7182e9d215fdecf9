"""Runs of ``nearkin pairs`` that were interrupted, and go on."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace

import pytest

from functional.conftest import write_jsonl
from nearkin.errors import OutputExistsError, ResumeError, RunError
from nearkin.formats.sealed import with_checksum
from nearkin.runs.progress import Silent
from nearkin.stages.search import stretches
from nearkin.workflows.pairing import engines, job, planning, searching
from nearkin.workflows.pairing.inputs import PairInput
from nearkin.workflows.pairing.options import PairOptions
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources
from translated_corpus import TranslatedCorpus, translated_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> TranslatedCorpus:
    return translated_corpus(tmp_path_factory.mktemp("corpus"), n=80)


class Heard(Silent):
    """What a run says."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, message: str) -> None:
        self.said.append(message)


def test_resume_with_nothing_to_resume(corpus, tmp_path):
    heard = Heard()
    here(corpus, tmp_path / "out", resume=True, progress=heard)
    assert any("--resume: nothing is done yet" in said for said in heard.said)


def here(corpus, out, **options):
    """A run in this process."""
    delivery = {name: options.pop(name) for name in ("resume", "overwrite", "progress") if name in options}
    given = PairInput(
        ReadingRequest(inputs=[str(corpus.left)]), ReadingRequest(inputs=[str(corpus.right)]), corpus.table
    )
    resources = Resources(threads=options.pop("threads", 1))
    return job.pair_files(given, out, PairOptions(**options), report=False, resources=resources, **delivery)


def manifest_of(out) -> dict:
    return json.loads((out / "manifest.json").read_text())


def without_times(plan: dict) -> dict:
    """A plan without what depends on the machine and its load."""
    predictions = [plan["predicted"], *(other["predicted"] for other in plan["alternatives"])]
    for one in predictions:
        for name in [name for name in one if name.endswith("_s") or name == "relative_cost"]:
            del one[name]
    return plan


def interrupted(corpus, out, monkeypatch, **options) -> None:
    """A search that is interrupted when it was saved once."""
    save = searching.KeptSearch.save

    def interrupting(self, *state: object) -> None:
        save(self, *state)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(searching.KeptSearch, "save", interrupting)
        with pytest.raises(KeyboardInterrupt):
            here(corpus, out, **options)


@pytest.mark.parametrize("method", ["vectors", "signatures"])
def test_documents_that_changed_behind_an_equal_size_and_time(tmp_path, monkeypatch, method):
    monkeypatch.setattr(searching, "_EVERY_S", 0.0)
    monkeypatch.setattr(searching, "BLOCK", 9)
    made, out, options = translated_corpus(tmp_path, n=40), tmp_path / "out", {"method": method, "threshold": 0.15}
    rows = [{"id": str(i), "text": text} for i, text in enumerate(made.right_texts)]
    corpus = replace(made, right=write_jsonl(tmp_path / "right.jsonl", rows))
    interrupted(corpus, out, monkeypatch, **options)
    before, stat = corpus.right.read_bytes(), corpus.right.stat()
    word = made.right_texts[0].split()[1].encode()
    for changed in (before.replace(word, word[::-1], 1), before):
        corpus.right.write_bytes(changed)
        os.utime(corpus.right, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        if changed != before:
            with pytest.raises(ResumeError, match="the documents have changed since it began") as refused:
                here(corpus, out, resume=True, **options)
            assert refused.value.exit_code == 5
    os.utime(corpus.right, (9, 9))  # as a restored copy has
    here(corpus, out, resume=True, threads=3, **options)


@pytest.mark.parametrize("kept", ["search.arrow", "cluster/search.txt"])
def test_a_search_without_its_plan_is_refused(corpus, tmp_path, monkeypatch, kept):
    """Versions before stored only a description of the search, in English."""
    monkeypatch.setattr(searching, "_EVERY_S", 0.0)
    monkeypatch.setattr(searching, "BLOCK", 9)
    options, work = {"method": "vectors", "threshold": 0.15}, tmp_path / "out/.work"
    interrupted(corpus, tmp_path / "out", monkeypatch, **options)
    if kept != "search.arrow":
        (work / "search.arrow").unlink()
        (work / "cluster").mkdir()
        (work / kept).write_text("every pair of vectors, by an inverted index, on a cluster, in 1 round")
    plan = work / "search-plan.json"
    stored = plan.read_text()
    plan.unlink()
    with pytest.raises(ResumeError, match=r"search-plan\.json, is missing.*Start again with --overwrite") as refused:
        here(corpus, tmp_path / "out", resume=True, **options)
    assert refused.value.exit_code == 5
    of_no_method = json.loads(stored)
    of_no_method["plan"]["search"]["method"] = "every"
    of_no_method.pop("checksum")
    for changed in (stored.replace("vectors", "windows", 1), json.dumps(with_checksum(of_no_method))):
        plan.write_text(changed)
        with pytest.raises(RunError, match=r"search-plan\.json is damaged"):
            here(corpus, tmp_path / "out", resume=True, **options)
    plan.write_text(stored)
    here(corpus, tmp_path / "out", resume=True, **options)


@pytest.mark.parametrize("kept", ["search-plan.json", "search.arrow"])
@pytest.mark.parametrize("method", ["vectors", "signatures"])
def test_a_work_file_of_another_run_is_refused(corpus, tmp_path, monkeypatch, method, kept):
    monkeypatch.setattr(searching, "_EVERY_S", 0.0)
    monkeypatch.setattr(searching, "BLOCK", 9)
    options = {"method": method, "bits": 256, "distance": 115} if method == "signatures" else {"method": method}
    for name, threshold in (("out", 0.15), ("other", 0.3)):
        interrupted(corpus, tmp_path / name, monkeypatch, threshold=threshold, **options)
    own, other = (tmp_path / name / ".work" / kept for name in ("out", "other"))
    stored = own.read_bytes()
    own.write_bytes(other.read_bytes())
    with pytest.raises(RunError, match=rf"{kept} belongs to another run.*Start again with --overwrite") as refused:
        here(corpus, tmp_path / "out", resume=True, threshold=0.15, **options)
    assert refused.value.exit_code == 5
    own.write_bytes(stored)
    here(corpus, tmp_path / "out", resume=True, threshold=0.15, **options)


@pytest.mark.parametrize(
    "planned",
    [
        {"method": "signatures", "bits": 512, "distance": 200},
        {"method": "window", "bits": 256, "distance": 115, "permutations": 4, "window": 20},
        {"method": "vectors"},
    ],
    ids=lambda planned: planned["method"],
)
def test_a_search_that_another_version_planned_goes_on_with_its_plan(corpus, tmp_path, monkeypatch, planned):
    monkeypatch.setattr(searching, "_EVERY_S", 0.0)
    monkeypatch.setattr(searching, "BLOCK", 9)
    monkeypatch.setattr(stretches, "_CHUNK", 12)
    options = {"method": "auto", "threshold": 0.15, "recall": 0.8} | ({"bits": 256} if "bits" in planned else {})
    plan_search = job.plan_search

    def of_before(vectors, chosen, **kinds):
        return plan_search(vectors, replace(chosen, **planned), **kinds)

    with monkeypatch.context() as patched:
        patched.setattr(job, "plan_search", of_before)
        interrupted(corpus, tmp_path / "out", monkeypatch, **options)
    here(corpus, tmp_path / "whole", **{**options, **planned})
    heard = Heard()
    with monkeypatch.context() as patched:
        patched.setattr(planning, "_planned", None)  # nothing is planned again
        told = here(corpus, tmp_path / "out", resume=True, progress=heard, **options)
    search = told.plan.search
    assert {name: getattr(search, name) for name in planned} == planned
    begun = f"search: {search.describe()} (the plan of the interrupted run: --method was given); predicted recall "
    assert any(said.startswith(begun) for said in heard.said)
    whole = manifest_of(tmp_path / "whole")["plan"]
    assert without_times(manifest_of(tmp_path / "out")["plan"]) == without_times(whole)
    for name in ("pairs.tsv", "pairs.parquet"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_run_that_fails_early_leaves_nothing(corpus, tmp_path, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(engines, "search", interrupted)
    with pytest.raises(KeyboardInterrupt):
        here(corpus, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    monkeypatch.undo()
    here(corpus, tmp_path / "out")


@pytest.mark.parametrize("method", ["vectors", "signatures", "window"])
@pytest.mark.parametrize("n_before", [1, 3, 6])
def test_a_search_that_was_interrupted_goes_on(corpus, tmp_path, monkeypatch, method, n_before):
    monkeypatch.setattr(searching, "_EVERY_S", 0.0)
    monkeypatch.setattr(searching, "BLOCK", 9)
    monkeypatch.setattr(stretches, "_CHUNK", 12)
    options = {"method": method, "threshold": 0.15}
    if method == "window":
        options |= {"bits": 256, "distance": 115, "permutations": 4, "window": 20}
    here(corpus, tmp_path / "whole", **options)
    saves, save = [], searching.KeptSearch.save

    def interrupting(self, *state: object) -> None:
        save(self, *state)
        saves.append(state[0])
        if len(saves) == n_before:
            raise KeyboardInterrupt

    monkeypatch.setattr(searching.KeptSearch, "save", interrupting)
    with pytest.raises(KeyboardInterrupt):
        here(corpus, tmp_path / "out", **options)
    work = tmp_path / "out" / ".work"
    assert sorted(path.name for path in work.iterdir()) == ["run.json", "search-plan.json", "search.arrow"]
    (work / "arrays").mkdir()  # as a run that was killed leaves it
    (work / "arrays" / "left-terms").write_bytes(b"half")
    with pytest.raises(OutputExistsError, match="--resume"):
        here(corpus, tmp_path / "out", **options)
    with pytest.raises(ResumeError, match="threshold"):
        here(corpus, tmp_path / "out", resume=True, **{**options, "threshold": 0.4})
    n_first = len(saves)
    heard = Heard()
    here(corpus, tmp_path / "out", resume=True, progress=heard, **options)
    found = r"--resume: done: [\d,]+ comparisons? made, [\d,]+ pairs? found"
    assert any(re.match(found, said) for said in heard.said)
    assert not saves[n_first:] or saves[n_first] > saves[n_first - 1]  # not from the beginning
    for name in ("pairs.tsv", "pairs.parquet", "documents.parquet"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not (tmp_path / "out" / ".work").exists()


@pytest.mark.parametrize("options", [{"resume": True}, {"overwrite": True}], ids=repr)
def test_interrupted_between_its_results_and_its_manifest(corpus, tmp_path, monkeypatch, options):
    """A search that is short keeps nothing, but tables that are written are work enough to continue."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    here(corpus, tmp_path / "whole")
    with monkeypatch.context() as patched:
        patched.setattr(job.JobRun, "finish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            here(corpus, tmp_path / "out")
    assert (tmp_path / "out/pairs.tsv").exists()
    here(corpus, tmp_path / "out", **options)
    assert (tmp_path / "out/pairs.tsv").read_bytes() == (tmp_path / "whole/pairs.tsv").read_bytes()
