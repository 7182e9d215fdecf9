"""Contents of ``manifest.json``: for each job, a record that is written by the run and can be read back."""
