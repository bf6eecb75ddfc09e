"""The arithmetic of verdicts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from narrowing import present

from mklbench.optim.svm_value import value_at_identity
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


def test_sample_uses_the_unbiased_standard_deviation() -> None:
    sample = Sample.of([1.0, 2.0, 3.0, 4.0])
    assert sample is not None
    assert (sample.mean, sample.n) == (2.5, 4)
    assert sample.std == pytest.approx(math.sqrt(5.0 / 3.0))


def test_sample_of_nothing_and_of_one() -> None:
    assert Sample.of([]) is None
    assert Sample.of([7.0]) == Sample(7.0, None, 1)


@pytest.mark.parametrize("C", [0.3, 1.5])
def test_value_at_identity_is_the_optimum_of_the_dual(C: float) -> None:
    """The closed form against a search over the one number the dual depends on."""
    n_positive, n = 65, 100
    n_negative = n - n_positive

    def dual(alpha_positive: float) -> float:
        total = n_positive * alpha_positive
        alpha_negative = total / n_negative
        if alpha_negative > C:
            return -math.inf
        squares = n_positive * alpha_positive**2 + n_negative * alpha_negative**2
        return 2 * total - squares / 2

    best = max(dual(C * step / 20000) for step in range(20001))
    assert value_at_identity((n_positive / n, C), (n_negative / n, C)) == pytest.approx(
        best / n, rel=1e-4
    )


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20), st.integers(0, 900))
def test_the_spread_of_a_sample_is_the_same_in_any_unit(values: list[float], power: int) -> None:
    values = [round(value, 6) for value in values]
    sample = present(Sample.of(values))
    mean = math.fsum(values) / len(values)
    plain = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    assert sample.std == math.sqrt(plain)
    scaled = present(Sample.of([math.ldexp(value, power) for value in values]))
    assert scaled.std == pytest.approx(math.ldexp(present(sample.std), power), rel=1e-14)
