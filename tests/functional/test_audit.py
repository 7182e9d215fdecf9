"""The recall of finished runs, measured: what brute force says of the same documents."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin_here, run_here, write_jsonl
from made_up_prose import Prose
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError, RunError, SourceError
from nearkin.manifests.dedup import DedupManifest
from nearkin.runs.files import write_checked_json
from nearkin.runs.progress import Silent
from nearkin.stages.search import inverted
from nearkin.stages.search.linking import SkewedRuns
from nearkin.workflows.auditing import run as auditing_run
from nearkin.workflows.auditing.audit import audit
from nearkin.workflows.auditing.audited import MAX_MISSED, Audited, AuditOptions, MissedPairs
from nearkin.workflows.dedup.files import Delivery
from nearkin.workflows.dedup.regrouping import regroup
from nearkin.workflows.families.files import families_files
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources
from oracles.brute_force import Collection
from oracles.texts import versions

EVERYTHING = AuditOptions(sample=10**9, threads=2)
LOSSY = {"threshold": 0.6, "recall": 0.5, "shingle": "words:3"}
Pairs = set[frozenset[str]]


def planted() -> list[dict[str, object]]:
    """Long texts in families, and what is short, empty, repeated or strange."""
    texts = versions(5, n_bases=30, n_words=150, n_versions=3, max_edits=16)
    texts += ["", " \n", "!?", "one two", "One two.", "one two three four", "One, two, three, four!", *texts[::9]]
    return [{"id": f"d{i * 31 % 2003}", "text": text} for i, text in enumerate(texts)]


@pytest.fixture(scope="module")
def documents() -> list[dict[str, object]]:
    return planted()


@pytest.fixture(scope="module")
def files(documents, tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("planted")
    half = len(documents) // 2
    parts = (documents[:half], documents[half:])
    return [str(write_jsonl(folder / f"part-{i}.jsonl", part)) for i, part in enumerate(parts)]


@pytest.fixture(scope="module")
def lossy(files, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("lossy") / "out"
    run_here(files, out, **LOSSY)
    return out


def true_pairs(documents: Sequence[dict[str, object]], *, threshold: float, shingle: str, measure: str) -> Pairs:
    """By brute force: pairs of the documents that stand for their texts."""
    unit, _, length = shingle.partition(":")
    plain = Collection([(str(d["id"]), str(d["text"])) for d in documents], unit=unit, length=int(length))
    originals = plain.originals(plain.preference("longest"))
    return {frozenset({plain.id(a), plain.id(b)}) for a, b in plain.matches(originals, threshold, measure)}


def stored_pairs(out: Path) -> Pairs:
    """Those of different texts."""
    table = pq.read_table(out / "documents.parquet")
    copies = {row["row"] for row in table.to_pylist() if row["copy_of_row"] is not None}
    pairs = pq.read_table(out / "pairs.parquet", columns=["row_a", "row_b"]).to_pylist()
    names = table["name"].to_pylist()
    return {frozenset(names[row] for row in pair.values()) for pair in pairs if not copies & set(pair.values())}


def missed_pairs(audited: Audited) -> Pairs:
    return {frozenset((row["id_a"], row["id_b"])) for row in audited.missed.to_pylist()}


@pytest.mark.parametrize(
    ("measure", "threshold", "shingle"),
    [
        ("jaccard", 0.6, "words:3"),
        ("jaccard", 1.0, "words:3"),
        ("jaccard", 0.5, "chars:9"),
        ("containment", 0.8, "words:2"),
    ],
)
def test_all_documents_are_brute_force(documents, files, tmp_path, measure, threshold, shingle):
    run_here(files, tmp_path / "out", measure=measure, threshold=threshold, shingle=shingle, recall=0.4)
    audited = audit(tmp_path / "out", EVERYTHING)
    truth = true_pairs(documents, threshold=threshold, shingle=shingle, measure=measure)
    found = stored_pairs(tmp_path / "out")
    assert found <= truth
    estimate = audited.estimate
    assert estimate.is_exact
    assert (estimate.n_true, estimate.n_found) == (len(truth), len(found))
    assert estimate.recall == estimate.low == estimate.high == len(found) / len(truth)
    assert missed_pairs(audited) == truth - found
    assert len(audited.missed) == len(truth - found)


def test_something_is_missed_and_predicted(lossy):
    audited = audit(lossy, EVERYTHING)
    assert 0.3 < audited.estimate.recall < 0.95
    assert audited.predicted_recall == json.loads((lossy / "manifest.json").read_text())["estimated_recall"]
    assert audited.predicted_recall == pytest.approx(audited.estimate.recall, abs=0.15)
    higher = replace(audited, predicted_recall=audited.estimate.recall + 0.01)
    assert higher.to_dict()["below_predicted"] == pytest.approx(0.01)
    assert higher.below_text.startswith("The recall is 1.00 points below the estimated ")
    assert replace(audited, predicted_recall=audited.estimate.recall).below_text == ""
    similarities = audited.missed["similarity"].to_pylist()
    assert similarities == sorted(similarities, reverse=True)
    assert min(similarities) >= 0.6


def test_a_pair_of_two_sampled_documents_counts_once(documents, lossy):
    truth = true_pairs(documents, threshold=0.6, shingle="words:3", measure="jaccard")
    manifest = DedupManifest.of(json.loads((lossy / "manifest.json").read_text()))
    run = auditing_run.StoredRun.load(lossy, manifest, threads=1, progress=Silent())
    for seed, n in ((0, 30), (1, 60)):
        options = AuditOptions(sample=n, seed=seed, threads=2)
        sampled = set(run.names.take(pa.array(options.drawn(run.rows))).to_pylist())
        drawn = {pair for pair in truth if pair & sampled}
        assert any(pair <= sampled for pair in drawn)
        estimate = audit(lossy, options).estimate
        assert (estimate.n_true, estimate.n_found) == (len(drawn), len(drawn & stored_pairs(lossy)))
        assert estimate.recall == estimate.n_found / estimate.n_true


def few_pairs(n: int) -> list[dict[str, object]]:
    """Unrelated texts, of which one in twenty comes again with another word."""
    prose = Prose(8)
    texts = [prose.text(40) for _ in range(n)]
    return [{"id": i, "text": text} for i, text in enumerate([*texts, *(f"{text} again" for text in texts[::20])])]


def test_of_every_document_without_a_true_pair_the_audit_is_exact(tmp_path):
    path = write_jsonl(tmp_path / "in.jsonl", few_pairs(20)[:20])
    run_here([str(path)], tmp_path / "out", threshold=0.8)
    refused = nearkin_here("audit", tmp_path / "out", "--out", "missed.tsv")
    assert (refused.code, "No such option: --out (Possible options: --missed)" in refused.err) == (2, True)
    ended = nearkin_here("audit", tmp_path / "out")
    assert "no true pair was found (every document was sampled)" in " ".join(ended.out.split())
    assert "nothing can be said" not in ended.out
    assert "--sample" not in ended.out
    (proposed,) = audit(tmp_path / "out", AuditOptions(sample=5)).proposed
    assert (proposed.n_documents, proposed.width) == (20, 0)


def test_samples_hold_the_recall(lossy):
    everything = audit(lossy, EVERYTHING)
    drawn = [audit(lossy, AuditOptions(sample=40, seed=seed, threads=2)) for seed in range(8)]
    assert len({one.estimate.n_true for one in drawn}) > 1
    for one in drawn:
        assert one.estimate.n_sampled == 40
        assert not one.estimate.is_exact
        assert one.estimate.low < everything.estimate.recall < one.estimate.high
        assert missed_pairs(one) <= missed_pairs(everything)
    again = audit(lossy, AuditOptions(sample=40, seed=3, threads=1))
    timeless = {"elapsed_s": 0, "missed": None, "proposed": ()}
    assert replace(again, **timeless) == replace(drawn[3], **timeless)
    assert again.missed == drawn[3].missed


def test_memory_changes_nothing(lossy, monkeypatch):
    expected = audit(lossy, EVERYTHING)
    monkeypatch.setattr(auditing_run, "SHINGLES_AT_A_TIME", 2_000)
    monkeypatch.setattr(inverted, "_AT_A_TIME", 50)
    in_parts = audit(lossy, EVERYTHING)
    assert in_parts.estimate == expected.estimate
    assert in_parts.missed == expected.missed


def test_a_regrouped_run(documents, lossy, tmp_path):
    out, _ = regroup(lossy, threshold=0.75, out=tmp_path / "cut", report=False)
    audited = audit(out, EVERYTHING)
    truth = true_pairs(documents, threshold=0.75, shingle="words:3", measure="jaccard")
    assert missed_pairs(audited) == truth - stored_pairs(out)
    assert "Jaccard ≥ 0.75" in audited.pairs


def test_families(documents, files, tmp_path):
    families_files(
        ReadingRequest(inputs=files),
        tmp_path / "out",
        threshold=0.8,
        shingle="words:3",
        delivery=Delivery(report=False),
        resources=Resources(2),
    )
    audited = audit(tmp_path / "out", EVERYTHING)
    assert audited.what == f"nearkin families, {tmp_path / 'out'}"
    truth = true_pairs(documents, threshold=0.8, shingle="words:3", measure="jaccard")
    assert missed_pairs(audited) == truth - stored_pairs(tmp_path / "out")


def test_against_another_collection(documents, tmp_path):
    """Ids are repeated in both, and texts too."""
    both = [{**one, "id": "same" if i % 10 == 0 else one["id"]} for i, one in enumerate(documents)]
    mine, theirs = both[::2], both[1::2] + both[:40:4]
    inputs = [str(write_jsonl(tmp_path / "mine.jsonl", mine))]
    against = [str(write_jsonl(tmp_path / "theirs.jsonl", theirs))]
    run_here(inputs, tmp_path / "out", against=against, **LOSSY)
    audited = audit(tmp_path / "out", EVERYTHING)
    plain = Collection([("", str(one["text"])) for one in [*mine, *theirs]], length=3)
    n_true = 0
    for a in range(len(mine)):
        alike = {
            plain.texts[b]
            for b in range(len(mine), len(plain.texts))
            if plain.texts[b] != plain.texts[a] and float(plain.likeness(a, b).jaccard) >= 0.6
        }
        n_true += len(alike) if plain.texts[a] else 0
    reported = pq.read_table(tmp_path / "out" / "pairs.parquet")
    n_copies = sum(one in plain.texts[len(mine) :] for one in plain.texts[: len(mine)] if one)
    assert audited.estimate.n_true == n_true
    assert audited.estimate.n_found == len(reported) - n_copies
    assert 0 < audited.estimate.n_missed == len(audited.missed)


@pytest.mark.parametrize("is_against", [False, True])
def test_folders_of_text_files(documents, tmp_path, monkeypatch, is_against):
    """Their documents are named after their places, in two folders alike; what is not UTF-8 was read as Latin-1."""
    monkeypatch.chdir(tmp_path)
    for i, one in enumerate(documents):
        path = Path(("mine", "theirs")[i % 2]) / f"{i // 2:03}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(f"{one['text']} déjà vu".encode("latin-1"))
    sides = (["mine"], ["theirs"]) if is_against else (["mine", "theirs"], [])
    arguments = ["dedup", *sides[0], *(["--against", *sides[1]] if is_against else [])]
    ended = nearkin_here(
        *arguments, "--out", "out", "--encoding", "latin-1", "--threshold", "0.6", "--recall", "0.5", "-q"
    )
    assert ended.code == 0
    audited = audit("out", EVERYTHING)
    assert 0 < audited.estimate.n_missed < audited.estimate.n_true
    assert audited.estimate.n_found > 0
    if not is_against:
        assert audited.estimate.n_found == len(stored_pairs(Path("out")))


def test_pairs_that_were_not_compared(tmp_path, monkeypatch):
    """A crowd under one key: the run cannot say what it missed, the audit can."""
    texts = [f"{' '.join(map(str, range(60)))} x{i} y{i % 7} z{i}" for i in range(300)]
    path = write_jsonl(tmp_path / "in.jsonl", [{"id": str(i), "text": text} for i, text in enumerate(texts)])
    monkeypatch.setattr(SkewedRuns, "affordable_pivots", lambda runs, max_pairs: 1)
    manifest = run_here([str(path)], tmp_path / "out", threshold=0.8)
    assert manifest["counts"]["pairs_not_compared"] > 0
    audited = audit(tmp_path / "out", AuditOptions(sample=50, threads=2))
    assert audited.predicted_recall is None
    assert any("did not compare" in note for note in audited.notes)
    assert audited.estimate.recall < 0.5


def test_integer_ids(documents, tmp_path):
    numbered = [{**one, "id": i} for i, one in enumerate(documents)]
    path = write_jsonl(tmp_path / "in.jsonl", numbered)
    run_here([str(path)], tmp_path / "out", **LOSSY)
    audited = audit(tmp_path / "out", EVERYTHING)
    assert audited.missed["id_a"].type == pa.large_string()
    assert 0 < audited.estimate.n_missed == len(audited.missed)


def test_no_texts_at_all(tmp_path):
    path = write_jsonl(tmp_path / "in.jsonl", [{"id": "a", "text": ""}, {"id": "b", "text": " "}])
    run_here([str(path)], tmp_path / "out")
    audited = audit(tmp_path / "out")
    assert (audited.estimate.n_population, audited.estimate.recall, len(audited.missed)) == (0, None, 0)


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sample", "threads"])
@pytest.mark.parametrize("value", [0, -3, 1.5, True, "7"])
def test_options(name, value):
    with pytest.raises(ParameterError, match=f"^{name}: "):
        AuditOptions(**{name: value})


def test_no_run(tmp_path, lossy):
    with pytest.raises(RunError, match="neither a finished run nor a collection"):
        audit(tmp_path)
    with pytest.raises(RunError, match="neither a finished run nor a collection: there is no such directory"):
        audit(tmp_path / "nowhere")
    (tmp_path / ".work").mkdir()
    with pytest.raises(RunError, match="not finished"):
        audit(tmp_path)
    for text, said in (("{", "cannot be read"), ("[]", "was changed"), ("{}", "was changed")):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(RunError, match=said):
            audit(tmp_path)
    with pytest.raises(ParameterError, match="own threshold"):
        audit(lossy, AuditOptions(tolerance=Tolerance.of(gamma=0.05)))


@pytest.mark.parametrize("name", ["documents.parquet", "pairs.parquet"])
def test_a_damaged_run(lossy, tmp_path, name):
    out = shutil.copytree(lossy, tmp_path / "out")
    (out / name).write_bytes(b"PAR1 and nothing more")
    with pytest.raises(RunError, match="damaged"):
        audit(out)
    (out / name).unlink()
    with pytest.raises(RunError, match="damaged"):
        audit(out)


def test_pairs_that_are_none(lossy, tmp_path):
    """Stored pairs that the input does not bear out are told, and no recall is made of them."""
    out = shutil.copytree(lossy, tmp_path / "out")
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["parameters"]["threshold"] = 0.9
    del manifest["checksum"]
    write_checked_json(out / "manifest.json", manifest)
    with pytest.raises(RunError, match="not similar enough"):
        audit(out, EVERYTHING)


def test_inputs_that_changed(files, tmp_path, monkeypatch):
    path = Path(shutil.copy(files[0], tmp_path / "in.jsonl"))
    text = path.read_text()
    run_here([str(path)], tmp_path / "out", **LOSSY)
    audit(tmp_path / "out", EVERYTHING)
    path.write_text(text + "\n")
    with pytest.raises(SourceError, match=r"in\.jsonl has changed"):
        audit(tmp_path / "out")
    path.write_text(text[:-3] + text[-3:].swapcase().replace('"', "'"))
    os.utime(path)
    with pytest.raises(SourceError, match="has changed"):
        audit(tmp_path / "out")
    path.unlink()
    with pytest.raises(SourceError, match="does not exist"):
        audit(tmp_path / "out")
    path.write_text(text)  # the same bytes again
    audit(tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    run_here(["in.jsonl"], tmp_path / "relative", **LOSSY)
    monkeypatch.chdir("/")
    with pytest.raises(SourceError, match=r"There is no in\.jsonl in /, .* from which it was read first"):
        audit(tmp_path / "relative")


def test_standard_input(tmp_path):
    nearkin_here("dedup", "-", "--format", "jsonl", "--out", tmp_path / "out", stdin=b'{"id": "a", "text": "a text"}\n')
    with pytest.raises(SourceError, match="standard input"):
        audit(tmp_path / "out")


def test_missed_pairs_have_a_limit():
    missed = MissedPairs(most=2)
    missed.take([("a", "b", 0.7), ("b", "a", 0.7), ("c", "d", 0.9)])
    assert not missed.is_truncated
    missed.take([("d", "c", 0.9)])
    assert not missed.is_truncated
    missed.take([("e", "f", 0.8), ("g", "h", 0.8)])
    assert missed.is_truncated
    assert missed.table().to_pydict() == {"id_a": ["c", "a"], "id_b": ["d", "b"], "similarity": [0.9, 0.7]}
    assert MAX_MISSED >= 100_000


# -- the command ------------------------------------------------------------------------------------------------------


def test_command(lossy, tmp_path):
    ended = nearkin_here("audit", lossy, "--sample", "60", "--seed", "2")
    assert ended.code == 0
    ended.assert_clean()
    for said in (
        "sampled",
        "true pairs",
        "found",
        "95% interval",
        "distinct texts; ",
        "run's estimate",
        "missed",
        "; --missed FILE writes them",
    ):
        assert said in ended.out
    everything = nearkin_here("audit", lossy, "--sample", "100000")
    assert "all distinct texts; " in everything.out
    assert "exact: every document was sampled" in everything.out
    quiet = nearkin_here("audit", lossy, "-q")
    assert (quiet.out, quiet.err) == ("", "Warning: The recall is 6.45 points below the estimated 75.02%.\n")


@pytest.mark.parametrize("name", ["missed.parquet", "missed.tsv", "missed.csv", "missed.jsonl"])
def test_json_and_missed(lossy, tmp_path, name):
    ended = nearkin_here("audit", lossy, "--json", "--missed", tmp_path / name)
    assert ended.code == 0
    told = json.loads(ended.out)
    audited = audit(lossy)
    assert told | {"elapsed_s": 0} == audited.to_dict() | {"elapsed_s": 0}
    assert told["missed_pairs"] == len(audited.missed) > 0
    if name.endswith(".parquet"):
        assert pq.read_table(tmp_path / name) == audited.missed
    if name.endswith(".tsv"):
        first, *lines = (tmp_path / name).read_text().splitlines()
        assert first == "id_a\tid_b\tsimilarity"
        assert len(lines) == len(audited.missed)
    assert nearkin_here("audit", lossy, "--missed", tmp_path / name).code == 5
    said = nearkin_here("audit", lossy, "--missed", tmp_path / name, "--overwrite").out
    assert f"more missed pairs, in {tmp_path / name}" in said.replace("\n", " ")
    assert "--missed FILE" not in said
    assert nearkin_here("audit", lossy, "--missed", tmp_path / name, "--overwrite", "-q").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--sample", "0"], 2, "--sample: must be"),
        (["--sample=-1"], 2, "--sample: must be"),
        (["--seed=-1"], 2, "--seed: must be"),
        (["--missed", "x.docx"], 2, "--missed: must be"),
        (["--gamma", "0.05"], 2, "is audited at its own threshold"),
        (["--measure", "edit"], 2, "--measure: "),
        (["--method", "minhash", "--gamma", "0.05"], 2, "--gamma: "),
    ],
)
def test_what_the_command_refuses(lossy, arguments, code, said):
    ended = nearkin_here("audit", lossy, *arguments)
    assert ended.code == code
    assert said in ended.err
    ended.assert_clean()
