"""Near-duplicates in a stream of documents, in memory."""
