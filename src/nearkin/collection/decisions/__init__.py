"""Decisions of people on documents: tags, groups, principals and notes, in a log from which each can be undone."""
