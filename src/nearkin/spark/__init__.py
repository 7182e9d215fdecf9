"""Nearkin in a program for Apache Spark: data frames in, data frames out; in a notebook, or by spark-submit.

The executors need Nearkin as well, and a folder that all of them and the driver see under the same path. The results
are those of one machine; see ``docs/guides/spark.md``.
"""

from nearkin.spark.deduplicating import SparkDedupResult, dedup, dedup_result
from nearkin.spark.pairing import similar_pairs

__all__ = ["SparkDedupResult", "dedup", "dedup_result", "similar_pairs"]
