"""Near-duplicates whose labels differ."""
