"""Text that a person typed."""

from __future__ import annotations

import click


def utf8(name: str, text: str) -> str:
    """Return the text. Raises `click.UsageError` where what was typed is not UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise click.UsageError(f"{name} is not UTF-8.", click.get_current_context()) from error
    return text


def label_text(name: str, text: str | None) -> str | None:
    """Return a label without blanks around it, None for a blank one (T-53). Raises `click.UsageError`."""
    return utf8(name, text or "").strip() or None
