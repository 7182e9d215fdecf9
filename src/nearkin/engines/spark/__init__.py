"""Batches on a Spark cluster: the session, the requirements of executors, distributed blocks."""
