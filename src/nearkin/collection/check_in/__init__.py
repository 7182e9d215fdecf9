"""Check-in: find out whether a similar document is stored, before storing a document or in the same transaction."""
