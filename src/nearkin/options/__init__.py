"""Options of jobs, each declared once; see `nearkin.options.declared`."""
