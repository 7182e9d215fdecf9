"""Threads of mails, with missing mails, and the mails that hold all text and attachments of a thread.

::

    mails and their attachments → links by headers and subjects → trees → passages, thread by thread → table, page

The stages are in `nearkin.stages.documents.mail`.
"""
