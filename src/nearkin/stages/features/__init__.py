"""Text → features: shingle sets."""
