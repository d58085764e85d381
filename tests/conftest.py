"""How many examples the property tests try, and how many threads torch computes with."""

from __future__ import annotations

import os

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

os.environ.setdefault("OMP_NUM_THREADS", "1")
"""What torch is asked here is small, and threads that wait for it take as much time again."""
