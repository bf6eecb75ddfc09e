"""QN-PKL: its gradient, its descent, and what sections 3 and 4 of the paper claim."""

from __future__ import annotations

from pathlib import Path

import conic_twins
import numpy as np
import pytest
from cases import rest_slow
from dense_twins import gradient, product_kernel
from numpy.testing import assert_allclose, assert_array_equal
from problems import differences, random_problem
from sklearn.preprocessing import MinMaxScaler

from benchmarks.reference import real_set
from mklbench.algorithms import qnpkl, svm
from mklbench.certify import kkt_residual
from mklbench.errors import InputError
from mklbench.kernels import product_gaussians
from mklbench.optim.problem import Problem
from mklbench.optim.svm_value import Objective, product_hessian, value_at_identity

VARIANTS = ("paper", "jkernelmachines")
UCI_SETS = (
    "sonar",
    "ionosphere",
    "pima",
    "liver",
    "wpbc",
    "wdbc",
    "parkinsons",
    "breast_cancer_wisconsin",
)
REAL_SETS = ("sonar", "ionosphere", "pima")


def solved_svm(X: np.ndarray, y: np.ndarray, gamma: np.ndarray, C: float = 1.0) -> np.ndarray:
    return Objective(product_gaussians(X), Problem.of(y, C, svm_tol=1e-6))(gamma).trained.dual_coef


class TestDescent:
    def test_the_gap_is_the_kkt_residual_of_the_returned_numbers(self) -> None:
        X, y = random_problem(40)
        solution = qnpkl.solve(product_gaussians(X), y, C=1.0)
        slope = -0.5 * gradient(product_kernel, solution.weights, X, solution.dual_coef)
        residual = kkt_residual(solution.weights, slope, solution.objective)
        assert_allclose(solution.gap, residual, atol=1e-9)

    def test_the_library_of_the_authors_uses_a_direction_up(self) -> None:
        """It ends a direction at a lower value and with more SVMs than the printed algorithm."""
        X, y = random_problem(40)
        first = {
            variant: qnpkl.solve(
                product_gaussians(X), y, C=1.0, variant=variant, max_iter=1, **qnpkl.PRINTED
            )
            for variant in VARIANTS
        }
        assert first["jkernelmachines"].objective < first["paper"].objective
        assert first["jkernelmachines"].n_svm_calls > first["paper"].n_svm_calls

    @pytest.mark.parametrize("name", ["uniform", 0.1])
    def test_the_first_step_is_the_initial_rate_along_eq_6(self, name: str | float) -> None:
        X, y = random_problem(40)
        start = np.full(4, 0.25 if name == "uniform" else name)
        A = solved_svm(X, y, start)
        p = 0.5 * gradient(product_kernel, start, X, A)
        solution = qnpkl.solve(
            product_gaussians(X),
            y,
            C=1.0,
            start=name,
            initial_rate=1e-3,
            max_iter=1,
            svm_tol=1e-6,
        )
        assert_allclose(solution.weights, np.maximum(start + 1e-3 * p, 0.0), atol=1e-6)

    def test_too_few_iterations_do_not_pass_for_convergence(self) -> None:
        X, y = random_problem(40)
        solution = qnpkl.solve(product_gaussians(X), y, C=1.0, max_iter=2)
        assert not solution.converged
        assert solution.n_iter == 2

    @pytest.mark.parametrize("variant", VARIANTS)
    @pytest.mark.parametrize("most", [1, 7, 150])
    def test_so_many_svms_and_no_more(self, variant: str, most: int) -> None:
        """With a box that does not bind, J falls on and on by its rounding."""
        X, y = random_problem(40)
        family = product_gaussians(X)
        solution = qnpkl.solve(family, y, C=1000.0, variant=variant, max_evals=most)
        assert solution.n_svm_calls <= most
        assert solution.converged is (variant == "paper" and solution.n_svm_calls < most)
        start = qnpkl.solve(family, y, C=1000.0, max_evals=1).objective
        assert solution.objective <= start
        if variant == "jkernelmachines":
            assert solution.n_svm_calls == most

    def test_a_constant_feature_keeps_its_parameter_and_changes_nothing_else(self) -> None:
        X, y = random_problem(40)
        wide = np.column_stack([X, np.full(40, 3.0)])
        solution = qnpkl.solve(product_gaussians(wide), y, C=1.0, **qnpkl.PRINTED)
        assert_allclose(solution.weights[-1], 0.2)

    def test_a_box_too_large_leads_to_the_identity(self) -> None:
        """J has no regulariser: with alpha free, gamma grows until K is the identity, J = n / 2."""
        X, y = random_problem(40)
        family = product_gaussians(X)
        solution = qnpkl.solve(family, y, C=100.0, **qnpkl.PRINTED)
        assert not solution.converged
        assert_allclose(family.gram(solution.weights), np.eye(40), atol=0.2)
        assert_allclose(solution.objective, 20.0, rtol=0.02)


class TestStart:
    def test_the_median_of_the_exponents_is_one(self) -> None:
        X, y = random_problem(40)
        family = product_gaussians(X)
        theta = family.median_parameters()
        exponents = -np.log(product_kernel(theta, X, X)[np.triu_indices(40, 1)])
        assert_allclose(np.median(exponents), 1.0)
        assert (theta == theta[0]).all()
        started = qnpkl.solve(family, y, width=0.5, iterations=0)
        assert_allclose(started.weights, 0.5 * theta)

    def test_no_iteration_is_the_svm_of_the_start(self) -> None:
        X, y = random_problem(40)
        family = product_gaussians(X)
        solution = qnpkl.solve(family, y, C=3.0, iterations=0)
        plain = svm.solve(family, y, C=3.0, weights=family.median_parameters())
        assert solution.objective == plain.objective
        assert solution.converged
        assert solution.n_svm_calls == 1

    @pytest.mark.parametrize("factor", [1e3, 1e-3])
    @pytest.mark.parametrize("variant", VARIANTS)
    def test_the_scale_of_the_features_changes_nothing(self, variant: str, factor: float) -> None:
        X, y = random_problem(60)
        one, other = (
            qnpkl.solve(product_gaussians(X * scale), y, variant=variant, iterations=4, tol=1e-7)
            for scale in (1.0, factor)
        )
        assert_allclose(other.objective, one.objective, rtol=1e-6)
        assert_allclose(other.weights * factor**2, one.weights, rtol=1e-6)
        assert_allclose(other.dual_coef, one.dual_coef, rtol=1e-6, atol=1e-6)

    def test_equal_samples_have_no_median(self) -> None:
        X = np.zeros((6, 2))
        X[0] = 1.0
        y = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
        with pytest.raises(InputError, match="choose start=uniform"):
            qnpkl.solve(product_gaussians(X), y)


class TestPath:
    @pytest.mark.parametrize("variant", VARIANTS)
    def test_it_has_what_separate_runs_return(self, variant: str) -> None:
        X, y = random_problem(50)
        family = product_gaussians(X)
        C, tol = 10.0, 1e-4
        wanted = [5, 0, 2, None]
        for number, solution in zip(
            wanted, qnpkl.solve_path(family, y, wanted, C, variant=variant, tol=tol), strict=True
        ):
            alone = qnpkl.solve(family, y, C, iterations=number, variant=variant, tol=tol)
            assert_array_equal(solution.weights, alone.weights)
            assert_array_equal(solution.dual_coef, alone.dual_coef)
            assert solution.history == alone.history
            assert solution.n_svm_calls == alone.n_svm_calls
            assert (solution.converged, solution.gap) == (alone.converged, alone.gap)


class TestIdentity:
    """K = I is a minimum of J that predicts the larger class; a long first step leads there."""

    @pytest.mark.parametrize(
        ("name", "C"), rest_slow([("sonar", 100.0), ("ionosphere", 1000.0)], ("sonar", 100.0))
    )
    def test_it_is_shunned_where_a_lower_objective_is_in_reach(
        self, name: str, C: float, mirror: Path
    ) -> None:
        X, y = real_set(name)
        family = product_gaussians((X - X.mean(axis=0)) / X.std(axis=0))
        fallen = qnpkl.solve(family, y, C, **qnpkl.PRINTED, max_iter=30)
        shunned = qnpkl.solve(family, y, C, **{**qnpkl.PRINTED, "shun_identity": True}, max_iter=30)
        assert shunned.objective < 0.7 * fallen.objective

    @pytest.mark.slow
    @pytest.mark.parametrize("name", UCI_SETS)
    def test_no_descent_ends_there_with_a_lower_objective_in_reach(
        self, name: str, mirror: Path
    ) -> None:
        X, y = real_set(name)
        rows = np.random.default_rng(0).permutation(len(y))[:200]
        X, y = X[rows], y[rows]
        family = product_gaussians((X - X.mean(axis=0)) / X.std(axis=0))
        n_positive = int((y > 0).sum())
        for C in (0.01, 1.0, 100.0):
            objective = Objective(family, Problem.of(y, C, svm_tol=1e-3))
            widths = 2.0 ** np.arange(-8, 8)
            in_reach = min(objective(family.median_parameters() * w).objective for w in widths)
            identity = value_at_identity((n_positive, C), (len(y) - n_positive, C))
            for start, rate in (("median", "auto"), ("uniform", "auto"), ("uniform", 0.1)):
                found = qnpkl.solve(
                    family, y, C, start=start, initial_rate=rate, tol=1e-4, max_iter=30
                )
                assert found.objective < min(identity, in_reach) * (1.0 + 1e-2), (C, start, rate)

    def test_its_value_is_that_of_the_svm(self) -> None:
        y = np.array([1.0] * 7 + [-1.0] * 3)
        for C in (0.1, 0.7, 1.0, 5.0):
            upper = C * np.where(y > 0, 1.0, 2.0)
            expected = conic_twins.svm(np.eye(10), y, upper).value
            assert_allclose(value_at_identity((7, C), (3, 2.0 * C)), expected, rtol=1e-6)


class TestEquation7:
    """The printed quotient of the steps of gamma and of p, where p is the negative gradient."""

    def test_is_negative_where_the_curvature_is_positive(self) -> None:
        X, y = random_problem(40)
        objective = Objective(product_gaussians(X[:, :1]), Problem.of(y, 1.0, svm_tol=1e-7))
        there, here = objective(np.array([0.5])), objective(np.array([0.6]))
        beyond = objective(np.array([0.7]))
        assert there.objective - 2 * here.objective + beyond.objective > 0  # J is convex here
        p_there, p_here = -there.gradient, -here.gradient
        printed = (here.weights - there.weights) / (p_here - p_there)
        assert printed[0] < 0
        # so that gamma + delta B p goes up, and gamma - delta B p down
        up = objective(here.weights + 0.01 * printed * p_here)
        down = objective(here.weights - 0.01 * printed * p_here)
        assert down.objective < here.objective < up.objective


class TestSection4:
    """Section 4 concludes that the problem is not convex. What is true, and what is not:

    - Equation 8 is the Hessian of lambda in gamma at fixed alpha, sign included.
    - The argument shows that its sign depends on alpha, so that lambda is not convex in gamma for
      every alpha, nor concave for every alpha. It does not show that the Hessian is indefinite at a
      given alpha; with one feature it never is.
    - On the real data it is indefinite at the SVM's alpha, and J itself is not convex.
    """

    def test_equation_8_is_the_derivative_of_the_gradient(self) -> None:
        X, y = random_problem(30, n_features=5)
        gamma = np.random.default_rng(0).uniform(0.1, 0.5, 5)
        A = solved_svm(X, y, gamma)
        family = product_gaussians(X)
        numeric = differences(lambda at: -0.5 * family.gradient(at, A), gamma, 1e-5)
        H = product_hessian(X, gamma, A)
        assert_allclose(numeric, H, atol=1e-6 * np.abs(H).max())

    @pytest.mark.parametrize("name", rest_slow(REAL_SETS, "pima"))
    def test_indefinite_on_the_real_data_at_the_start(self, name: str, mirror: Path) -> None:
        X, y = real_set(name)
        X = MinMaxScaler((-1, 1)).fit_transform(X)
        gamma = np.full(X.shape[1], 1.0 / X.shape[1])
        eigenvalues = np.linalg.eigvalsh(product_hessian(X, gamma, solved_svm(X, y, gamma)))
        assert eigenvalues[0] < -0.05 * eigenvalues[-1]
        assert eigenvalues[-1] > 0.05 * -eigenvalues[0]
