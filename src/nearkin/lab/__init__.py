"""The experiments of the published systems, repeated on any corpus: a package for each, a command for each."""
