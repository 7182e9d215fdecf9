"""Questions about documents by id, words and conditions."""
