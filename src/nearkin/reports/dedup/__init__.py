"""Page of a deduplication."""
