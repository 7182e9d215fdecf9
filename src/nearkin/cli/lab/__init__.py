"""The experiments of the published systems: a command for each."""
