"""Models that predict what a search will find and cost, before it is run."""
