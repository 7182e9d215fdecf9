"""datatrove: its four MinHash stages, one after another; words from spaCy's blank English, which needs no model."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

from answer import BANDS, PROCESSES, ROWS, SHINGLE_WORDS, Stopwatch, arguments, hand_over
from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers.jsonl import JsonlWriter
from datatrove.utils.hashing import HashConfig


def split_corpus(corpus: Path, folder: Path) -> list[int]:
    """One file for each process, since datatrove shares work out by file; the number of lines of each."""
    folder.mkdir(parents=True)
    with corpus.open("rb") as lines:
        n_lines = sum(1 for _ in lines)
    share = -(-n_lines // PROCESSES)
    counts: list[int] = []
    with corpus.open("rb") as lines:
        for number in range(PROCESSES):
            counts.append(min(share, n_lines - sum(counts)))
            with (folder / f"{number:05d}.jsonl").open("wb") as part:
                part.writelines(next(lines) for _ in range(counts[-1]))
    return counts


def run_stages(work: Path, watch: Stopwatch) -> None:
    """Signatures, matches bucket by bucket, clusters, the filtered corpus."""
    config = MinhashConfig(
        n_grams=SHINGLE_WORDS,
        num_buckets=BANDS,
        hashes_per_bucket=ROWS,
        hash_config=HashConfig(precision=64, hash_fc="xxhash"),
    )
    reader = JsonlReader(str(work / "input"), text_key="text", id_key="id")
    folders = {name: str(work / name) for name in ("signatures", "buckets", "remove", "kept")}
    stages = {
        "signatures": (
            [reader, MinhashDedupSignature(folders["signatures"], config=config, language="eng")],
            PROCESSES,
        ),
        "buckets": ([MinhashDedupBuckets(folders["signatures"], folders["buckets"], config=config)], BANDS),
        "clusters": (
            [MinhashDedupCluster(folders["buckets"], folders["remove"], config=config, save_cluster_id=True)],
            1,
        ),
        "filter": ([reader, MinhashDedupFilter(folders["remove"]), JsonlWriter(folders["kept"])], PROCESSES),
    }
    for name, (pipeline, n_tasks) in stages.items():
        with watch.stage(name):
            LocalPipelineExecutor(
                pipeline, tasks=n_tasks, workers=min(PROCESSES, n_tasks), logging_dir=str(work / "logs" / name)
            ).run()


def read_clusters(folder: Path, counts: list[int]) -> list[int]:
    """One label for each row; a document in no cluster is alone."""
    labels, start = list(range(sum(counts))), 0
    for number, count in enumerate(counts):
        stored = folder / f"{number:06d}.clusters"
        if stored.is_file():
            for row, cluster in struct.iter_unpack("<2I", stored.read_bytes()):
                labels[start + row] = -1 - cluster
        start += count
    return labels


def main() -> None:
    """Run and hand over."""
    corpus, out = arguments()
    work, watch = out / "work", Stopwatch()
    shutil.rmtree(work, ignore_errors=True)
    counts = split_corpus(corpus, work / "input")
    run_stages(work, watch)
    labels = read_clusters(work / "remove", counts)
    how = f"its four stages, {BANDS} buckets of {ROWS}, {PROCESSES} workers, spaCy's words; clusters are not verified"
    hand_over(out, "datatrove", len(labels), watch, how, clusters=labels)
    shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
