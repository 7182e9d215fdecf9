"""Documents that Nearkin itself stored, as the input of a job: a collection, the results of a run."""
