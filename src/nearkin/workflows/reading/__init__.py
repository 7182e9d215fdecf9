"""Input of every job: files, standard input, collections and results of runs, found and opened by one request."""
