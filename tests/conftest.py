"""What all tests share: how fast a machine is decides nothing."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# On a new machine the first text that is generated takes seconds: its tables of characters are made then.
settings.register_profile("sessiontree", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("sessiontree")
