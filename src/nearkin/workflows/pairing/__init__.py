"""Search for similar documents of two corpora, in one language or two; each pair has its exact cosine."""
