"""Translation tables: the words of two languages that translate each other, learned from pairs of sentences."""
