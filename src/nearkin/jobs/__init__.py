"""The jobs as functions of Python: documents in files or in memory in, records with Arrow tables out.

Each calls the workflow that its command calls. `nearkin` exports the functions, `nearkin.results` the records.
"""
