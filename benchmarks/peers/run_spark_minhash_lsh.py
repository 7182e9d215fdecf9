"""Spark's own ``MinHashLSH``: hashed word 5-grams, ``approxSimilarityJoin`` of the corpus with itself.

Everything runs in Java. Each of its hash tables is one value of MinHash, so that the only parameter is how many there
are: three find 0.973 of the pairs at a Jaccard similarity of 0.7. It compares what it finds: pairs are exact except for
shingles that are hashed to the same number. A text without a word 5-gram has no vector that it would take; it is left
out.
"""

from __future__ import annotations

from answer import SHINGLE_WORDS, Stopwatch, arguments, hand_over
from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

DISTANCE = 0.3 + 1e-9  # it wants less than this
TABLES = 3
FEATURES = 1 << 24


def vectors(documents: DataFrame) -> DataFrame:
    """Row number and hashed shingles of each document, not yet computed."""
    words = RegexTokenizer(inputCol="text", outputCol="words", pattern=r"[\p{L}\p{M}\p{N}]+", gaps=False)
    shingles = NGram(inputCol="words", outputCol="shingles", n=SHINGLE_WORDS)
    hashed = HashingTF(inputCol="shingles", outputCol="features", binary=True, numFeatures=FEATURES)
    found = documents.select(f.expr("CAST(substring(id, 2) AS INT)").alias("row"), "text")
    found = shingles.transform(words.transform(found)).where(f.size("shingles") > 0)
    return hashed.transform(found).select("row", "features")


def main() -> None:
    """Run and hand over."""
    corpus, out = arguments()
    watch = Stopwatch()
    with watch.stage("start"):
        spark = SparkSession.builder.appName("MinHashLSH").getOrCreate()
    with watch.stage("vectors"):
        documents = vectors(spark.read.parquet(str(corpus.absolute()))).persist()
        n_documents = documents.count()
    with watch.stage("join"):
        model = MinHashLSH(inputCol="features", outputCol="hashes", numHashTables=TABLES, seed=1).fit(documents)
        joined = model.approxSimilarityJoin(documents, documents, DISTANCE, "distance")
        pairs = joined.selectExpr("datasetA.row AS a", "datasetB.row AS b").where("a < b").collect()
    spark.stop()
    how = f"pyspark.ml's MinHashLSH, {TABLES} tables, word {SHINGLE_WORDS}-grams hashed to {FEATURES:,} features"
    hand_over(out, "pyspark", n_documents, watch, how, pairs=((one.a, one.b) for one in pairs))


if __name__ == "__main__":
    main()
