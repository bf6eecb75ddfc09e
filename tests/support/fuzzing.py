"""How much hypothesis tries: little and always the same; MKLBENCH_EXAMPLES=1000 tries others."""

from __future__ import annotations

import os
from datetime import timedelta

from hypothesis import HealthCheck, settings

_MORE = os.environ.get("MKLBENCH_EXAMPLES")


def examples(n_examples: int) -> settings:
    """The settings of a test that tries so many examples, none of which may take long."""
    return settings(
        max_examples=int(_MORE or n_examples),
        derandomize=_MORE is None,
        database=None,
        deadline=timedelta(seconds=5),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
