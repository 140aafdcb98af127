"""Answers that failed because the context was too long for the model (K-71)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .summaries.token_estimate import context_tokens

# What providers and servers say of it, in any case.
_OVERFLOW = re.compile(
    r"""
    (prompt|input|request|context|message)s?\b.{0,40}\b(is|are)?\s*too\s+(long|large)
    | (maximum|max)\s+(context|prompt\s+length)
    | reduce\s+the\s+length\s+of\b
    | request_too_large
    | context[\s_-]*(length|window|size|limit)
    | exceed\w*\b.{0,60}\b(tokens?|context)
    | tokens?\b.{0,60}\b(exceed|limit\s+exceeded|over\s+the\s+limit)
    | too\s+many\s+tokens
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NOT_OVERFLOW = re.compile(r"rate.?limit|per\s+(minute|day)|quota|throttl", re.IGNORECASE)


def is_context_overflow(message: Mapping[str, Any], window: int) -> bool:
    """Tell whether an assistant message failed by overflow, or read more than the window holds (0: not known)."""
    if message.get("stopReason") == "error":
        text = str(message.get("errorMessage") or "")
        return _OVERFLOW.search(text) is not None and _NOT_OVERFLOW.search(text) is None
    usage = message.get("usage")
    return message.get("stopReason") == "stop" and isinstance(usage, dict) and 0 < window < context_tokens(usage)
