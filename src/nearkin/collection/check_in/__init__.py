"""Is something like it here already? Asked before a document is stored, or in the transaction that stores it."""
