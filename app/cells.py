"""Text made safe for a terminal, and its width there in cells."""

from __future__ import annotations

import re

from wcwidth import iter_graphemes, wcswidth

ELLIPSIS = "…"

_BREAKS = "\t\n\v\f\r\x85\u2028\u2029"
_SURROGATES = "\ud800-\udfff"
_BIDI_CONTROLS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
CONTROLS = "\x00-\x1f\x7f-\x9f" + _BIDI_CONTROLS
_UNSAFE = re.compile(f"\r\n|[\u2028\u2029{_SURROGATES}{CONTROLS}]")

# Characters of one cell that join with no other of them: most rows hold nothing else, and need no clusters.
_SIMPLE = re.compile("[ -~¡-¬®-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u203b\u2500-\u257f]*")


def clean(text: str) -> str:
    """Return `text` as one line that a terminal only shows and never obeys.

    A line break or tab becomes a space, a lone surrogate U+FFFD; every other control character (C0,
    DEL, C1) and every bidirectional control is dropped. What is visible stays, also the rest of an
    escape sequence.
    """
    return text if text.isprintable() else _UNSAFE.sub(_replacement, text)


def _replacement(found: re.Match[str]) -> str:
    unsafe = found[0]
    if unsafe == "\r\n" or unsafe in _BREAKS:
        return " "
    return "\ufffd" if "\ud800" <= unsafe <= "\udfff" else ""


def clean_lines(text: str) -> list[str]:
    """Return `text` as clean lines; only line feeds end one. A tab goes to the next multiple of 4 cells."""
    return [clean(line.expandtabs(4)) for line in text.replace("\r\n", "\n").split("\n")]


def clean_text(text: str) -> str:
    """Return `text` as its clean lines, joined by line feeds."""
    return "\n".join(clean_lines(text))


def cell_width(text: str) -> int:
    """Return the cells that clean `text` takes: East Asian wide 2, combining 0, a joined emoji 2."""
    if _SIMPLE.fullmatch(text):
        return len(text)
    # By cluster, because wcswidth looks back over a run of flags at each of them.
    return sum(map(wcswidth, iter_graphemes(text)))


def head(text: str, limit: int) -> str:
    """Return at most the first `limit` characters of `text`, without splitting a grapheme cluster."""
    if len(text) <= limit:
        return text
    if _SIMPLE.fullmatch(text, 0, limit + 1):
        return text[:limit]
    end = 0
    for cluster in iter_graphemes(text[: limit + 1]):
        if end + len(cluster) > limit:
            break
        end += len(cluster)
    return text[: end or limit]


def fit(text: str, width: int) -> str:
    """Return clean `text` in at most `width` cells (at least 1), with `…` at the end when it was cut.

    A wide character, a joined emoji or a combining mark is kept or left out with its whole cluster.
    """
    if _SIMPLE.fullmatch(text, 0, width + 1):
        return text if len(text) <= width else text[: width - 1] + ELLIPSIS
    used = end = 0
    cuts = [0]  # ends that leave room for the ellipsis, one for each width reached
    for cluster in iter_graphemes(text):
        cells = wcswidth(cluster)
        if used + cells > width:
            break
        used += cells
        end += len(cluster)
        if used < width:
            if cells:
                cuts.append(end)
            else:
                cuts[-1] = end
    else:
        if wcswidth(text) <= width:
            return text
    # The whole can be wider than its clusters: wcwidth widens some characters by their neighbours.
    while cuts and wcswidth(text[: cuts[-1]] + ELLIPSIS) > width:
        cuts.pop()
    return text[: cuts[-1] if cuts else 0] + ELLIPSIS
