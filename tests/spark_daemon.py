"""Spark's daemon of Python workers, with what they would load loaded: each of them is a fork of it.

Otherwise each would begin with a second of imports, and the tests start more than a hundred.
"""

import importlib
import sys

# the package that is installed, which is compiled, in the place of the same in an archive
sys.path[:] = [place for place in sys.path if not place.endswith(".zip")]

daemon = importlib.import_module("pyspark.daemon")
for module in ("pandas", "pyspark.worker", "nearkin.spark", "nearkin.workflows.dedup.on_spark.job"):
    importlib.import_module(module)

if __name__ == "__main__":
    daemon.manager()
