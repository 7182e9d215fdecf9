"""Documents on their way into a collection, in one transaction."""
