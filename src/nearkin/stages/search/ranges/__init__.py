"""Every document whose letter counts lie within a tolerance of a query's."""
