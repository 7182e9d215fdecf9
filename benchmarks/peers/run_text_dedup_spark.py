"""text-dedup on Spark: its own script ``text_dedup.minhash_spark``, whole, on the cluster that Spark's settings name.

MinHash of every document in Python; all (band, rows of the band, document) grouped by key; of each group edges to its
least document; connected components; all but one of each are left out. ``--bands B --rows R``: in the place of those
that it would choose. ``--few-partitions``: it asks for 4,096 and 8,192 partitions, made for hundreds of cores; here for
8.

The components are those of GraphFrames, whose Java part is not on PyPI. Below they are made on the driver instead,
which takes less time than rounds of joins.
"""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
from answer import SHINGLE_WORDS, Stopwatch, arguments, hand_over
from pyspark import SparkConf
from pyspark.sql.classic.dataframe import DataFrame

THRESHOLD = 0.7
FEW = 8
MANY = 256  # more partitions than this are few with --few-partitions; so are those of every shuffle


class GraphFrame:
    """What the script uses of GraphFrames; a component is named after its least vertex."""

    def __init__(self, vertices: DataFrame, edges: DataFrame) -> None:
        self._edges = edges

    def connectedComponents(self) -> DataFrame:
        """Of (id, component)."""
        edges = self._edges.toArrow().to_pydict()
        above: dict[str, str] = {}

        def top(node: str) -> str:
            while (parent := above.setdefault(node, node)) != node:
                above[node] = above[parent]
                node = parent
            return node

        for one, other in zip(edges["src"], edges["dst"], strict=True):
            least, greater = sorted((top(one), top(other)))
            above[greater] = least
        nodes = list(above)
        return self._edges.sparkSession.createDataFrame(pa.table({"id": nodes, "component": list(map(top, nodes))}))


def ask_for_few_partitions() -> None:
    """Whatever the script asks for."""
    repartition, set_one = DataFrame.repartition, SparkConf.set

    def repartition_to_few(self: DataFrame, n: int) -> DataFrame:
        return repartition(self, FEW if n >= MANY else n)

    def set_few(self: SparkConf, key: str, value: str) -> SparkConf:
        return set_one(self, key, str(FEW) if key.endswith(("parallelism", "partitions")) else value)

    DataFrame.repartition, SparkConf.set = repartition_to_few, set_few


def run(corpus: Path, work: Path) -> None:
    """Its script, as if it had been called from a shell."""
    graphframes = ModuleType("graphframes")
    graphframes.GraphFrame = GraphFrame
    sys.modules["graphframes"] = graphframes
    options = ["--input", str(corpus), "--output", str(work / "kept"), "--checkpoint_dir", str(work / "checkpoints")]
    options += ["--column", "text", "--index", "id", "--debug"]
    options += ["--ngram_size", str(SHINGLE_WORDS), "--threshold", str(THRESHOLD)]
    for name, short in (("--bands", "--b"), ("--rows", "--r")):
        if name in sys.argv:
            options += [short, sys.argv[sys.argv.index(name) + 1]]
    sys.argv = ["minhash_spark.py", *options]
    runpy.run_module("text_dedup.minhash_spark", run_name="__main__", alter_sys=True)


def main() -> None:
    """Run and hand over."""
    corpus, out = arguments()
    corpus, work, watch = corpus.absolute(), out.absolute() / "work", Stopwatch()
    if "--few-partitions" in sys.argv:
        ask_for_few_partitions()
    how = " ".join(["its own script, components on the driver; clusters are not verified", *sys.argv[3:]])
    with watch.stage("its whole script"):
        run(corpus, work)
    n_documents = sum(pq.read_metadata(part).num_rows for part in corpus.glob("*.parquet"))
    assigned = pq.read_table(work / "kept-assignment" / "assignment.parquet")
    clusters = list(range(n_documents))
    for name, component in zip(assigned["id"].to_pylist(), assigned["component"].to_pylist(), strict=True):
        clusters[int(name[1:])] = int(component[1:])  # ids of the corpus are "d" and the row
    hand_over(out, "text-dedup", n_documents, watch, how, clusters=clusters)
    shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
