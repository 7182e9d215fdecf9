"""The review screen and the REST service over a collection."""
