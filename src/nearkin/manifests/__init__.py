"""What finished runs say of themselves in ``manifest.json``: a record for each job, which writes and reads it."""
