"""The keys of the tree selector, as its help shows them."""

from __future__ import annotations

from itertools import zip_longest

_KEYS = (
    ("↑ ↓", "move"),
    ("PgUp PgDn ← →", "a page"),
    ("Home End", "first, last"),
    ("Alt+↑ Alt+↓", "turn by turn"),
    ("Ctrl+← Ctrl+→", "fold, unfold; branches"),
    ("Escape, Ctrl+C", "close"),
    ("F1, ?", "this help"),
    ("Enter", "go there"),
    ("Alt+Enter", "go, with a summary"),
    ("Shift+L", "label"),
    ("text", "search; Escape clears"),
    ("Ctrl+O, Alt+O", "next filter, and back"),
    ("Alt+D T U L A", "straight to a filter"),
)
_COLUMN = 38
_TWO_COLUMNS = 2 * _COLUMN + 1


def help_text(width: int) -> str:
    """Return the keys in two columns where they fit in `width` cells, else in one, else as running text."""
    if width < _COLUMN:
        return "\n".join(f"{key}: {does}" for key, does in _KEYS)
    items = [f"{key:<15}{does}" for key, does in _KEYS]
    if width < _TWO_COLUMNS:
        return "\n".join(items)
    half = (len(items) + 1) // 2
    return "\n".join(
        f"{left:<{_COLUMN}}{right}" for left, right in zip_longest(items[:half], items[half:], fillvalue="")
    )
