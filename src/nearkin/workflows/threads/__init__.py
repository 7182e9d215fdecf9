"""Threads of mails, with missing mails and inclusive mails.

::

    mails and their attachments → links by headers and subjects → trees → passages, thread by thread → table, page

The stages are in `nearkin.stages.documents.mail`.
"""
