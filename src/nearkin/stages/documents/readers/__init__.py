"""Readers of formats, one file each; `nearkin.stages.documents.formats` lists them."""
