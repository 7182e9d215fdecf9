"""``nearkin plan pairs`` and ``corpus``, from the outside."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pytest

import nearkin
from functional.conftest import nearkin_here, write_jsonl
from made_up_prose import Prose
from nearkin.planning.pairs import search as pair_search
from nearkin.planning.pairs.search import QUICK_S
from translated_corpus import translated_corpus

WIKIPEDIA = ("--left", "3.44M", "--right", "1,470,000", "--threshold", "0.3")


def planned(*arguments: object) -> dict:
    ended = nearkin_here("plan", *arguments, "--json")
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def test_the_quickest_way_to_the_recall_and_the_two_others():
    told = planned("pairs", *WIKIPEDIA, "--recall", "0.9", "--machine", "cores=128")
    ways = [told["chosen"], *told["alternatives"]]
    assert {way["method"] for way in ways} == {"vectors", "signatures", "window"}
    assert all(way["recall_low"] >= 0.9 for way in ways)
    assert told["chosen"]["core_s"] == min(way["core_s"] for way in ways)
    assert told["chosen"]["elapsed_s"] == pytest.approx(told["chosen"]["core_s"] / 128)
    assert (told["left"], told["right"], told["reaches_recall"]) == (3_440_000, 1_470_000, True)


def test_a_faster_machine_and_more_cores():
    slow, fast = (
        planned("pairs", *WIKIPEDIA, "--machine", machine)["chosen"] for machine in ("cores=1", "cores=4,speed=2")
    )
    assert fast["elapsed_s"] == pytest.approx(slow["elapsed_s"] / 8)


def test_this_machine_is_measured():
    told = planned("pairs", "--left", "10k", "--right", "10k", "--machine", "this", "--terms", "20")
    assert told["cores"] >= 1
    assert told["costs_ns"]["comparison_word"] > 0


def test_fixed_values_stay_and_a_shortfall_is_said():
    told = planned("pairs", *WIKIPEDIA, "--bits", "1000", "--distance", "400")
    assert (told["chosen"]["bits"], told["chosen"]["distance"], told["reaches_recall"]) == (1000, 400, False)
    ended = nearkin_here("plan", "pairs", *WIKIPEDIA, "--bits", "1000", "--distance", "400")
    assert "The fixed options do not reach 0.9; the best they reach is 76.0%" in ended.out


def test_the_figure(tmp_path: Path):
    out = tmp_path / "plan.svg"
    ended = nearkin_here("plan", "pairs", *WIKIPEDIA, "--figure", out)
    assert ended.code == 0, ended.err
    words = "".join(ElementTree.fromstring(out.read_text(encoding="utf-8")).itertext())
    assert "window of" in words
    assert "Predicted recall" in words
    again = nearkin_here("plan", "pairs", *WIKIPEDIA, "--figure", out)
    assert again.code == 5


def test_the_figure_needs_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for module in ("jinja2", "rapidfuzz"):
        monkeypatch.setitem(sys.modules, module, None)
    ended = nearkin_here("plan", "pairs", *WIKIPEDIA, "--figure", tmp_path / "plan.svg")
    assert ended.code == 0, ended.err
    assert (tmp_path / "plan.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pairs", "--left", "5"), "--left and --right"),
        (("pairs", "--left", "some", "--right", "5"), "such as 1,470,000"),
        (("pairs", "--left", "0", "--right", "5"), "from 1 to"),
        (("pairs", "--left", "5", "--right", "5", "--threshold", "0"), "threshold"),
        (("pairs", "--left", "5", "--right", "5", "--recall", "1.5"), "recall"),
        (("pairs", "--left", "5", "--right", "5", "--machine", "fast"), "cores=N,speed=X"),
        (("pairs", "--left", "5", "--right", "5", "--machine", "cores=many"), "numbers after"),
        (("pairs", "--left", "5", "--right", "5", "--machine", "cores=0"), "machine"),
        (("pairs", "--left", "5", "--right", "5", "--machine", "this,speed=2"), "speed="),
        (("pairs", "--left", "5", "--right", "5", "--terms", "none"), "--terms"),
        (("pairs", "--left", "5", "--right", "5", "--method", "magic"), "method"),
        (("pairs", "--left", "5", "--right", "5", "--bits", "13"), "bits"),
        (("pairs", "--left", "5", "--right", "5", "--method", "vectors", "--window", "9"), "method"),
        (("pairs", "--left", "5", "--right", "5", "--engine", "flink"), "local or spark"),
        (("corpus", "--documents", "5"), "Missing argument 'SAMPLE...'"),
        (("corpus", __file__, "--documents", __file__), "pass sample documents as SAMPLE."),
        (("corpus", __file__, "--documents", ""), "such as 1,470,000"),
        (("corpus", __file__, "--documents", "many"), "such as 1,470,000"),
        (("corpus", __file__, "--cores", "4"), "--cores is the size of a cluster"),
        (("corpus", __file__, "--engine", "spark", "--cores", "0"), "--cores"),
        (("corpus", __file__, "--engine", "flink"), "local or spark"),
        (("corpus", __file__, "--overwrite"), "--overwrite"),
        (("pairs", "--left", "5", "--right", "5", "--machine", "cores=1000000000"), "from 1 to 1,000,000"),
        (("pairs", "--left", __file__, "--right", "5"), "pass sample documents as --sample-left."),
        (("pairs", "--left", "5", "--right", "5", "--left-language", "de"), "add --sample-left and --sample-right"),
        (("pairs", "--left", "5", "--right", "5", "--text", "body"), "add --sample-left and --sample-right"),
        (("pairs", "--left", "5", "--right", "5", "--figure", "plan.png"), "must end in .svg"),
        (("--left", "5", "--right", "5"), "--left"),
    ],
)
def test_wrong_usage(arguments, said):
    ended = nearkin_here("plan", *arguments)
    assert ended.code == 2
    assert said in re.sub(r"[\s│]+", " ", ended.err)


def test_documents_calibrate_the_plan(tmp_path):
    own = translated_corpus(tmp_path, n=150)
    given = ["--sample-left", own.left, "--sample-right", own.right, "--table", own.table]
    told = planned("pairs", *given, "--left", "1M", "--right", "2M", "--method", "window")
    assert (told["left"], told["right"]) == (1_000_000, 2_000_000)
    assert told["sample"]["left"] == told["sample"]["compared"] == 150
    assert told["sample"]["is_calibrated"]
    assert told["pairs_sought"] == pytest.approx(1e6 * 2e6 * told["sample"]["pairs"] / 150**2, rel=0.02)
    alone = planned("pairs", *given)
    assert (alone["left"], alone["right"]) == (150, 150)
    assert "--sample-left and --sample-right are needed" in nearkin_here("plan", "pairs", *given[:2]).err
    assert "--terms is measured" in nearkin_here("plan", "pairs", *given, "--terms", "3,3").err


@pytest.mark.parametrize("quick_s", [QUICK_S, 0.0], ids=["quick", "long"])
@pytest.mark.parametrize(
    ("asked", "machine"),
    [
        ("", "this"),
        ("--threshold 0.6", "cores=3,speed=0.01"),
        ("--recall 1", "cores=1"),
        ("--recall 0.5", "cores=1,speed=9"),
        ("--method window", "cores=1"),
        ("--bits 256 --recall 1", "cores=2"),
    ],
)
def test_plan_and_pairs_choose_the_same_way(asked, machine, quick_s, tmp_path, monkeypatch):
    monkeypatch.setattr(pair_search, "QUICK_S", quick_s)  # so that few documents count as many
    fixed = asked.split()
    own = translated_corpus(tmp_path, n=60)
    samples = ["--sample-left", own.left, "--sample-right", own.right, "--table", own.table]
    told = planned("pairs", *samples, *fixed, "--machine", machine)
    sides = ["--left", own.left, "--right", own.right, "--table", own.table]
    ended = nearkin_here("pairs", *sides, *fixed, "--json", "--no-report", "--out", tmp_path / "out")
    assert ended.code == 0, ended.err
    went = json.loads(ended.out)["plan"]
    assert {name: told["chosen"][name] for name in went["search"]} == went["search"]
    for name in ("recall_low", "recall", "recall_high"):
        assert told["chosen"][name] == pytest.approx(went["predicted"][name], rel=1e-5)


def test_samples_in_the_other_direction_of_the_table(tmp_path):
    own = translated_corpus(tmp_path, n=60)
    swapped = ["--sample-left", own.right, "--sample-right", own.left, "--table", own.table]
    refused = nearkin_here("plan", "pairs", *swapped)
    assert refused.code == 3
    advice = re.search(r"add ((?:--\S+ \S+ ?)+)\.", refused.err)[1].split()
    told = planned("pairs", *swapped, *advice)
    straight = planned("pairs", "--sample-left", own.left, "--sample-right", own.right, "--table", own.table)
    assert told["pairs_sought"] == pytest.approx(straight["pairs_sought"])


def test_exact_search_is_chosen_while_it_is_quick():
    few = planned("pairs", "--left", "40k", "--right", "40k")
    assert (few["chosen"]["method"], few["is_exact_search_quick"]) == ("vectors", True)
    assert min(way["core_s"] for way in few["alternatives"]) < few["chosen"]["core_s"]
    assert "takes less than 20 s on one core" in nearkin_here("plan", "pairs", "--left", "40k", "--right", "40k").out
    slow = planned("pairs", "--left", "40k", "--right", "40k", "--machine", "cores=1,speed=0.1")
    assert slow["chosen"]["method"] == "vectors"  # as nearkin pairs: what is found does not depend on the machine
    assert slow["chosen"]["core_s"] == pytest.approx(10 * few["chosen"]["core_s"])
    assert planned("pairs", "--left", "400k", "--right", "400k")["chosen"]["method"] != "vectors"


def test_pairs_on_a_cluster():
    told = planned("pairs", *WIKIPEDIA, "--machine", "cores=128", "--engine", "spark")
    sent = {one["carries"]: one["size_bytes"] for one in told["spark"]["shuffles"]}
    orders, bits = told["chosen"]["permutations"], told["chosen"]["bits"]
    assert sent["signatures, into each order"] == (3_440_000 + 1_470_000) * orders * (4 + bits // 8)
    assert told["spark"]["shuffled_bytes"] == sum(sent.values())
    every = planned("pairs", *WIKIPEDIA, "--engine", "spark", "--method", "vectors")["spark"]
    assert [one["stage"] for one in every["shuffles"]] == ["pairs"]
    assert "spark" not in planned("pairs", *WIKIPEDIA)
    ended = nearkin_here("plan", "pairs", *WIKIPEDIA, "--machine", "cores=128", "--engine", "spark")
    assert "On Spark with 128 cores: data shuffled, before compression" in ended.out
    assert (
        "--conf spark.executor.cores=4 --conf spark.executor.memory=4g --conf spark.executor.memoryOverhead="
        in ended.out
    )


def test_a_corpus_to_clean(tmp_path):
    prose = Prose(1)
    path = tmp_path / "some.jsonl"
    path.write_text("".join(json.dumps({"text": prose.text(300)}) + "\n" for _ in range(400)), encoding="utf-8")
    told = planned("corpus", path, "--documents", "1M", "--engine", "spark", "--cores", "64")
    assert (told["documents"], told["distinct_texts"], told["sample"]["documents"]) == (1_000_000, 1_000_000, 400)
    assert told["sample"]["mean_shingles"] == pytest.approx(296, abs=1)
    assert told["plan"]["kind"] == "bands"
    sent = {one["carries"]: one["size_bytes"] for one in told["spark"]["shuffles"]}
    assert sent["digests of texts and of ids"] == 1_000_000 * 56
    assert sent["keys of bands"] == 1_000_000 * 17 * told["plan"]["bands"]
    alone = planned("corpus", path)
    assert alone["documents"] == 400
    assert alone["plan"]["bands"] < told["plan"]["bands"]
    sampled = planned("corpus", path, "--measure", "containment", "--threshold", "0.9", "--engine", "spark")
    assert sampled["plan"]["kind"] == "sampling"
    ended = nearkin_here("plan", "corpus", path, "--documents", "20M", "--engine", "spark")
    assert "Corpus: 20,000,000 documents, assumed to be like the 400 documents of the sample, which have " in ended.out
    assert "The number of near-duplicates is not predicted" in ended.out
    assert "Each pair of near-duplicates adds about" in ended.out


def test_a_plan_says_how_uncertain_its_numbers_are(tmp_path):
    path = tmp_path / "sample.jsonl"
    prose = Prose(2)
    texts = [prose.text(300)] * 3 + [prose.text(300) for _ in range(7)]
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    told = planned("corpus", path, "--documents", "1000")
    low, high = told["expected_candidates_range"]
    assert (told["distinct_texts"], told["sample"]["compared"]) == (800, 8)
    assert low <= told["plan"]["expected_candidates"] < high <= 800 * 799 / 2
    said = " ".join(nearkin_here("plan", "corpus", path, "--documents", "1000").out.split())
    assert "Distinct texts: about 800. A random sample shows few of the copies in a corpus; if there are more " in said
    assert "Predicted number of unrelated pairs: 0 (0.0 per document), probably at most 34,200." in said
    assert "Distinct texts" not in nearkin_here("plan", "corpus", path).out


@pytest.mark.parametrize(
    ("more", "sample"),
    [
        ([], "the 1 document of the sample, which has 4 shingles on average"),
        (["one text of eight words, and no other"], "the 2 documents of the sample. It has 1 distinct text"),
    ],
)
def test_a_sample_of_one_text_predicts_no_unrelated_pairs(tmp_path, more, sample):
    path = write_jsonl(tmp_path / "sample.jsonl", [{"text": "one text of eight words, and no other"}] * (1 + len(more)))
    told = planned("corpus", path, "--documents", "1B")
    assert (told["plan"]["kind"], told["plan"]["bands"]) == ("bands", 4)
    assert (told["plan"]["expected_candidates"], told["expected_candidates_range"]) == (None, None)
    said = " ".join(nearkin_here("plan", "corpus", path, "--documents", "1B").out.split())
    assert f"assumed to be like {sample}" in said
    assert "predicted recall 99.19% at Jaccard 0.70." in said
    assert "The number of unrelated pairs compared is not predicted: the sample has no two different texts." in said
    assert "compared with one another" not in said + nearkin_here("plan", "corpus", path).out


def test_a_sample_of_short_texts_is_not_searched_by_bands(tmp_path):
    path = tmp_path / "sample.jsonl"
    texts = [" ".join(f"w{i * j % 97}" for j in range(12)) for i in range(400)]
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    ended = nearkin_here("plan", "corpus", path, "--documents", "200M")
    told = planned("corpus", path, "--documents", "200M")["plan"]
    assert told["kind"] == "rare shingles"
    assert [told[name] for name in ("bands", "rows", "size", "expected_candidates")] == [None] * 4
    assert planned("corpus", path, "--documents", "200M")["expected_candidates_range"] is None
    assert told["exact_below"] > 12
    result = nearkin.plan(path, n_documents=200_000_000)
    assert result.plan.to_pylist() == [told]
    assert result.plan.schema.field("expected_candidates").type == pa.float64()
    assert "rare shingles only" in repr(result)
    words = " ".join(ended.out.split())
    assert "search: rare shingles only. Texts of fewer than" in words
    assert "and all texts of the sample are that short: every match is found, unless" in words
    assert re.search(r"fewer than \d,\d{3} shingles are searched by their rare shingles, and all", words)
    assert "The number of unrelated pairs compared in this search is not predicted" in " ".join(ended.out.split())
    assert re.search(r"If the corpus has longer texts, their recall at the threshold is at least 9\d\.\d\d%\.", words)
    assert "band" not in ended.out
    some = "".join(json.dumps({"text": f"{i} " + " ".join(f"{i}x{j}" for j in range(900))}) + "\n" for i in range(40))
    path.write_text(some + path.read_text("utf-8") + '{"text": ""}\n{"text"', encoding="utf-8")
    said = " ".join(nearkin_here("plan", "corpus", path).out.split())
    [shares] = re.findall(
        r"([\d.]+)% of the texts have at least ([\d,]+) shingles and are searched by bands\. ([\d.]+)% have at most"
        r" ([\d,]+) shingles and are searched by their rare shingles, on average by ([\d.]+) of them per text",
        said,
    )
    by_bands, exact_below, by_rare, rare_up_to, n_keys = (float(one) for one in shares)
    assert (by_bands, by_rare) == (99.3, 0.7)  # 1 of the 137 texts has few shingles
    assert exact_below <= rare_up_to
    assert 1 <= n_keys <= rare_up_to
    assert not re.search(r"\d,\d{3},\d{3}", said.partition("search:")[2])
    assert re.search(r"cost: about [^;]* unrelated pairs compared \(similarity below the threshold\)\.", said)
    assert "rarest shingles" not in said
    assert "will be compared" not in said
    assert "like the 442 documents of the sample, 2 of them empty or unreadable. For the plan, 137 texts of" in said
    basis = "This prediction is from 137 sampled texts"
    assert re.search(rf"If all texts were searched by bands, .* \(.* per document\)\. {basis}", said)
    assert "The number of unrelated pairs compared in the search by rare shingles is not predicted." in said


def test_a_sample_without_documents(tmp_path):
    path = tmp_path / "none.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    ended = nearkin_here("plan", "corpus", path, "--text", "text")
    assert ended.code == 3
    assert "Traceback" not in ended.err
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    ended = nearkin_here("plan", "corpus", tmp_path / "empty.jsonl")
    assert ended.code == 3
    assert "no documents; a plan needs a sample" in ended.err


def test_a_small_sample_and_too_many_documents(tmp_path):
    path = tmp_path / "one.jsonl"
    path.write_text('{"text": "one"}\n', encoding="utf-8")
    assert "The sample is too small for a good estimate" in nearkin_here("plan", "corpus", path).out
    of_cluster = nearkin_here("plan", "corpus", path, "--documents", "1B", "--engine", "spark").out
    assert "The sample is too small" in of_cluster.partition("memoryOverhead")[2]
    ended = nearkin_here("plan", "corpus", path, "--documents", "5B")
    assert ended.code == 3
    assert "at most 4,294,967,294 documents" in ended.err
    texts = [f"this file comes without any warranty of any kind {i}" for i in range(6)]
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    given = "plan", "corpus", path, "--measure", "containment", "--threshold", "1", "--documents"
    assert "Not feasible" not in nearkin_here(*given, "1e6").out
    said = " ".join(nearkin_here(*given, "1G").out.split())
    assert "Not feasible: at a million comparisons per second on a core, which is fast, they take" in said
