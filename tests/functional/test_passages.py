"""`nearkin passages` on files: what is written, hostile input, interruptions."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import nearkin_done, nearkin_here
from nearkin.errors import ParameterError
from nearkin.options.families import PassageDelivery, PassageOptions
from nearkin.stages.passages import windows
from nearkin.workflows.passages import job, searching
from nearkin.workflows.passages.job import passages_files
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources


def sentence(seed, n):
    chance = random.Random(seed)
    return " ".join(f"w{chance.randrange(5_000)}" for _ in range(n))


def as_lines(path, texts):
    path.write_text("".join(json.dumps({"id": f"d{i}", **text}) + "\n" for i, text in enumerate(texts)))
    return path


def of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def sources(tmp_path):
    """Six files that share a header and nothing else."""
    header = "\n".join(f"# {sentence(f'line {i}', 12)}," for i in range(14))
    folder = tmp_path / "src"
    folder.mkdir()
    for i in range(6):
        marks = header if i < 3 else header.upper().replace("# ", "// ")
        (folder / f"m{i}.py").write_text(f"{marks}\n\n{sentence(i, 1)} = '{sentence(-i - 1, 14)}'\n")
    return folder


def test_dedup_keeps_files_that_share_a_header_once_it_is_ignored(sources, tmp_path):
    before = nearkin.dedup(sources).manifest["counts"]
    assert (before["dropped"], before["sharing_one_passage"], before["near_duplicates_compared"]) == (5, 5, 5)
    found = nearkin.passages(sources, min_words=30, out=tmp_path / "out", cut=True)
    assert found.passages["documents"].to_pylist() == [6] * 6
    assert found.manifest["counts"]["boilerplate"] == 1
    counts = nearkin.dedup(sources, ignore=tmp_path / "out" / "boilerplate.txt").manifest["counts"]
    assert (counts["kept"], counts["dropped"]) == (6, 0)
    for i in range(6):
        (kept,) = of(tmp_path / "out" / "cut" / f"m{i}.py.jsonl")
        text = (sources / f"m{i}.py").read_text()
        assert kept["text"] == (text if i == 0 else text[text.index("\n\n") + 1 :])  # whole lines go


def test_boilerplate_of_a_group(tmp_path):
    menus = {site: sentence(site, 25) for site in "abc"}
    pages = [{"site": site, "text": f"{menus[site]} {sentence(i, 40)}"} for i, site in enumerate("aaaabbbbcc")]
    source = as_lines(tmp_path / "pages.jsonl", [*pages, {"site": "d", "text": sentence(99, 80)}])
    nearkin.passages(source, min_words=20, within="site", boilerplate=0.5, out=tmp_path / "out")
    lines = (tmp_path / "out" / "boilerplate.txt").read_text().splitlines()
    assert [line for line in lines if line.startswith("words:")] == [f"words:{menus[site]}" for site in "ab"]
    given = "--min-words=20", "--within=site", "--boilerplate=0.5", "--out", tmp_path / "piped"
    nearkin_done("passages", "-", *given, stdin=source.read_bytes())
    for name, read in (("boilerplate.txt", Path.read_text), ("passages.parquet", pq.read_table)):
        assert read(tmp_path / "piped" / name) == read(tmp_path / "out" / name)
    nearkin.passages(source, min_words=20, boilerplate=0.5, out=tmp_path / "whole")
    assert not (tmp_path / "whole" / "boilerplate.txt").exists()  # none stands in half of all documents


def test_a_planted_span_of_an_evaluation_set_is_found_in_its_place(tmp_path):
    question = sentence("question", 60)
    train = [{"text": sentence(i, 200)} for i in range(5)]
    before, after = sentence("before", 30), sentence("after", 5)
    train[3]["text"] = f"{before} {question.upper()}! {after}"
    train[4]["text"] = train[0]["text"]  # a copy inside of the input does not count
    mine = as_lines(tmp_path / "train.jsonl", train)
    other = as_lines(tmp_path / "eval.jsonl", [{"text": sentence("x", 90)}, {"text": f"{question} Yes."}])
    found = nearkin.passages(mine, against=other, min_words=13, drop_over=0.5, out=tmp_path / "out")
    rows = found.passages.select(["id", "start", "end", "words", "is_of_other_set"]).to_pylist()
    start = len(before) + 1
    assert rows == [
        {"id": "d1", "start": 0, "end": len(question), "words": 60, "is_of_other_set": True},
        {"id": "d3", "start": start, "end": start + len(question), "words": 60, "is_of_other_set": False},
    ]
    assert found.documents["copied_share"].to_pylist() == pytest.approx(
        [0, 0, 0, len(question) / len(train[3]["text"]), 0]
    )
    assert [row["id"] for row in of(tmp_path / "out" / "kept" / "train.jsonl")] == ["d0", "d1", "d2", "d4"]


def test_lines_of_code(tmp_path):
    block = ["def level(tide):", "    if tide < 3:", "        return tide + 1", "", "    return -tide", "", "# é"]
    moved = [f"\t{line.replace(' + ', '+')}" for line in block]
    other = [line.replace("<", ">") for line in block]
    files = [["import a", *block, "b = 1"], ["class C:", *moved], ["x = 2", *other], ["{", "}", "{", "}"]]
    texts = ["\r\n".join(lines) for lines in files]
    found = nearkin.passages(texts, min_lines=5)
    rows = found.passages.to_pylist()
    assert [(row["row"], row["words"]) for row in rows] == [(0, 5), (1, 5)]
    spans = [texts[row["row"]][row["start"] : row["end"]] for row in rows]
    assert spans == ["\r\n".join(lines).strip() for lines in (block, moved)]
    assert [text.encode()[row["start_byte"] : row["end_byte"]].decode() for text, row in zip(texts, rows)] == spans
    assert found.documents["n_words"].to_pylist() == [7, 6, 6, 4]
    assert set(nearkin.passages(texts, min_lines=2).passages["row"].to_pylist()) == {0, 1, 2, 3}


def test_annotated_records_and_their_own_repetition(tmp_path):
    chorus = sentence("chorus", 30)
    texts = [{"text": f"{chorus} {chorus}"}, {"text": f"Ü {chorus}"}, {"text": "short"}]
    source = as_lines(tmp_path / "songs.jsonl", texts)
    nearkin.passages(source, min_words=20, annotate=True, out=tmp_path / "out")
    rows = of(tmp_path / "out" / "annotated" / "songs.jsonl")
    n = len(chorus)
    assert [row["nearkin_passages"] for row in rows] == [[[0, n, 0], [n + 1, 2 * n + 1, 0]], [[2, n + 2, 0]], []]
    assert [row["nearkin_own_share"] for row in rows] == pytest.approx([n / (2 * n + 1), 0, 0])
    kept = nearkin.dedup(tmp_path / "out" / "annotated" / "songs.jsonl", keep="min:nearkin_own_share")
    assert kept.documents["keep_value"].to_pylist() == [row["nearkin_own_share"] for row in rows]


COMMON = sentence("common", 30)


@pytest.mark.parametrize("text", ["title,body", "data.text", "messages[].content", "binary", "plain"])
@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_texts_of_any_column_are_cut(tmp_path, kind, text):
    bodies = [f"{COMMON}\nfirst", f"{COMMON}\nsecond"]
    rows = [
        {"id": i, "title": "Title", "body": body, "data": {"text": body, "n": i}, "plain": body,
         "messages": [{"content": "Hello"}, {"content": body}], "binary": body}
        for i, body in enumerate(bodies)
    ]  # fmt: skip
    source, before = tmp_path / f"corpus.{kind}", {"title,body": "Title\n\n", "messages[].content": "Hello\n"}
    if kind == "parquet":
        table = pa.Table.from_pylist(rows)
        pq.write_table(table.set_column(6, "binary", table["binary"].cast(pa.binary())), source)
        rows = pq.read_table(source).to_pylist()
    else:
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    nearkin.passages(source, text=text, id="id", min_words=20, cut=True, out=tmp_path / "out")
    (file,) = (tmp_path / "out" / "cut").iterdir()
    records = pq.read_table(file).to_pylist() if file.suffix == ".parquet" else of(file)
    if text == "plain" or (kind == "jsonl" and text == "binary"):
        assert records == [rows[0], {**rows[1], text: "second"}]
    elif kind == "jsonl" and text == "data.text":
        assert records == [rows[0], {**rows[1], "data": {"text": "second", "n": 1}}]
    else:  # what stands before the passage in both is a part of it
        first = f"{before.get(text, '')}{bodies[0]}"
        assert records == [{"id": 0, "text": first}, {"id": 1, "text": "second"}]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
def test_all_other_bytes_of_a_line_that_is_cut_stay(tmp_path, encoding):
    lines = [
        f'{{"text": "{COMMON} é"}}\n',
        f'{{ "x":"\\ud83d é", "n" : 1e999,"text": "{COMMON}\\nå", "m":[1.00 , {{}}] }}\r\n',
    ]
    source = tmp_path / "corpus.jsonl"
    source.write_bytes("".join(lines).encode(encoding))
    nearkin.passages(source, min_words=20, cut=True, encoding=encoding, out=tmp_path / "out")
    written = (tmp_path / "out" / "cut" / source.name).read_bytes().decode(encoding)
    assert written == lines[0] + lines[1].replace(f"{COMMON}\\n", "")


def test_one_word_again_and_again(tmp_path):
    n = 300_000
    found = nearkin.passages(["spam " * n], min_words=50)
    (row,) = found.passages.select(["start", "end", "words", "occurrences", "documents"]).to_pylist()
    assert row == {"start": 0, "end": 5 * n - 1, "words": n, "occurrences": 1, "documents": 1}
    assert found.documents["copied_share"].to_pylist() == [0]
    assert found.documents["own_share"][0].as_py() == pytest.approx(1, abs=0.001)


def test_a_fingerprint_in_every_document_whose_surroundings_differ():
    core = sentence("core", 30)
    texts = [f"{sentence(i, 40)} {core} {sentence(-i - 1, 40)}" for i in range(500)]
    assert not nearkin.passages(texts, min_words=50).passages.num_rows
    found = nearkin.passages([*texts, texts[7]], min_words=50)
    assert found.passages["row"].to_pylist() == [7, 500]
    assert found.passages["words"].to_pylist() == [110, 110]


def run(source, out, *, threads=1, **delivery):
    request = ReadingRequest(inputs=[str(source)])
    return passages_files(
        request, out, PassageOptions(min_words=5, cut=True), delivery=PassageDelivery(report=True, **delivery),
        resources=Resources(threads),
    )  # fmt: skip


def tables(out):
    files = (path for path in Path(out).rglob("*") if path.is_file() and path.name != "manifest.json")
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


@pytest.fixture
def corpus(tmp_path):
    common = [sentence(i, 9) for i in range(4)]
    return as_lines(
        tmp_path / "corpus.jsonl", [{"text": f"{sentence(i, 9)} {common[i % 4]} {common[i % 3]}"} for i in range(60)]
    )


@pytest.mark.parametrize("step", ["read_words", "find_windows", "write_corpora"])
def test_a_run_that_is_resumed_has_the_same_bytes(corpus, tmp_path, monkeypatch, step):
    run(corpus, tmp_path / "whole", threads=2)
    with monkeypatch.context() as patch:
        patch.setattr(job, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(corpus, tmp_path / "out")
    run(corpus, tmp_path / "out", resume=True)
    assert tables(tmp_path / "out") == tables(tmp_path / "whole")


def interrupted(*_):
    raise KeyboardInterrupt


def test_partitions_do_not_change_the_result(corpus, tmp_path, monkeypatch):
    run(corpus, tmp_path / "whole")
    monkeypatch.setattr(searching, "_BYTES_AN_ENTRY", 1 << 26)
    monkeypatch.setattr(searching, "_WORDS_AT_ONCE", 100)
    monkeypatch.setattr(windows, "_WINDOWS_AT_ONCE", 7)
    run(corpus, tmp_path / "out")
    assert tables(tmp_path / "out") == tables(tmp_path / "whole")


def test_more_memory_than_allowed_is_refused_and_a_run_goes_on_with_more(corpus, tmp_path, monkeypatch):
    run(corpus, tmp_path / "whole")
    monkeypatch.setattr(job, "BYTES_A_WINDOW", 1 << 24)
    with pytest.raises(ParameterError) as raised:
        run(corpus, tmp_path / "out")
    assert raised.value.parameter == "memory"
    monkeypatch.setattr(job, "BYTES_A_WINDOW", 1)
    run(corpus, tmp_path / "out", resume=True)
    assert tables(tmp_path / "out") == tables(tmp_path / "whole")


@pytest.mark.parametrize("given", ["--cut", "--drop-over=0.5", "--drop-over=0", "--annotate", "--resume"])
def test_standard_input_is_read_once(tmp_path, given):
    lines = json.dumps({"id": 1, "text": "a b"}).encode()
    nearkin_done("passages", "-", "--out", tmp_path / "out", stdin=lines)
    ended = nearkin_here("passages", "-", given, "--out", tmp_path / "other", stdin=lines)
    assert ended.code == 2
    assert not (tmp_path / "other").exists()
