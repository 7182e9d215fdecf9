"""Measured recall, from a sample of documents that is compared with everything."""
