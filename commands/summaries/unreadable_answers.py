"""What is no answer: the official clients raise whatever their parsers do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...eventstore.errors import SummaryError


@contextmanager
def readable_answer() -> Iterator[None]:
    """Raises `SummaryError` for what a client raises while it reads an answer that is none."""
    try:
        yield
    except (ValueError, TypeError, AttributeError, AssertionError) as error:
        detail = str(error) or type(error).__name__
        raise SummaryError(f"the server's answer cannot be read: {detail}") from error
