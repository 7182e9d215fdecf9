"""The results of a run in the place of files: the documents that it kept are read, by the ids that it gave them."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import nearkin_done, nearkin_here, run_here, write_jsonl
from made_up_prose import Prose
from nearkin.errors import SourceError
from nearkin.options.dedup import Delivery
from nearkin.workflows.auditing.audit import audit
from nearkin.workflows.auditing.audited import AuditOptions
from nearkin.workflows.dedup import job

KEPT = Delivery(report=False, write_kept=True)
Texts = dict[object, str]


def wave(seed: int, n: int = 25) -> Texts:
    texts = dict(Prose(seed).families(n))
    return {f"{seed}/{doc_id}": text for doc_id, text in texts.items()} | {f"{seed}/empty": ""}


def in_jsonl(folder: Path, texts: Texts) -> Path:
    return write_jsonl(
        folder / "wave.jsonl", [{"id": one, "text": text, "rank": i} for i, (one, text) in enumerate(texts.items())]
    )


def in_packed_lines(folder: Path, texts: Texts) -> Path:
    path = folder / "wave.txt.gz"
    path.write_bytes(gzip.compress("".join(f"{one}\t{text}\n" for one, text in texts.items()).encode()))
    return path


def in_csv(folder: Path, texts: Texts) -> Path:
    rows = "".join(f'{one};"{text}"\n' for one, text in texts.items())
    (folder / "wave.csv").write_text(f"id;text\n{rows}", encoding="utf-8")
    return folder / "wave.csv"


def in_parquet(folder: Path, texts: Texts) -> Path:
    pq.write_table(pa.table({"id": list(range(len(texts))), "text": list(texts.values())}), folder / "wave.parquet")
    return folder / "wave.parquet"


def in_one_file_each(folder: Path, texts: Texts) -> Path:
    for i, text in enumerate(texts.values()):
        path = folder / f"room/{i % 3}/{i}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "room"


def without_ids(folder: Path, texts: Texts) -> Path:
    return write_jsonl(folder / "wave.jsonl", [{"text": text} for text in texts.values()])


def with_repeated_ids(folder: Path, texts: Texts) -> Path:
    return write_jsonl(
        folder / "wave.jsonl", [{"id": f"x{i % 20}", "text": text} for i, text in enumerate(texts.values())]
    )


WRITERS = [in_jsonl, in_packed_lines, in_csv, in_parquet, in_one_file_each, without_ids, with_repeated_ids]


def read_by(out: Path, tmp_path: Path, **options: object) -> list[dict[str, object]]:
    """What a run over the results of another says of their documents."""
    run_here([str(out)], tmp_path / "reading", **options)
    rows = pq.read_table(tmp_path / "reading/documents.parquet").to_pylist()
    shutil.rmtree(tmp_path / "reading")
    return rows


@pytest.mark.parametrize(
    ("write", "delivery"),
    [
        *((write, Delivery(report=False)) for write in WRITERS),
        (in_jsonl, KEPT),
        (in_parquet, KEPT),
        (without_ids, KEPT),
    ],
)
def test_what_a_run_kept_is_read_in_any_format(write: Callable[[Path, Texts], Path], delivery, tmp_path):
    texts = wave(1)
    run_here([str(write(tmp_path, texts))], tmp_path / "out", threshold=0.6, delivery=delivery)
    if delivery.write_kept:  # then the input is not needed
        for path in tmp_path.iterdir():
            if path.name != "out":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    documents = pq.read_table(tmp_path / "out/documents.parquet")
    documents = documents.filter(documents["keep"]).to_pylist()
    assert 10 < len(documents) < len(texts)
    again = read_by(tmp_path / "out", tmp_path, threshold=0.6)
    for name in ("id", "n_characters", "n_shingles"):
        assert [row[name] for row in again] == [row[name] for row in documents]
    assert all(row["keep"] for row in again)
    assert {row["source"] for row in again} == {str(tmp_path / "out")}


def test_one_wave_after_another_is_as_all_at_once(tmp_path):
    """Each wave against what is kept of those before it, then in itself: no two documents that are kept are alike."""
    waves = [wave(1, 40), wave(1, 60) | wave(2, 10), wave(2, 30) | wave(1, 30)]
    options = {"threshold": 0.7, "recall": 0.9999, "shingle": "words:3"}
    kept: list[Path] = []
    for number, texts in enumerate(waves):
        path = write_jsonl(
            tmp_path / f"{number}.jsonl",
            [{"id": f"{number}:{one}", "text": text} for one, text in texts.items() if text],
        )
        run_here([str(path)], tmp_path / f"new-{number}", against=[str(one) for one in kept], **options)
        run_here([str(tmp_path / f"new-{number}")], tmp_path / f"clean-{number}", **options)
        kept.append(tmp_path / f"clean-{number}")
    run_here([str(one) for one in kept], tmp_path / "all", **options)
    documents = pq.read_table(tmp_path / "all/documents.parquet")
    assert set(documents["reason"].to_pylist()) == {"unique"}
    # each document that went is like one that stayed, or was like one that went for it
    everything = [str(tmp_path / f"{number}.jsonl") for number in range(3)]
    run_here(everything, tmp_path / "against", against=[str(one) for one in kept], **options)
    reasons = pq.read_table(tmp_path / "against/documents.parquet")["reason"].to_pylist()
    assert reasons.count("unique") < 0.05 * len(reasons)
    audited = audit(tmp_path / "clean-2", AuditOptions(sample=10**6))  # whose input is a run against runs
    assert audited.estimate.is_exact


# -- what is refused --------------------------------------------------------------------------------------------------


def refused(*arguments: str | Path, out: Path) -> str:
    ended = nearkin_here(*arguments, "--out", out, "-q")
    assert ended.code in (2, 3)
    assert not out.exists()
    return ended.err


def test_a_run_whose_documents_are_gone_or_changed(tmp_path):
    path = in_jsonl(tmp_path, wave(1))
    run_here([str(path)], tmp_path / "clean")
    run_here([str(path)], tmp_path / "written", delivery=KEPT)
    out = tmp_path / "out"
    moved = path.rename(tmp_path / "elsewhere.jsonl")
    said = refused("dedup", moved, "--against", tmp_path / "clean", out=out)
    assert "the documents kept by this run cannot be read again" in said
    assert "wave.jsonl does not exist" in said
    assert said.count("--write-kept does not need its input") == 1
    shutil.copy(moved, path)
    path.write_text(path.read_text() + '{"id": "more", "text": "something"}\n')
    assert "has changed" in refused("dedup", moved, "--against", tmp_path / "clean", out=out)
    kept = tmp_path / "written/kept/wave.jsonl"
    kept.write_text(kept.read_text().replace("e", "a", 1))
    said = refused("dedup", moved, "--against", tmp_path / "written", out=out)
    assert "kept/wave.jsonl has changed" in said
    assert "--write-kept" not in said


def test_an_unfinished_run_and_results_without_documents(tmp_path, monkeypatch):
    path = in_jsonl(tmp_path, wave(1))

    def cut(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(job, "write_tables", cut)
        nearkin_done("dedup", path, "--out", tmp_path / "cut", "-q", code=130)
    said = refused("dedup", path, "--against", tmp_path / "cut", out=tmp_path / "out")
    assert "holds an unfinished run" in said
    assert "--resume" in said
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs/manifest.json").write_text('{"nearkin": "0.1", "command": "pairs", "format": 1}')
    assert "holds the results of nearkin pairs" in refused("dedup", tmp_path / "pairs", out=tmp_path / "out")
    run_here([str(path)], tmp_path / "clean")
    (tmp_path / "clean/documents.parquet").unlink()
    ended = nearkin_here("dedup", tmp_path / "clean", "--out", tmp_path / "out", "-q")
    assert ended.code == 5
    assert "documents.parquet" in ended.err


@pytest.mark.parametrize(("option", "parameter"), [("--text", "text"), ("--id", "id"), ("--format", "file_format")])
def test_what_is_of_files_is_refused_beside_runs_alone(option, parameter, tmp_path):
    path = in_jsonl(tmp_path, wave(1))
    run_here([str(path)], tmp_path / "out", delivery=KEPT)
    value = "jsonl" if option == "--format" else option[2:]
    given = (tmp_path / "out", "--out", tmp_path / "refused", option, value)
    assert nearkin_here("dedup", *given).code == 3
    assert not (tmp_path / "refused").exists()
    with pytest.raises(SourceError) as refused:
        nearkin.dedup(tmp_path / "out", **{parameter: value})
    assert refused.value.parameter == parameter
    nearkin_done("dedup", *given[:2], tmp_path / "both", path, option, value)
    assert "wave.jsonl" in (tmp_path / "both/manifest.json").read_text()
