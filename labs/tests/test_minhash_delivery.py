from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from labs.experiment import Delivered, deliver
from labs.minhash.corpus import TitledRequest
from labs.minhash.page import EXPERIMENT
from labs.tests.running import lab_here
from nearkin.errors import OutputExistsError, ParameterError
from nearkin.runs.progress import Silent
from nearkin.workflows.resources import Resources

SECRET = "<script>alert(1)</script> quite unmistakable words"


def write_corpus(path: Path) -> str:
    stories = [f"story {i} " + " ".join(f"word{(i * 37 + j * j) % 211}" for j in range(60)) for i in range(30)]
    stories += [story + " and a line more" for story in stories[:6]] + [SECRET, SECRET]
    path.write_text("".join(json.dumps({"id": i, "text": s}) + "\n" for i, s in enumerate(stories)), encoding="utf-8")
    return str(path)


def run(corpus: str, out: Path, *, n_documents: int = 100, threads: int = 2) -> Delivered:
    request = TitledRequest(inputs=[corpus])
    return deliver(EXPERIMENT, request, n_documents, out=out, resources=Resources(threads), progress=Silent())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("lab")
    run(write_corpus(where / "corpus.jsonl"), where / "out")
    return where / "out"


def test_summary_has_every_part(folder: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["corpus"]["n_documents"] == 38
    assert summary["n_pairs"] == 38 * 37 // 2
    assert [row["bands"] for row in summary["bands"]] == [2, 5, 10, 20, 50]
    assert summary["copies"]["n_pairs"] == 7
    assert summary["copies"]["n_documents_with_a_copy"] == 14
    assert summary["copies"]["n_documents_removable"] == 7
    assert summary["sentences"][0]["similarity"] == pytest.approx(17 / 21)
    assert summary["published"]["n_candidates_20_bands"] == 111


def test_tables_are_csv_with_headers(folder: Path) -> None:
    names = {path.stem for path in (folder / "tables").iterdir()}
    assert names == {"sentences", "shingle_lengths", "s_curves", "bands", "similarities", "pairs"}
    for path in (folder / "tables").iterdir():
        rows = list(csv.reader(path.open(encoding="utf-8")))
        assert len({len(row) for row in rows}) == 1
        assert len(rows) > 1


def test_page_holds_all_and_no_text_of_the_corpus(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "unmistakable" not in page
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", page)
    for name in ("sentences", "lengths-chars", "lengths-words", "s-curves", "similarities", "candidates", "in-vain"):
        ElementTree.fromstring((folder / "figures" / f"{name}.svg").read_text(encoding="utf-8"))
    assert page.count('class="nk-figure"') == 14
    for anchor in re.findall(r'href="#(\w+)"', page):
        assert f'id="{anchor}"' in page


def test_a_folder_with_files_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputExistsError):
        run(write_corpus(tmp_path / "corpus.jsonl"), tmp_path)


def test_results_do_not_depend_on_threads(folder: Path, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus.jsonl")
    run(corpus, tmp_path / "out", threads=1)
    for path in (tmp_path / "out/tables").iterdir():
        assert path.read_bytes() == (folder / "tables" / path.name).read_bytes()


def test_corpus_without_any_similar_pair_has_a_page_too(tmp_path: Path) -> None:
    lines = ["first quite different line", "second entry of other words", "0123456789 numbers only"]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in lines))
    delivered = run(str(tmp_path / "c.jsonl"), tmp_path / "out")
    assert delivered.results.truth.n_high == 0
    assert "NaN" not in (tmp_path / "out/summary.json").read_text()
    assert ">nan<" not in (tmp_path / "out/report.html").read_text()


def test_number_of_documents_has_bounds(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="documents: must be an int from 2 to 20000"):
        run(write_corpus(tmp_path / "corpus.jsonl"), tmp_path / "out", n_documents=1)


def test_command_prints_the_numbers_side_by_side(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus.jsonl")
    ended = lab_here("minhash", corpus, "--out", tmp_path / "a", "--documents", 30)
    assert ended.code == 0, ended.err
    assert re.search(r"two questions, one wording, 4 characters +0\.71429 +0\.71429", ended.out)
    assert re.search(r"all pairs +499,000 \(499,500\) +435", ended.out)
