"""The documents on which `same_answers.py` runs its jobs."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]


def corpora(folder: Path, data: Path | None) -> None:
    """Write the documents of all jobs once: those that `examples` invents, and slices of the real sets."""
    if (folder / "done").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for script, name in (
        ("generate", "."),
        ("mails", "mailbox"),
        ("documents", "documents"),
        ("translations", "."),
        ("benchmark", "."),
        ("production", "production"),
    ):
        subprocess.run([sys.executable, ROOT / f"examples/{script}.py", folder / name], check=True, capture_output=True)
    (folder / "mailbox/truth.jsonl").unlink()
    _formats_of_contracts(folder)
    _waves(folder)
    _small_files(folder)
    if data:
        _real_sets(folder / "real", data)
    (folder / "done").touch()


def _records(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _write(path: Path, records: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")


def _formats_of_contracts(folder: Path) -> None:
    contracts = [{"id": one["id"], "text": one["text"]} for one in _records(folder / "contracts.jsonl")]
    table = pa.Table.from_pylist(contracts)
    pq.write_table(table, folder / "contracts.parquet")
    with pa.OSFile(str(folder / "contracts.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    for suffix, delimiter in (("csv", ","), ("tsv", "\t")):
        with open(folder / f"contracts.{suffix}", "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, delimiter=delimiter)
            rows.writerows([["id", "text"], *([one["id"], one["text"]] for one in contracts)])
    with open(folder / "dated.csv", "w", newline="", encoding="utf-8") as file:
        dates = [f"20{10 + i % 9}-0{1 + i % 7}-1{i % 10}" for i in range(len(contracts))]
        csv.writer(file).writerows(
            [["id", "date", "text"], *([c["id"], d, c["text"]] for c, d in zip(contracts, dates))]
        )
    data = (folder / "contracts.jsonl").read_bytes()
    (folder / "contracts.jsonl.gz").write_bytes(gzip.compress(data, mtime=0))
    for suffix, codec in (("zst", "zstd"), ("bz2", "bz2")):
        with pa.output_stream(str(folder / f"contracts.jsonl.{suffix}"), compression=codec) as packed:
            packed.write(data)
    (folder / "contracts.lines").write_text("".join(f"{c['id']}\t{' '.join(c['text'].split())}\n" for c in contracts))
    for one in contracts[:60]:
        path = folder / "texts" / f"{one['id']}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(one["text"], encoding="utf-8")


def _waves(folder: Path) -> None:
    contracts, mails = (_records(folder / f"{name}.jsonl") for name in ("contracts", "mails"))
    changed = [
        one | {"text": one["text"].replace("agreement", "contract") + "\nSigned.\n"} for one in contracts[:100:7]
    ]
    _write(folder / "wave1.jsonl", contracts[:110])
    _write(folder / "wave2.jsonl", changed + contracts[90:] + mails[:60])
    _write(folder / "stream.jsonl", [one | {"id": f"s/{one['id']}"} for one in contracts[100:130] + mails[40:90]])


def _small_files(folder: Path) -> None:
    contracts = _records(folder / "contracts.jsonl")
    (folder / "draft.txt").write_text(contracts[0]["text"].replace("22 days", "44 days"), encoding="utf-8")
    (folder / "copy.txt").write_text(contracts[4]["text"].upper(), encoding="utf-8")
    (folder / "passage.txt").write_text(contracts[6]["text"][300:1100], encoding="utf-8")
    (folder / "ignored.txt").write_text("Agreement on silence\n<<<\nThis mail is confidential.\n>>>\nre:On .* wrote:\n")
    labels = [(one["id"], one["id"].partition("-")[0] if i % 9 else "other") for i, one in enumerate(contracts)]
    with open(folder / "labels.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("id", "label"), *labels])
    (folder / "known.csv").write_text("left,right\n" + "".join(f"bulletin-{i:02},bulletin-{i:02}\n" for i in range(50)))
    (folder / "dictionary.tsv").write_text(
        "Hafen\tharbour\nMauer\twall\nHafen\tport\nHaus\thouse\nzwei Worte\ttwo words\n"
    )


def _real_sets(folder: Path, data: Path) -> None:
    folder.mkdir()
    reuters, licences = pq.read_table(data / "reuters21578.parquet"), pq.read_table(data / "license_rules.parquet")
    pq.write_table(reuters.slice(0, 4000), folder / "reuters.parquet")
    pq.write_table(licences.slice(0, 3000), folder / "licences.parquet")
    contracts = pq.read_table(data / "contracts.parquet").to_pylist()
    pq.write_table(
        pa.Table.from_pylist([c for c in contracts if len(c["text"]) < 40_000][:200]), folder / "contracts.parquet"
    )
    pq.write_table(
        pq.read_table(data / "bible_chapters.parquet").take(list(range(0, 13079, 7))), folder / "bible.parquet"
    )
    sentences = pq.read_table(data / "crosslingual/sentence_pairs.parquet")
    pq.write_table(sentences.slice(0, 15_000).select(["de", "en"]), folder / "sentences.parquet")
    pq.write_table(
        pq.read_table(data / "crosslingual/newstest_10sentence_docs.parquet").slice(0, 500), folder / "news.parquet"
    )
    shutil.copytree(data / "formats", folder / "formats")
    shutil.copytree(data / "similarity_index", folder / "similarity_index")
    shutil.copytree(data / "clough_stevenson", folder / "clough", ignore=shutil.ignore_patterns("*.csv", ".*"))
    for kind in sorted(path for path in (data / "mail").iterdir() if path.is_dir()):
        (folder / "mail" / kind.name).mkdir(parents=True)
        for path in sorted(kind.iterdir())[:80]:
            shutil.copy(path, folder / "mail" / kind.name)
