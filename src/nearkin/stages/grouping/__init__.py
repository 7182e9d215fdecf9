"""Groups built from matches."""
