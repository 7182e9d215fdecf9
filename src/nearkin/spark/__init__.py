"""Functions for Apache Spark, in a notebook or by spark-submit: they take data frames and return data frames.

Nearkin must be installed on the executors, and the driver and all executors need a folder that they see under the same
path.
"""

from nearkin.spark.deduplicating import SparkDedupResult, dedup, dedup_result
from nearkin.spark.pairing import similar_pairs

__all__ = ["SparkDedupResult", "dedup", "dedup_result", "similar_pairs"]
