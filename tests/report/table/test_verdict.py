"""The arithmetic of verdicts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from narrowing import present

from mklbench.report.table.verdict import Published, Sample, Verdict, judge

# With these spreads and 20 splits on both sides one standard error of the difference is
# sqrt((9 + 16) / 20) = 1.118, so that a match reaches to 2.236 and close to 3.
PUBLISHED = Published(mean=80.0, std=3.0)


@pytest.mark.parametrize(
    ("mean", "verdict"),
    [
        (80.0, Verdict.MATCH),
        (77.8, Verdict.MATCH),
        (83.1, Verdict.HIGHER),
        (76.9, Verdict.LOWER),
    ],
)
def test_verdict_by_distance(mean: float, verdict: Verdict) -> None:
    assert judge(PUBLISHED, 20, Sample(mean, 4.0, 20)) is verdict


def test_more_published_splits_narrow_the_match() -> None:
    measured = Sample(82.2, 4.0, 20)
    assert judge(PUBLISHED, 20, measured) is Verdict.MATCH
    assert judge(PUBLISHED, 2000, measured) is Verdict.CLOSE


@pytest.mark.parametrize(
    ("published", "measured", "verdict"),
    [
        (None, Sample(80.0, 1.0, 20), Verdict.NOT_PUBLISHED),
        (Published(80.0), Sample(80.0, 1.0, 20), Verdict.NO_SPREAD),
        (PUBLISHED, Sample(80.0, None, 1), Verdict.NO_SPREAD),
    ],
)
def test_nothing_is_judged_without_a_spread(
    published: Published | None, measured: Sample, verdict: Verdict
) -> None:
    assert judge(published, 20, measured) is verdict


def test_sample_of_nothing_and_of_one() -> None:
    assert Sample.of([]) is None
    assert Sample.of([7.0]) == Sample(7.0, None, 1)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20))
def test_the_spread_of_a_sample_has_the_divisor_n_minus_1(values: list[float]) -> None:
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    assert present(Sample.of(values)).std == pytest.approx(math.sqrt(variance), rel=1e-14)
