"""What `nearkin plan corpus --engine spark` foretells, beside what tasks then send."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contract.test_engines_pairs import WINDOW, documents, pair_vectors
from in_process import InProcess
from made_up_prose import Prose
from nearkin.options.dedup import DedupOptions
from nearkin.planning.cluster_needs import ClusterNeeds
from nearkin.planning.pairs.search import Question, predict
from nearkin.runs.progress import Meter, Silent
from nearkin.stages.documents.rules import ReadingRules
from nearkin.stages.documents.sources import resolve_sources
from nearkin.workflows.dedup.forecast import forecast
from nearkin.workflows.dedup.on_spark import forecast as on_spark
from nearkin.workflows.dedup.on_spark.job import find
from nearkin.workflows.pairing.on_spark import forecast as pairing_on_spark
from nearkin.workflows.pairing.on_spark.searching import search_all
from nearkin.workflows.reading.inputs import inputs_of
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources


def foretold(needs: ClusterNeeds) -> dict[str, int]:
    return {one.carries: one.size_bytes for one in needs.shuffles}


def corpus(folder: Path, some: list[tuple[str, str]]) -> str:
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps({"id": one, "text": text}) + "\n" for one, text in some), encoding="utf-8")
    return str(path)


def both(path: str, folder: Path, options: DedupOptions) -> tuple[ClusterNeeds, InProcess, int]:
    """What is foretold of a corpus by itself, what is sent, and how many candidates there are."""
    told = forecast(ReadingRequest(inputs=[path]), options, n_documents=None, resources=Resources(2))
    stages, work = InProcess(), folder / "work"
    work.mkdir()
    inputs = inputs_of(resolve_sources([path]).sources)
    found = find(
        inputs, None, options, work, stages, rules=ReadingRules(), resources=Resources(2), meter=Meter(Silent())
    )  # type: ignore[arg-type]  # it does what Stages does
    return on_spark.cluster_needs(told, options, 2), stages, found.verified.n_candidates


@pytest.mark.parametrize("measure", ["jaccard", "containment"])
def test_a_corpus_of_strangers(measure, tmp_path):
    prose = Prose(1, n_words=5_000)
    some = [(f"d{i}", prose.text(prose.rng.choice([20, 60, 150, 400]))) for i in range(1_200)]
    some += [(f"copy{i}", text) for i, (_, text) in enumerate(some[:300])]
    needs, stages, _ = both(corpus(tmp_path, some), tmp_path, DedupOptions(measure=measure))
    told, sent = foretold(needs), stages.sent
    entries = sum(n for stream, n in sent.items() if stream.startswith("entries"))
    keys = ("keys of bands", "rare shingles of short texts", "sampled shingles")
    assert sum(told.get(name, 0) for name in keys) == pytest.approx(entries, rel=0.15)
    counted = sum(told.get(f"how often shingles {which}occur", 0) for which in ("", "of short texts "))
    assert sent["occurrences"] <= counted <= 1.3 * sent["occurrences"]
    assert needs.shuffled_bytes == pytest.approx(sum(sent.values()), rel=0.2)


def test_what_a_pair_adds(tmp_path):
    prose = Prose(2)
    texts = [prose.text(200) for _ in range(150)]
    some = [(f"{i}-{copy}", prose.altered(text, copy)) for i, text in enumerate(texts) for copy in (0, 1)]
    needs, stages, n_candidates = both(corpus(tmp_path, some), tmp_path, DedupOptions())
    assert n_candidates > 140
    streams = ("pairs", "asks", "profiles", "texts")
    beside = sum(stages.sent[name] for name in streams) / n_candidates
    # in one partition nothing is asked for, and no text travels
    in_one_partition = needs.pair_bytes - sum(len(text) for _, text in some) / len(some) - 300
    assert in_one_partition / 3 < beside < needs.pair_bytes * 1.5


def test_signatures_into_orders(tmp_path):
    vectors = pair_vectors(tmp_path, documents(1, 400, n_kinds=40), documents(2, 300, n_kinds=40))
    n_left, n_right = (int((side.sizes > 0).sum()) for side in (vectors.left, vectors.right))
    question = Question(n_left=n_left, n_right=n_right, threshold=0.5, recall=0.9, left_terms=7, right_terms=7)
    needs = pairing_on_spark.cluster_needs(question, WINDOW, predict(WINDOW, question))
    stages = InProcess()
    (tmp_path / "work").mkdir()
    search_all(stages, vectors, WINDOW, 0.5, seed=3, arrays=tmp_path, work=tmp_path / "work")  # type: ignore[arg-type]
    assert foretold(needs)["signatures, into each order"] == stages.sent["entries"]
    assert foretold(needs)["candidates, as often as they are found"] > 0
    assert needs.n_tasks == WINDOW.permutations
