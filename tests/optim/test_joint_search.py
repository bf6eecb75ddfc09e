"""The joint method beside the exact solver on Gram matrices, where both are at hand."""

from __future__ import annotations

import pickle
import weakref
from typing import Any

import conic_twins
import numpy as np
import pandas as pd
import pytest
from cases import rest_slow
from certificates import joint_upper
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mklbench import MKL, iterations, validation
from mklbench.algorithms import mkl, mkl_svr
from mklbench.certify import Hinge, Tube
from mklbench.errors import InputError
from mklbench.kernels import (
    Bank,
    ConcatenatedBank,
    FeatureBank,
    Gaussian,
    Linear,
    Polynomial,
    PrecomputedBank,
    feature_gaussians,
    linear_features,
)
from mklbench.kernels.row_factors import MANY, RowFactors
from mklbench.multiclass import decision_function
from mklbench.optim import joint as joint_way
from mklbench.optim import joint_search, row_blocks
from mklbench.optim.joint_search import CertifiedPoint
from mklbench.optim.linearised import terms_of
from mklbench.optim.row_blocks import Engine, FactorProblem
from mklbench.optim.weight_sets import one_sum
from mklbench.solution import Solution

TOL = 1e-4


def problem(
    n: int, d: int, seed: int, noise: float = 0.5, negative: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Samples, and labels of an additive function of two features, this share of them negative."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    values = np.sin(2.0 * X[:, 0]) + np.square(X[:, 1]) - 1.0 + noise * rng.standard_normal(n)
    bound = np.median(values) if negative == 0.5 else np.sort(values)[int(negative * n) - 1]
    return X, np.where(values > bound, 1.0, -1.0)


def joint(bank: Bank, y: np.ndarray, C: float, **options: Any) -> Solution:
    return mkl.solve(bank, y, C, method="joint", **{"tol": TOL, **options})


def both(bank: Bank, y: np.ndarray, C: float, **options: Any) -> tuple[Solution, Solution]:
    """The solutions of the joint method and of the one on Gram matrices."""
    exact = mkl.solve(bank, y, C, tol=1e-6, method="libsvm", **options)
    return joint(bank, y, C, **options), exact


def assert_same_optimum(found: Solution, exact: Solution, tol: float = TOL) -> None:
    assert found.converged
    assert found.gap <= tol
    # `objective` is a dual value at the weights: no more than J there, which is above the optimum.
    upper = found.objective * (1.0 + 2.0 * tol) + 1e-12
    assert exact.objective * (1.0 - exact.gap) <= upper
    assert found.objective <= exact.objective * (1.0 + tol) + 1e-12


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
def test_has_the_optimum_of_the_method_on_gram_matrices(C: float) -> None:
    X, y = problem(300, 4, seed=0)
    bank = feature_gaussians(X, [0.3, 3.0])
    found, exact = both(bank, y, C)
    assert_same_optimum(found, exact)
    assert found.n_svm_calls == 0
    ours = decision_function(bank, [found], X)
    theirs = decision_function(bank, [exact], X)
    assert np.abs(ours - theirs).max() <= 0.05 * np.abs(theirs).max()


@settings(max_examples=6, deadline=None)
@given(
    n=st.integers(12, 120),
    d=st.integers(1, 6),
    seed=st.integers(0, 10_000),
    log_C=st.floats(-3, 3),
    log_gamma=st.floats(-2, 1.5),
    noise=st.floats(0.0, 2.0),
    negative=st.floats(0.1, 0.99),
)
@example(117, 1, 0, -3.0, 0.0, 0.0, 0.5)  # steps of 0.0002, 0.001, 0.008, 0.03 and 0.8
def test_has_it_on_any_problem(
    n: int, d: int, seed: int, log_C: float, log_gamma: float, noise: float, negative: float
) -> None:
    X, y = problem(n, max(d, 2), seed, noise, negative)
    bank = feature_gaussians(X, [10.0**log_gamma])
    assert_same_optimum(*both(bank, y, 10.0**log_C))


def test_begins_anew_where_a_start_in_single_precision_leads_nowhere() -> None:
    X, y = problem(91, 4, seed=192, noise=0.0)
    assert_same_optimum(*both(feature_gaussians(X, [1.0]), y, 1e3))


class TestDegenerate:
    def test_kernels_twice(self) -> None:
        X, y = problem(150, 3, seed=1)
        assert_same_optimum(*both(feature_gaussians(np.hstack([X, X])), y, 10.0))

    def test_features_of_few_values(self) -> None:
        X, y = problem(200, 3, seed=3)
        assert_same_optimum(*both(feature_gaussians(np.round(X), [0.5, 5.0]), y, 5.0))

    @pytest.mark.parametrize(("C", "options"), [(1e-2, {}), (1e-4, {"p": 2.0})])
    def test_a_rare_class_and_a_small_box(self, C: float, options: dict[str, Any]) -> None:
        # y'alpha = 0 is met late here: a lower bound that leaves it out is above the upper one.
        X, y = problem(400, 3, seed=9, negative=0.99)
        assert_same_optimum(*both(feature_gaussians(X), y, C, **options))

    def test_separable_labels_and_a_huge_box(self) -> None:
        X, y = problem(120, 3, seed=6, noise=0.0)
        assert_same_optimum(*both(feature_gaussians(X), y, 1e5))

    @pytest.mark.parametrize("n", [2, 3, 5])
    def test_a_handful_of_samples(self, n: int) -> None:
        X, y = problem(n, 2, seed=28)
        y[0] = -y[1:].max()
        assert_same_optimum(*both(feature_gaussians(X), y, 1.0))


class TestHugeKernels:
    """With C K far above 1 the terms of K alpha cancel, and its rounding is no small one."""

    @pytest.mark.parametrize(("C", "tol"), [(1.0, 1e-4), (100.0, 1e-2)])
    def test_incomes_and_ages_as_they_are(self, C: float, tol: float) -> None:
        X, y = problem(1000, 4, seed=29, noise=2.0)
        scales = np.array([3e4, 20.0, 1.0, 1.0])
        found = joint(linear_features(scales * X + 2.0 * scales), y, C, tol=tol)
        value = conic_twins.linear_mkl(X + 2.0, scales, y, C)
        assert found.converged
        assert found.n_iter <= 60
        assert value * (1.0 - 2.0 * tol) <= found.objective <= value * (1.0 + 1e-6)

    @pytest.mark.parametrize("epsilon", [0.0, 0.1])
    def test_targets_without_noise(self, epsilon: float) -> None:
        """Of t = X w with errors up to epsilon the optimum is 1/2 ||w||_1^2 at epsilon = 0."""
        X, w = np.random.default_rng(31).standard_normal((1000, 5)), np.arange(1.0, 6.0)
        found = mkl_svr.solve(
            linear_features(X), X @ w, 10.0, epsilon=epsilon, tol=TOL, method="joint"
        )
        assert found.converged
        assert found.n_iter <= 40
        most = 0.5 * w.sum() ** 2
        if epsilon == 0.0:
            assert found.objective == pytest.approx(most, rel=2.0 * TOL)
        assert 0.95 * most < found.objective <= most * (1.0 + 1e-6)


def test_its_gap_holds_for_the_kernels_themselves() -> None:
    """Dense Gram matrices give the same two bounds."""
    X, y = problem(600, 4, seed=10)
    bank = feature_gaussians(X, [0.5, 2.0])
    found = joint(bank, y, 10.0, tol=1e-3)
    grams = np.array([bank.combine(unit) for unit in np.eye(bank.n_kernels)])
    factors, a = bank.row_factors(), found.dual_coef
    forms = np.array([a @ K @ a for K in grams])
    lower = np.abs(a).sum() - 0.5 * forms.max()
    upper = joint_upper(bank, X, Hinge(y, 10.0), found)
    assert found.gap == pytest.approx((upper - lower) / upper, rel=1e-6)
    assert found.objective == pytest.approx(np.abs(a).sum() - 0.5 * found.weights @ forms)
    # The length of a function that is an expansion on samples is that of its Gram matrices.
    B = factors.rows(0, factors.n_samples)
    assert factors.forms(B.T @ a) == pytest.approx(forms, rel=1e-9)
    outputs = B @ factors.expanded(found.weights, B.T @ a)
    K = np.tensordot(found.weights, grams, 1)
    assert outputs == pytest.approx(K @ a, rel=1e-8, abs=1e-8 * np.abs(a).sum())


@pytest.mark.parametrize("n", rest_slow([400, 7000], 400))
def test_blocks_do_not_matter(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond rounding; 7,000 samples are more than the start is made of."""
    X, y = problem(n, 3, seed=11)
    bank = feature_gaussians(X, [0.5])
    whole = joint(bank, y, 10.0, tol=9e-5)
    monkeypatch.setattr(row_blocks, "ROWS", n // 57)
    monkeypatch.setattr(row_blocks, "_BLOCK", 2 * (n // 57))
    parts = joint(bank, y, 10.0, tol=9e-5)
    assert parts.n_iter == whole.n_iter
    assert parts.objective == pytest.approx(whole.objective, rel=1e-9)
    assert parts.weights == pytest.approx(whole.weights, abs=1e-6)
    assert parts.dual_coef == pytest.approx(whole.dual_coef, abs=1e-3)


@pytest.mark.parametrize("loss", ["hinge", "tube"])
def test_finer_factors_go_on_from_what_coarser_ones_have(loss: str) -> None:
    X, y = problem(400, 3, seed=13)
    bank = feature_gaussians(X)
    exact, weight_set = bank.row_factors(), one_sum(bank.n_kernels)
    of_loss = Hinge(y, 100.0) if loss == "hinge" else Tube(X[:, 0] * y, 10.0, 0.1)

    def followed(
        factors: RowFactors, tol: float, at: CertifiedPoint | None = None
    ) -> tuple[CertifiedPoint, int]:
        made = FactorProblem(factors, exact, terms_of(of_loss), np.float64)
        history: iterations.History = []
        with row_blocks.threads(made) as engine:
            way = joint_search._set_out(factors, engine, weight_set, tol, at)
            found = joint_search._followed(*way, exact, of_loss, tol, 100, history, True)
        assert found is not None
        return found, len(history)

    coarse, fine = exact.reduced(1e-5), exact.reduced(1e-9)
    assert fine.rank > coarse.rank
    found, _ = followed(coarse, 1e-3)
    assert found.width == 0.0  # of the interior-point method
    resumed, n_resumed = followed(fine, 1e-4, found)
    assert resumed.gap <= 1e-4
    assert n_resumed < 0.5 * followed(fine, 1e-4)[1]


def shares_asked_for(monkeypatch: pytest.MonkeyPatch) -> list[list[float]]:
    """The shares of every search's factors, noted from now on."""
    asked: list[list[float]] = []
    reduced = RowFactors.reduced

    def noted(factors: RowFactors, dropped: Any) -> RowFactors:
        if not isinstance(dropped, float):
            asked.append(list(dropped))
        return reduced(factors, dropped)

    monkeypatch.setattr(RowFactors, "reduced", noted)
    return asked


@pytest.mark.slow
def test_factors_are_made_finer_of_the_kernels_that_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first feature, of two values, lacks nothing; the others do, of which one matters most."""
    X, y = problem(400, 4, seed=20)
    X[:, 0] = X[:, 0] > 0
    bank = feature_gaussians(X)
    monkeypatch.setattr(joint_search, "_DROPPED", 1e-2 / TOL)
    monkeypatch.setattr(joint_search, "_OF_SUM", np.inf)
    monkeypatch.setattr(joint_search, "_FINER", (1e-11,))
    asked = shares_asked_for(monkeypatch)
    found = joint(bank, y, 10.0)
    assert found.converged
    assert asked[0] == pytest.approx([1e-2] * 4)
    assert asked[1][0] == asked[0][0]
    assert 1e-11 in asked[1]
    exact = mkl.solve(bank, y, 10.0, tol=TOL, method="libsvm")
    assert found.objective == pytest.approx(exact.objective, rel=2.0 * TOL)


def test_rows_of_coarser_factors_are_gone_before_finer_ones_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(joint_search, "_DROPPED", 1e-2 / TOL)
    monkeypatch.setattr(joint_search, "_OF_SUM", np.inf)
    alive: list[list[bool]] = []
    rows: list[weakref.ref[row_blocks.Rows]] = []

    class Watched(row_blocks.Engine):
        def __init__(self, *arguments: Any) -> None:
            alive.append([row() is not None for row in rows])
            super().__init__(*arguments)
            rows.extend(map(weakref.ref, self._blocks))

    monkeypatch.setattr(row_blocks, "Engine", Watched)
    X, y = problem(400, 4, seed=20)
    joint(feature_gaussians(X), y, 10.0)
    assert len(alive) > 1
    assert not any(map(any, alive))


@pytest.mark.slow
def test_in_the_end_factors_are_the_finest_of_all_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gap beyond rounding is not reached, and the search ends all the same."""
    X, y = problem(200, 3, seed=21)
    monkeypatch.setattr(validation, "_ROUNDING", 0.0)
    asked = shares_asked_for(monkeypatch)
    set_out, begun = joint_search._set_out, []

    def noted(factors: RowFactors, engine: Any, weight_set: Any, tol: float, at: Any) -> Any:
        if at is None:
            begun.append(factors.rank)
        return set_out(factors, engine, weight_set, tol, at)

    monkeypatch.setattr(joint_search, "_set_out", noted)
    found = joint(feature_gaussians(X), y, 10.0, tol=1e-15)
    assert not found.converged
    assert found.gap < 1e-11
    assert asked[-1] == [joint_search._FINER[-1]] * 3
    assert len(begun) == 2  # at the start, and anew on the finest
    assert begun[0] < begun[1]
    assert len(asked) <= joint_search._ROUNDS + 3


def test_double_precision_is_for_the_iterations_that_need_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Products that are rough in single precision are made anew; the next begin in double."""
    X, y = problem(300, 3, seed=22)
    rough = iter([True, True, False, False, True] + [False] * 100)

    class Limit(float):
        def __ge__(self, error: float) -> bool:
            return not next(rough)

    monkeypatch.setattr(joint_way, "_LARGEST_ERROR", Limit())
    asked: list[bool] = []

    total = Engine.total

    def noted(engine: Engine, question: str, *arguments: Any) -> Any:
        if question in ("smooth", "linearise"):
            asked.append(arguments[-1])
        return total(engine, question, *arguments)

    monkeypatch.setattr(Engine, "total", noted)
    joint(feature_gaussians(X), y, 10.0, tol=1e-3)
    assert asked[:7] == [False, True, True, True, False, False, True]


def test_rows_that_are_made_anew_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = problem(400, 3, seed=12)
    bank = feature_gaussians(X)
    kept = joint(bank, y, 10.0)
    monkeypatch.setattr(row_blocks, "KEPT", 0.0)
    anew = joint(bank, y, 10.0)
    assert np.array_equal(kept.dual_coef, anew.dual_coef)
    assert np.array_equal(kept.weights, anew.weights)


class TestFactors:
    @pytest.mark.parametrize("dropped", [1e-2, 1e-4, 1e-6])
    def test_reduced_ones_leave_out_about_the_share_asked_for(self, dropped: float) -> None:
        X, _ = problem(300, 2, seed=16)
        factors = feature_gaussians(X, [0.3, 3.0]).row_factors()
        reduced = factors.reduced(dropped)
        assert reduced.rank < factors.rank
        for m in range(factors.n_kernels):
            whole, part = (gram(each, m) for each in (factors, reduced))
            left = np.trace(whole - part) / np.trace(whole)
            assert -1e-12 <= left <= 1.5 * dropped

    def test_both_products_are_those_of_the_rows(self) -> None:
        """Of interpolation, values, a feature as it is and features side by side; in some rows."""
        X, _ = problem(300, 3, seed=16)
        X[:, 2] = np.round(X[:, 2])
        whole = ConcatenatedBank([feature_gaussians(X), linear_features(X[:, :2])])
        factors = whole.row_factors()
        assert factors is not None
        rng = np.random.default_rng(4)
        for each in (
            factors,
            factors.reduced(1e-4),
            factors.reduced([1e-2, 1e-6, 1e-4] + [1e-4] * 2),
        ):
            a, x = rng.standard_normal(300), rng.standard_normal((each.rank, 2))
            x[each.columns[1]] = 0.0
            B = each.rows(50, 200)
            projected, outputs = each.both(slice(50, 200), a, x)
            assert projected == pytest.approx(B.T @ a[50:200], abs=1e-10)
            assert outputs == pytest.approx(B @ x, abs=1e-10)

    def test_shares_may_differ_by_part(self) -> None:
        X, _ = problem(200, 3, seed=17)
        factors = feature_gaussians(X).row_factors()
        mixed = factors.reduced([1e-2, 1e-6, 1e-2])
        rough, fine = factors.reduced(1e-2), factors.reduced(1e-6)
        for i, same in enumerate((rough, fine, rough)):
            assert mixed.parts[i].basis.rank == same.parts[i].basis.rank
            assert np.array_equal(gram(mixed, i), gram(same, i))
        assert factors.reduced([1e-2] * 3) is rough
        assert factors.reduced([1e-2, 1e-6, 1e-2]) is mixed


def gram(factors: RowFactors, m: int) -> np.ndarray:
    B = factors.rows(0, factors.n_samples)
    S = np.zeros((factors.rank, factors.rank))
    for part, own in zip(factors.parts, factors.columns, strict=True):
        if m in part.kernels:
            S[own, own] = part.cores[list(part.kernels).index(m)]
    return B @ S @ B.T


class TestChoice:
    def test_many_samples_take_factors(self) -> None:
        X, y = problem(MANY, 3, seed=20)
        found = mkl.solve(feature_gaussians(X), y, 1.0, tol=1e-3)
        assert found.n_svm_calls == 0
        assert found.gap <= 1e-3

    def test_a_finer_gap_than_factors_allow_does_not(self) -> None:
        assert joint_search.pays(10_000, 100, 1e-4)
        assert not joint_search.pays(10_000, 100, 1e-7)
        assert not joint_search.pays(5000, 3000, 1e-4)


@pytest.mark.slow
def test_kernels_on_columns_of_many_samples_have_factors() -> None:
    """They are solved jointly, predict as the other method does, and travel."""
    rng = np.random.default_rng(26)
    n = MANY
    table = pd.DataFrame(
        {
            "age": rng.normal(50.0, 9.0, n),
            "x": rng.standard_normal(n),
            "z": rng.standard_normal(n),
            "city": rng.choice(list("abc"), n),
        }
    )
    values = np.sin(table["age"] / 4.0) + (table["city"] == "a") + 0.4 * rng.standard_normal(n)
    y = np.where(values > 0.3, "ill", "well")
    kernel = [
        ("age", Gaussian(3.0), ["age"], StandardScaler()),
        ("x", "gaussians", ["x"]),
        ("both", Linear(), ["x", "z"]),
        ("city", Linear(), ["city"], OneHotEncoder()),
    ]
    model = MKL(kernel=kernel, C=1.0, tol=1e-4).fit(table, y)
    other = MKL(kernel=kernel, C=1.0, tol=1e-4, method="libsvm").fit(table, y)
    assert (model.method_, other.method_) == ("joint", "libsvm")
    assert model.kernel_names_ == other.kernel_names_
    assert_same_optimum(model.solutions_[0], other.solutions_[0])
    difference = model.decision_function(table) - other.decision_function(table)
    assert np.abs(difference).max() <= 0.05
    travelled = pickle.loads(pickle.dumps(model))
    assert np.array_equal(travelled.predict(table[:100]), model.predict(table[:100]))


def heavy_tails(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    tails = rng.standard_t(3, (n, 2)), rng.lognormal(0.0, 1.5, (n, 1)), rng.integers(0, 3, (n, 1))
    return StandardScaler().fit_transform(np.hstack(tails))


def test_factors_in_pieces_are_those_of_the_kernels() -> None:
    X = 5.0 * heavy_tails(700, seed=36)
    bank = feature_gaussians(X)
    factors = bank.row_factors()
    assert sum(len(part.basis.pieces) > 1 for part in factors.parts) >= 3
    rng = np.random.default_rng(37)
    a, x = rng.standard_normal(700), rng.standard_normal((factors.rank, 2))
    B = factors.rows(0, 700)
    projected, outputs = factors.both(slice(0, 700), a, x)
    np.testing.assert_allclose(projected, B.T @ a, atol=1e-10)
    np.testing.assert_allclose(outputs, B @ x, atol=1e-10)
    for m in range(bank.n_kernels):
        np.testing.assert_allclose(gram(factors, m), bank.combine(np.eye(4)[m]), atol=1e-10)
    coarse = factors.reduced(1e-5)
    for m in range(bank.n_kernels):
        left_out = bank.combine(np.eye(4)[m]) - gram(coarse, m)
        assert -1e-8 <= np.trace(left_out) / 700 <= 2e-5
    assert coarse.sparse.any()


class TestRefusals:
    def test_kernels_without_factors(self) -> None:
        bank = PrecomputedBank(np.eye(4)[None])
        with pytest.raises(InputError, match="PrecomputedBank has none"):
            joint(bank, np.array([1.0, -1.0, 1.0, -1.0]), 1.0)

    def test_a_kernel_that_varies_too_fast(self) -> None:
        X, y = problem(2000, 2, seed=23)
        with pytest.raises(InputError, match="column 0: they vary too fast"):
            joint(feature_gaussians(X, [1e6]), y, 1.0)


def test_products_beyond_the_range_of_numbers_are_refused_in_a_sentence() -> None:
    X, y = problem(300, 4, seed=33)
    with pytest.raises(InputError, match="C times the kernels is beyond the range"):
        joint(FeatureBank(10.0 * X, [Polynomial(40, 1.0)]), y, 1e100)


def test_a_value_too_rare_to_be_among_the_samples_looked_at_counts() -> None:
    """Factors are reduced on every second of these rows, of which none has it."""
    X = np.random.default_rng(0).integers(0, 16, (2 * MANY, 2)).astype(float)
    X[1:41:2, 1] = 20.0
    y = np.where(X[:, 1] == 20.0, -1.0, 1.0)
    found = joint(feature_gaussians(X), y, 100.0, tol=1e-3)
    assert found.converged
    assert found.weights[1] > 0.9


def test_a_search_without_time_ends_and_says_so() -> None:
    X, y = problem(300, 4, 7)
    found = joint(feature_gaussians(X), y, 10.0, max_iter=1)
    assert not found.converged
    assert found.gap > TOL


def test_finer_factors_that_lack_something_too_are_passed_over() -> None:
    lost = np.array([[1.0, 1.0, 1e-5], [0.9, 1e-4, 1e-6], [1e-4, 0.0, 0.0], [1e-3, 0.0, 0.0]])
    levels = joint_search._finer(np.zeros(3, dtype=int), 1, lost, 1e-3)
    assert levels.tolist() == [2, 1, 0]
    # Where none lacks anything, or what lacks is the finest, all are made finer.
    assert joint_search._finer(levels, 1, lost, 1e-3).tolist() == [3, 2, 1]
