"""Where text comes from: files, columns, tables, standard input, as Arrow batches; the way back, the kept corpus."""
