"""The joint method on landmarks beside the exact solver on Gram matrices."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mklbench import MKL
from mklbench.algorithms import mkl, mkl_svr, uniform, vskl
from mklbench.data.dataset import View
from mklbench.errors import InputError
from mklbench.kernels import (
    Bank,
    ConcatenatedBank,
    DenseBank,
    Descriptors,
    DistanceBank,
    FeatureDistances,
    Gaussian,
    Linear,
    Polynomial,
    feature_gaussians,
    gaussians,
    simplemkl_bank,
)
from mklbench.kernels.memory import Shape
from mklbench.kernels.row_factors import MANY
from mklbench.kernels.transforms.composite import unit_trace
from mklbench.multiclass import decision_function
from mklbench.optim import joint_method, joint_search
from mklbench.prediction import DecisionFunction
from mklbench.solution import Solution

TOL = 1e-5


def problem(n: int, d: int, seed: int, noise: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Samples, and labels of a function of all features together."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    values = np.sin(X.sum(axis=1)) + 0.5 * X[:, 0] * X[:, -1] + noise * rng.standard_normal(n)
    return X, np.where(values > np.median(values), 1.0, -1.0)


def joint(bank: Bank, y: np.ndarray, C: float, **options: Any) -> Solution:
    return mkl.solve(bank, y, C, method="joint", **{"tol": TOL, **options})


def exact(bank: Bank, y: np.ndarray, C: float, tol: float = 1e-6) -> Solution:
    return mkl.solve(bank, y, C, tol=tol, method="libsvm")


class TestBesideGramMatrices:
    def test_has_their_optimum_where_all_samples_are_landmarks(self) -> None:
        X, y = problem(600, 3, seed=0)
        bank = DenseBank(X, [Gaussian(0.05), Gaussian(0.5), Polynomial(2)])
        found, libsvm = joint(bank, y, 10.0, landmarks=600), exact(bank, y, 10.0)
        assert found.converged
        assert found.objective == pytest.approx(libsvm.objective, rel=1e-5)
        assert found.approximation is not None
        assert found.approximation.effect_on_objective < 1e-7
        ours, theirs = (decision_function(bank, [s], X) for s in (found, libsvm))
        assert np.abs(ours - theirs).max() <= 0.02 * np.abs(theirs).max()

    def test_nears_it_from_above_and_says_how_far_it_may_be(self) -> None:
        X, y = problem(400, 4, seed=1)
        bank = gaussians(X)
        optimum = exact(bank, y, 10.0).objective
        distances = []
        for landmarks in (25, 100, 300):
            found = joint(bank, y, 10.0, landmarks=landmarks)
            assert found.approximation is not None
            upper = found.objective / (1.0 - found.gap)
            distances.append(found.objective / optimum - 1.0)
            # The estimate is of a share of the larger objective, and an upper bound.
            effect = found.approximation.effect_on_objective
            assert effect <= 1.0
            assert 1.0 - optimum / upper <= effect + found.gap + 1e-6
            assert effect <= 30.0 * max(1.0 - optimum / found.objective, 0.0) + 1e-6
        assert distances[0] > distances[1] > distances[2] > -TOL

    @pytest.mark.slow
    def test_is_right_where_some_of_many_samples_tell_the_effect(self) -> None:
        X, y = problem(1500, 5, seed=2)
        bank = DenseBank(X, [Gaussian(0.2)])
        optimum = exact(bank, y, 10.0).objective
        found = joint(bank, y, 10.0, landmarks=60)
        assert np.count_nonzero(found.dual_coef) > 500
        assert found.approximation is not None
        effect = found.approximation.effect_on_objective
        distance = 1.0 - optimum / found.objective
        assert distance > 0.05
        assert distance <= effect + found.gap <= 10.0 * distance

    @pytest.mark.slow
    @settings(max_examples=10, deadline=None)
    @given(
        n=st.integers(20, 150),
        d=st.integers(1, 5),
        seed=st.integers(0, 10_000),
        log_gamma=st.floats(-3, 1),
        log_scale=st.floats(-4, 4),
        log_C=st.floats(-2, 3),
        landmarks=st.integers(1, 20),
    )
    @example(150, 2, 382, -0.7386318694645051, 0.5, 1.4381747999251115, 3)  # a flag of BLAS
    def test_is_above_it_on_any_problem(
        self,
        n: int,
        d: int,
        seed: int,
        log_gamma: float,
        log_scale: float,
        log_C: float,
        landmarks: int,
    ) -> None:
        X, y = problem(n, d, seed)
        scale = 10.0**log_scale
        functions: list[Any] = [Gaussian(10.0**log_gamma / scale**2), Linear()]
        bank = unit_trace(DenseBank(scale * X, functions))
        optimum = exact(bank, y, 10.0**log_C)
        found = joint(bank, y, 10.0**log_C, landmarks=landmarks, tol=1e-4)
        assert found.approximation is not None
        upper = found.objective / (1.0 - found.gap) if found.gap < 1 else np.inf
        assert optimum.objective * (1.0 - optimum.gap) <= upper * (1.0 + 1e-6)
        effect = found.approximation.effect_on_objective
        assert upper * (1.0 - effect - found.gap) <= optimum.objective * (1.0 + 1e-4)


class TestMixedBanks:
    """Kernels on single features are exact, those on all features have landmarks."""

    def test_has_the_optimum_of_gram_matrices(self) -> None:
        X, y = problem(250, 3, seed=3)
        bank = simplemkl_bank(X, widths=(1.0, 5.0), degrees=(1, 2))
        found = joint(bank, y, 100.0, landmarks=250, tol=1e-4)
        libsvm = exact(bank, y, 100.0)
        assert found.objective == pytest.approx(libsvm.objective, rel=2e-4)
        assert found.approximation is not None
        assert found.approximation.n_kernels == 4
        ours, theirs = (decision_function(bank, [s], X) for s in (found, libsvm))
        assert np.mean(np.sign(ours) == np.sign(theirs)) >= 0.99

    @pytest.mark.slow
    def test_kernels_left_out_of_the_search_are_in_the_certificate(self) -> None:
        rng = np.random.default_rng(4)
        X = rng.standard_normal((1500, 6))
        y = np.where(np.abs(X[:, 0]) + np.sin(2 * X[:, 1]) > 1.0, 1.0, -1.0)
        bank = simplemkl_bank(X)
        found = joint(bank, y, 100.0, tol=1e-3)
        forms = bank.quadratic_forms(found.dual_coef)
        approximated = bank.row_factors()
        assert approximated is not None
        t = approximated.projected(slice(0, len(X)), found.dual_coef)
        lower = np.abs(found.dual_coef).sum() - 0.5 * approximated.forms(t).max()
        upper = found.objective / (1.0 - found.gap)
        assert lower >= found.objective * (1.0 - 2e-3)
        assert upper - lower <= 2e-3 * upper
        # No kernel itself is more above these than the reported effect says.
        assert found.approximation is not None
        excess = 0.5 * (forms.max() - approximated.forms(t).max()) / upper
        assert excess <= found.approximation.effect_on_objective * 1.05 + 1e-9


class TestViews:
    """Gaussians of distances of views, of which chi-squared is one."""

    views = (
        View("colour", 0, 3, "chi2"),
        View("place", 3, 5, "euclidean"),
    )

    def histograms(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        X = rng.exponential(size=(n, 5))
        return X, np.where(X[:, 0] * X[:, 1] + 0.3 * X[:, 4] > 0.6, 1.0, -1.0)

    def test_have_the_optimum_of_gram_matrices(self) -> None:
        X, y = self.histograms(300, 0)
        bank = Descriptors(gammas=(0.1, 1.0))(X, self.views)
        found, libsvm = joint(bank, y, 100.0, landmarks=300), exact(bank, y, 100.0)
        assert found.objective == pytest.approx(libsvm.objective, rel=1e-5)
        Z, _ = self.histograms(50, 1)
        ours, theirs = (decision_function(bank, [s], Z) for s in (found, libsvm))
        assert np.abs(ours - theirs).max() <= 0.05 * np.abs(theirs).max()

    @pytest.mark.slow
    def test_of_many_samples_need_no_gram_matrices(self) -> None:
        X, y = self.histograms(MANY, 2)
        bank = DistanceBank(FeatureDistances(X, self.views), (0.1, 1.0))
        found = joint(bank, y, 1.0, landmarks=30, tol=1e-2)
        assert "_grams" not in vars(bank)
        assert found.converged
        # The means over some of the samples are about those over all.
        whole = bank._distances.within()
        n_pairs = MANY * (MANY - 1)
        means = [matrix.sum() / n_pairs for matrix in whole]
        np.testing.assert_allclose(bank._means, means, rtol=0.05)
        assert bank.traces() == pytest.approx(np.full(4, MANY))


class TestPredictions:
    def test_are_those_of_the_formula(self) -> None:
        X, y = problem(300, 3, seed=5)
        bank = ConcatenatedBank(
            [DenseBank(X, [Gaussian(0.3), Polynomial(2)]), feature_gaussians(X)]
        )
        found = joint(bank, y, 10.0, landmarks=40, tol=1e-3)
        factors = bank.row_factors(40)
        assert factors is not None
        Z = np.random.default_rng(6).standard_normal((50, 3))
        expected, expansion = np.full(50, found.intercept), np.asarray(found.expansion)
        start = 0
        for part in factors.parts[:2]:
            basis: Any = part.basis
            m = len(basis.points)
            kernel = basis.function(Z, basis.points)
            expected += found.weights[part.kernels[0]] * kernel @ expansion[start : start + m]
            start += m
        for j, part in enumerate(factors.parts[2:]):
            nodes = part.basis.nodes  # type: ignore[attr-defined]
            kernel = np.exp(-np.square(Z[:, [j]] - nodes))
            own = expansion[start : start + len(nodes)]
            expected += found.weights[part.kernels[0]] * kernel @ own
            start += len(nodes)
        np.testing.assert_allclose(decision_function(bank, [found], Z), expected, atol=1e-9)

    def test_are_those_of_the_certified_point(self) -> None:
        X, y = problem(400, 3, seed=7)
        bank = DenseBank(X, [Gaussian(0.3)])
        found = joint(bank, y, 10.0, landmarks=50)
        margins = y * decision_function(bank, [found], X)
        hinge = 10.0 * np.maximum(0.0, 1.0 - margins).sum()
        expansion = np.asarray(found.expansion)
        norm = expansion @ Gaussian(0.3)(*points(bank)) @ expansion
        upper = 0.5 * norm + hinge
        assert upper == pytest.approx(found.objective, rel=2 * TOL)

    @pytest.mark.slow
    def test_what_predicts_does_not_grow_with_the_samples(self) -> None:
        sizes = []
        for n in (1000, 4000):
            X, y = problem(n, 3, seed=8)
            model = MKL(kernel="gaussians", C=1.0, tol=1e-2, method="joint", landmarks=50)
            model.fit(X, y)
            assert model.method_ == "joint"
            sizes.append(len(pickle.dumps(model._decide)))
            again = pickle.loads(pickle.dumps(model))
            np.testing.assert_array_equal(again.predict(X[:100]), model.predict(X[:100]))
        assert sizes[1] <= sizes[0] + 100

    @pytest.mark.slow
    def test_of_several_classes(self) -> None:
        rng = np.random.default_rng(9)
        X = rng.standard_normal((600, 2))
        labels = np.digitize(np.hypot(X[:, 0], X[:, 1]), [0.8, 1.5])
        model = MKL(kernel="gaussians", C=10.0, tol=1e-3, method="joint", landmarks=60)
        model.fit(X, labels)
        assert model.score(X, labels) > 0.95
        assert model.approximation_ is not None
        assert model.approximation_.asked == 60


def points(bank: DenseBank) -> tuple[np.ndarray, np.ndarray]:
    factors = bank.row_factors(50)
    basis: Any = factors.parts[0].basis
    return basis.points, basis.points


class TestChoice:
    def test_auto_leaves_gram_matrices_where_they_fit(self) -> None:
        shape = Shape(MANY, 2)
        assert not joint_search.beyond_grams(MANY, 13)
        assert joint_search.beyond_grams(20_000, 13)
        assert joint_search.beyond_grams(23_000, 1)
        kernels = DenseBank.needs_on(shape, 2)
        needed = partial(joint_method.bytes_on_factors, kernels, tol=1e-4)
        assert needed(shape, "auto") is None
        assert needed(shape, "joint") is not None
        assert needed(Shape(100_000, 2), "auto") is not None

    @pytest.mark.slow
    def test_gram_matrices_of_many_samples_are_made_when_asked_for(self) -> None:
        X, _ = problem(MANY, 2, seed=11)
        functions: list[Any] = [Gaussian(0.5), Polynomial(3)]
        bank = DenseBank(X, functions)
        traces = bank.traces()
        rows = np.arange(0, MANY, 40)
        part = bank.take(rows)
        assert "_grams" not in vars(bank)
        assert "_grams" not in vars(part)
        np.testing.assert_allclose(traces, [f.diagonal(X).sum() for f in functions])
        expected = Gaussian(0.5)(X[rows], X[rows])
        np.testing.assert_allclose(part.combine([1.0, 0.0]), expected, rtol=1e-12)

    @pytest.mark.slow
    def test_kernels_of_many_samples_have_unit_traces_without_gram_matrices(self) -> None:
        X, _ = problem(MANY, 2, seed=17)
        bank = simplemkl_bank(X, widths=(1.0, 5.0), degrees=(1, 3))
        np.testing.assert_allclose(bank.traces(), np.ones(12), rtol=1e-12)
        factors = bank.row_factors()
        assert factors is not None
        rows = factors.rows(0, MANY)
        for part, columns in zip(factors.parts, factors.columns, strict=True):
            own = rows[:, columns]
            traces = np.einsum("ij,kjl,il->k", own, part.cores, own)
            assert traces == pytest.approx(
                np.ones(len(traces)), abs=2 * (part.left_out or 0.0) + 1e-9
            )

    def test_auto_does_not_look_for_landmarks_that_it_will_not_take(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refused(*arguments: object) -> None:
            raise AssertionError("landmarks were looked for")

        X, _ = problem(MANY, 2, seed=18)
        bank = simplemkl_bank(X, widths=(1.0,), degrees=(1,))
        assert bank.n_approximated == 2
        monkeypatch.setattr(DenseBank, "row_factors", refused)
        assert joint_method.factors_for(bank, "auto", 1e-3) is None

    @pytest.mark.parametrize("landmarks", [0, 2.5, "many", 301])
    def test_refuses_numbers_of_landmarks_that_cannot_be(self, landmarks: Any) -> None:
        X, y = problem(300, 2, seed=12)
        with pytest.raises(InputError, match="landmarks"):
            joint(gaussians(X), y, 1.0, landmarks=landmarks)

    def test_refuses_landmarks_of_a_method_that_has_none(self) -> None:
        X, y = problem(100, 2, seed=13)
        with pytest.raises(InputError, match="landmarks=20 is for method=joint"):
            mkl.solve(gaussians(X), y, 1.0, method="libsvm", landmarks=20)

    def test_landmarks_that_are_given_are_taken(self) -> None:
        X, y = problem(100, 2, seed=16)
        found = mkl.solve(gaussians(X), y, 1.0, tol=1e-2, landmarks=20)
        assert found.approximation is not None
        assert found.approximation.landmarks == 20

    def test_memory_for_more_landmarks_is_told(self) -> None:
        shape = Shape(50_000, 4)
        kernels = DenseBank.needs_on(shape, 5)
        few = joint_method.bytes_on_factors(kernels, shape, "auto", 1e-4)
        many = joint_method.bytes_on_factors(kernels, shape, "auto", 1e-4, landmarks=10_000)
        assert few is not None
        assert many is not None
        assert few < 16e9 < many

    def test_verbose_says_what_the_gap_is_of(self, capsys: pytest.CaptureFixture[str]) -> None:
        X, y = problem(200, 2, seed=14)
        MKL(kernel="gaussians", C=1.0, tol=1e-2, method="joint", landmarks=20, verbose=1).fit(X, y)
        assert "the gap is that of an approximation, 5 kernels on up to 20 landmarks" in (
            capsys.readouterr().out
        )


def test_what_predicts_keeps_landmarks_only() -> None:
    X, y = problem(500, 3, seed=15)
    bank = DenseBank(X, [Gaussian(0.3)])
    found = joint(bank, y, 10.0, landmarks=30, tol=1e-3)
    kept = DecisionFunction.of(bank, [found])
    assert kept.kernels.n_samples == 30
    assert kept.n_bytes() < 8 * (500 * 3)


class TestOtherWeightsAndLosses:
    """The gap is that of the landmarks; with their effect added it holds for the kernels."""

    @pytest.fixture
    def samples(self) -> tuple[Bank, np.ndarray]:
        X, y = problem(250, 3, seed=30)
        bank = DenseBank(X, [Gaussian(0.05), Gaussian(0.5), Gaussian(5.0), Polynomial(2)])
        return ConcatenatedBank([bank, feature_gaussians(X)]), y

    def check(self, found: Solution, optimum: float, error: float = 1e-5) -> None:
        assert found.converged
        assert found.approximation is not None
        assert found.approximation.n_kernels == 4
        upper = found.objective / (1.0 - found.gap)
        assert upper >= optimum * (1.0 - error)
        share = found.approximation.effect_on_objective + found.gap
        assert 1.0 - optimum / upper <= share + error

    @pytest.mark.slow
    @pytest.mark.parametrize("p", [2.0, np.inf])
    def test_the_norm(self, samples: tuple[Bank, np.ndarray], p: float) -> None:
        bank, y = samples
        optimum = mkl.solve(bank, y, 1.0, p=p, tol=1e-5, method="libsvm").objective
        for landmarks in (20, None):
            self.check(joint(bank, y, 1.0, p=p, landmarks=landmarks, tol=1e-4), optimum)

    def test_the_mean(self, samples: tuple[Bank, np.ndarray]) -> None:
        bank, y = samples
        optimum = uniform.solve(bank, y, 1.0, svm_tol=1e-6, method="libsvm").objective
        self.check(uniform.solve(bank, y, 1.0, method="joint"), optimum)

    @pytest.mark.slow
    def test_groups(self, samples: tuple[Bank, np.ndarray]) -> None:
        bank, y = samples
        groups = [[0, 1, 2, 3], [4, 5, 6]]
        options: dict[str, Any] = {"groups": groups, "tol": 1e-3}
        exactly = vskl.solve(bank, y, 1.0, method="libsvm", **options)
        found = vskl.solve(bank, y, 1.0, method="joint", **options)
        self.check(found, exactly.objective, error=exactly.gap)

    def test_regression(self, samples: tuple[Bank, np.ndarray]) -> None:
        bank, y = samples
        targets = y + np.random.default_rng(0).standard_normal(len(y))
        optimum = mkl_svr.solve(bank, targets, 1.0, tol=1e-6, method="libsvm").objective
        self.check(mkl_svr.solve(bank, targets, 1.0, method="joint"), optimum)
