"""Runs of words that stand in several places of a corpus; see `nearkin.stages.passages.windows`."""
