"""Search for similar documents of two collections, in one language or two; each pair has its true cosine."""
