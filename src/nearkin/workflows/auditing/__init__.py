"""The recall that was really reached, from a sample of documents that is compared with everything."""
