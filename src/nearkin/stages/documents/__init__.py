"""Reading of documents from files, tables and standard input as Arrow batches, and writing of the kept corpus."""
