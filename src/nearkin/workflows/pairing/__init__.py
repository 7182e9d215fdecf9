"""Similar documents of two collections, in one language or two: their pairs, each with its true cosine."""
