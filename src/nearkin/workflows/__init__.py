"""Jobs, one package each: the only place that chains stages."""
