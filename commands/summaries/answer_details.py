"""What of a summarizer's answers is stored in an entry's `details`: its own, and the usage of the calls (T-95)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...projections.usage import Usage
from .summarizer import SummaryResult


def answer_details(answers: Sequence[SummaryResult]) -> dict[str, Any]:
    """Return the details of all answers together, with `usage` in the file's form where one told it."""
    details: dict[str, Any] = {}
    for answer in answers:
        details |= answer.details or {}
    usages = [_in_file_form(answer.usage) for answer in answers if answer.usage is not None]
    if usages:
        total = usages[0]
        for usage in usages[1:]:
            total = _added(total, usage)
        details["usage"] = total
    return details


def _in_file_form(usage: Usage | Mapping[str, Any]) -> dict[str, Any]:
    return usage.in_file_form() if isinstance(usage, Usage) else dict(usage)


def _added(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    total = dict(one)
    for name, value in other.items():
        known = total.get(name)
        if isinstance(value, Mapping) and isinstance(known, Mapping):
            total[name] = _added(known, value)
        elif isinstance(value, int | float) and isinstance(known, int | float):
            total[name] = known + value
        elif value is not None:
            total[name] = value
    return total
