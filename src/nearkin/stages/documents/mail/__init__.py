"""Mails: headers as fields, quoted text, threads, and the mails that hold all text of a thread."""
