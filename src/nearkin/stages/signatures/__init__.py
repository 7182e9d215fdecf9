"""Features → signatures of fixed size."""
