"""One package a job: the only place that chains stages."""
