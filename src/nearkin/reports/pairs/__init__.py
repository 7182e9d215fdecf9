"""Page of a search for pairs."""
