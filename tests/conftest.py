"""How many examples the property tests try."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings

_CHECKS = list(HealthCheck)  # programs take their time to make
settings.register_profile(  # the same examples each time; what fails is shrunk under the other profile
    "quick",
    max_examples=20,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=_CHECKS,
)
settings.register_profile("thorough", max_examples=500, deadline=None, suppress_health_check=_CHECKS)
settings.load_profile("quick")
