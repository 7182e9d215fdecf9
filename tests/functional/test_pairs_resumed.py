"""Runs of ``nearkin pairs`` that were interrupted, and go on."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from functional.conftest import write_jsonl
from nearkin.errors import OutputExistsError, ResumeError
from nearkin.options.pairs import PairOptions
from nearkin.stages.search import stretches
from nearkin.workflows.pairing import job, searching
from nearkin.workflows.pairing.inputs import PairInput
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources
from translated_corpus import TranslatedCorpus, translated_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> TranslatedCorpus:
    return translated_corpus(tmp_path_factory.mktemp("corpus"), n=80)


def here(corpus, out, **options):
    """A run in this process."""
    delivery = {name: options.pop(name) for name in ("resume", "overwrite", "progress") if name in options}
    given = PairInput(
        ReadingRequest(inputs=[str(corpus.left)]), ReadingRequest(inputs=[str(corpus.right)]), corpus.table
    )
    resources = Resources(threads=options.pop("threads", 1))
    return job.pair_files(given, out, PairOptions(**options), report=False, resources=resources, **delivery)


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


@pytest.mark.parametrize(("method", "n_before"), [("vectors", 3), ("signatures", 1), ("window", 6)])
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
    assert sorted(path.name for path in work.iterdir()) == ["results", "run.json", "search.arrow"]
    (work / "arrays").mkdir()  # as a run that was killed leaves it
    (work / "arrays" / "left-terms").write_bytes(b"half")
    with pytest.raises(OutputExistsError, match="--resume"):
        here(corpus, tmp_path / "out", **options)
    with pytest.raises(ResumeError, match="threshold"):
        here(corpus, tmp_path / "out", resume=True, **{**options, "threshold": 0.4})
    n_first = len(saves)
    here(corpus, tmp_path / "out", resume=True, **options)
    assert not saves[n_first:] or saves[n_first] > saves[n_first - 1]  # not from the beginning
    for name in ("pairs.tsv", "pairs.parquet", "documents.parquet"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not (tmp_path / "out" / ".work").exists()


@pytest.mark.parametrize("options", [{"resume": True}, {"overwrite": True}], ids=repr)
def test_interrupted_between_its_results_and_its_manifest(corpus, tmp_path, monkeypatch, options):
    """A search that is short keeps nothing: it begins again."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    here(corpus, tmp_path / "whole")
    with monkeypatch.context() as patched:
        patched.setattr(job.JobRun, "finish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            here(corpus, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    here(corpus, tmp_path / "out", **options)
    assert (tmp_path / "out/pairs.tsv").read_bytes() == (tmp_path / "whole/pairs.tsv").read_bytes()
