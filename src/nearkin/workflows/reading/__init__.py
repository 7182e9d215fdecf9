"""What every job reads: files, standard input, collections and results of runs, found and opened by one request."""
