"""Search for the words of stored texts."""
