"""Entries, the event store and what stands below it: abort signals, errors, session directories."""
