"""Mails: headers as fields, quoted text, threads, and inclusive mails."""
