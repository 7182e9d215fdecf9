"""Threads of mails, with missing mails and inclusive mails."""
