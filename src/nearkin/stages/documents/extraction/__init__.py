"""Texts of documents that are not plain text (office files, PDF, mail, archives), read by separate processes."""
