"""Files → collection, and tables about a collection."""
