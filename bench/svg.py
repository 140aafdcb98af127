"""SVG by hand: elements, and colours that can be read on white and on black alike, for pages of either kind."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

INK = "#7a7a7a"
"""Of text and axes."""
PALETTE = ("#2f81f7", "#d9730d", "#2da44e", "#a371f7", "#e5534b", "#1b9e9e")
WIDTH = 760
"""Of a plot in pixels: the width of a README."""
FONT = 13


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """An element; `content` is SVG, not text. An attribute's underscore stands for a hyphen."""
    written = "".join(f" {key.replace('_', '-')}={quoteattr(_value(value))}" for key, value in attributes.items())
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def text(content: str, x: float, y: float, anchor: str = "start", **attributes: object) -> str:
    """Text at a place: `start`, `middle` or `end` of it lies at `x`."""
    return element("text", escape(content), x=x, y=y, text_anchor=anchor, fill=INK, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, opacity: float = 1) -> str:
    """A straight line in the colour of text."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=INK, stroke_opacity=opacity)


def drawing(title: str, height: float, parts: Iterable[str]) -> str:
    """A whole file; the title stands at the top and is what a screen reader says."""
    head = text(title, 0, FONT + 3, font_weight="bold")
    return (
        element(
            "svg",
            "\n".join(["", element("title", escape(title)), head, *parts, ""]),
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {WIDTH} {height:g}",
            width=WIDTH,
            height=height,
            role="img",
            font_family="system-ui, sans-serif",
            font_size=FONT,
        )
        + "\n"
    )


def _value(value: object) -> str:
    return f"{round(value, 1):g}" if isinstance(value, float) else str(value)
