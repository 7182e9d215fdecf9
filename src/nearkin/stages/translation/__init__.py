"""Translation tables: which words of one language stand for which of another, learned from pairs of sentences."""
