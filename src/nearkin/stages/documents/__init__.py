"""Where text comes from, as Arrow batches: files, columns, tables, standard input; and the way back, the kept corpus."""
