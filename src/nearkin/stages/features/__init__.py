"""Features of texts, such as shingle sets."""
