"""The index of a session file: a cache of what was scanned, so that it is not scanned again (ADR 9)."""
