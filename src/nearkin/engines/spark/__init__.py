"""Batches on the machines of a Spark cluster: a session, what executors must have, blocks that lie distributed."""
