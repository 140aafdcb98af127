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
    | context[\s_-]*(length|window|size|limit)
    | reduce\s+the\s+length\s+of\b
    | request_too_large
    | too\s+many\s+tokens
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TOO_MANY = re.compile(r"exceed\w*\b.{0,60}\btokens?\b|\btokens?\b.{0,60}\b(exceed|over\s+the\s+limit)", re.IGNORECASE)
_OTHER_TOKENS = re.compile(r"(output|completion|oauth|access|auth\w*)\s+tokens?\b|lifetime|expired", re.IGNORECASE)
_RATE = re.compile(r"rate.?limit|per\s+(minute|day)|quota|throttl", re.IGNORECASE)


def is_context_overflow(message: Mapping[str, Any], window: int) -> bool:
    """Tell whether an assistant message failed by overflow, or took more than the window holds (0: not known)."""
    if message.get("stopReason") == "error":
        text = str(message.get("errorMessage") or "")
        if _RATE.search(text):
            return False
        return bool(_OVERFLOW.search(text) or (_TOO_MANY.search(text) and not _OTHER_TOKENS.search(text)))
    usage = message.get("usage")
    return message.get("stopReason") == "stop" and isinstance(usage, dict) and 0 < window < context_tokens(usage)
