"""Service tiers by provider family, in all spellings that files hold (C-16, F-43)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FAMILIES = ("openai", "anthropic", "google")
_TIERS = frozenset({"auto", "default", "flex", "scale", "priority"})
_LEGACY: Mapping[str, Mapping[str, str]] = {
    "priority": dict.fromkeys(_FAMILIES, "priority"),
    "openai-only": {"openai": "priority"},
    "claude-only": {"anthropic": "priority"},
    **{tier: {"openai": tier} for tier in ("auto", "default", "flex", "scale")},
}


def normalise_service_tier(stored: dict[str, Any] | str | None) -> Mapping[str, str] | None:
    """Return family to tier, None where nothing valid is set."""
    if isinstance(stored, str):
        return _LEGACY.get(stored)
    tiers = {
        family: tier for family in _FAMILIES if isinstance(tier := (stored or {}).get(family), str) and tier in _TIERS
    }
    return tiers or None
