"""How ``nearkin passages`` holds from 50 thousand to 2 million documents, and a suffix array on the smallest corpus.

Time is that of the processors, which other work on the machine changes little, without the start of the process (the
time of a run on 1,000 documents). The suffix array is pydivsufsort's, over the bytes of all texts, with every repeat of
at least ``--peer-bytes`` bytes; the two are compared by the characters that they find repeated::

    python benchmarks/passages.py --data FOLDER --peer
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

import pyarrow.parquet as pq

from corpus import write_corpus
from environments import Peer, install
from measure import Run, run_measured

HERE = Path(__file__).resolve().parent
START_DOCUMENTS = 1_000
PEER = Peer("pydivsufsort", "pydivsufsort", "run_pydivsufsort.py")


def measured(command: list[str], log: Path) -> Run:
    """Run a command to its end."""
    run = run_measured(command, time_limit_s=4 * 3_600.0, log=log)
    if not run.is_good:
        raise SystemExit(f"{command[0]}: {run.failure}\nits output: {log}")
    return run


def passages(folder: Path, options: argparse.Namespace) -> tuple[Run, dict[str, float], Path]:
    """``nearkin passages`` on all files of a folder: the run, its counts, and its results."""
    out = options.out / "runs" / f"passages-{folder.name}"
    command = [str(options.nearkin), "passages", *map(str, sorted(folder.glob("*.parquet")))]
    command += ["--text", "text", "--id", "id", "--out", str(out), "--overwrite", "--no-report"]
    command += ["--memory", options.memory, "--threads", str(options.threads)]
    run = measured(command, options.out / "logs" / f"passages-{folder.name}.log")
    return run, json.loads((out / "manifest.json").read_text("utf-8"))["counts"], out


def corpus(n_documents: int, options: argparse.Namespace) -> Path:
    """The folder of Parquet files, written unless it is there."""
    folder: Path = options.out / f"scale-{n_documents}"
    write_corpus(folder, n_documents, data=options.data, seed=1, output_format="parquet")
    return folder


def repeated_spans(out: Path) -> dict[int, list[tuple[int, int]]]:
    """The bytes of passages by document."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for row in pq.read_table(out / "passages.parquet", columns=["row", "start_byte", "end_byte"]).to_pylist():
        spans.setdefault(row["row"], []).append((row["start_byte"], row["end_byte"]))
    return spans


def compare_with_peer(folder: Path, out: Path, options: argparse.Namespace) -> None:
    """Run the suffix array on the same files, and say what each finds of the other."""
    problem = install(PEER)
    if problem:
        raise SystemExit(f"{PEER.name}: {problem}")
    spans, result = options.out / "runs" / "passages-spans.json", options.out / "runs" / "passages-peer.json"
    spans.write_text(json.dumps(repeated_spans(out)))
    command = [*PEER.command(folder, result), str(spans), str(options.peer_bytes)]
    run = measured(command, options.out / "logs" / "passages-peer.log")
    print(json.dumps({"peer": PEER.name, "cpu_s": run.cpu_s, "wall_s": run.wall_s,
                      "peak_MiB": run.peak_memory_bytes >> 20, **json.loads(result.read_text())}))  # fmt: skip


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", default="50000,500000,2000000", help="sizes, separated by commas")
    parser.add_argument("--memory", default="2GiB", help="for nearkin")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--data", type=Path, help="a folder with reuters21578.parquet and contracts.parquet")
    parser.add_argument("--out", type=Path, default=HERE / "out")
    parser.add_argument("--nearkin", type=Path, default=Path(sys.executable).with_name("nearkin"), help="its command")
    parser.add_argument("--peer", action="store_true", help="also run the suffix array, on the smallest corpus")
    parser.add_argument("--peer-bytes", type=int, default=300)
    options = parser.parse_args()
    options.out = options.out.resolve()
    (options.out / "runs").mkdir(parents=True, exist_ok=True)
    start = corpus(START_DOCUMENTS, options)
    passages(start, options)  # it may compile kernels
    start_s = passages(start, options)[0].cpu_s
    for number, n_documents in enumerate(map(int, options.documents.split(","))):
        folder = corpus(n_documents, options)
        run, counts, out = passages(folder, options)
        work_s, n_bytes = run.cpu_s - start_s, counts["characters"]
        print(json.dumps({
            "documents": n_documents, "MB": round(n_bytes / 1e6), "cpu_s": round(run.cpu_s, 1),
            "start_s": round(start_s, 1), "wall_s": round(run.wall_s, 1),
            "us_a_document": round(1e6 * work_s / n_documents, 1), "MB_a_second": round(n_bytes / 1e6 / work_s, 1),
            "peak_MiB": run.peak_memory_bytes >> 20, "anonymous_MiB": run.peak_anonymous_bytes >> 20,
            "passages": counts["passages"], "repeated": round(counts["repeated_characters"] / n_bytes, 4),
        }), flush=True)  # fmt: skip
        if options.peer and not number:
            compare_with_peer(folder, out, options)
        shutil.rmtree(out)


if __name__ == "__main__":
    main()
