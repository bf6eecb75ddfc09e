"""What a comparison could have seen, against simulation and cases that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mklbench.report.analysis.significance import (
    detectable_difference,
    detectable_on_a_set,
)


@pytest.mark.parametrize(("n", "n_tests"), [(8, 1), (40, 1), (40, 20)])
def test_the_detectable_difference_is_found_four_times_of_five(n: int, n_tests: int) -> None:
    rng = np.random.default_rng(0)
    shift = 2.0 / math.sqrt(n) * detectable_difference(n - 1, n_tests)
    draws = rng.normal(shift, 2.0, (20_000, n))
    found = stats.ttest_1samp(draws, 0.0, axis=1).pvalue < 0.05 / n_tests
    assert found.mean() == pytest.approx(0.8, abs=0.015)  # five standard errors


def test_without_overlap_a_set_is_tested_as_by_a_plain_t_test() -> None:
    gains = [0.3, -0.1, 0.4, 0.2, 0.25]
    error = float(stats.sem(gains))
    assert detectable_on_a_set(gains, 0.0) == pytest.approx(error * detectable_difference(4))
