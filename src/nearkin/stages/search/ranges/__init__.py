"""Range search: all documents whose letter counts lie within a tolerance of a query's."""
