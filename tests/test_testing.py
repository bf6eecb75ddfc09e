"""The suites for authors outside find each mistake, and say it in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from dense_twins import PlainBank
from numpy.typing import ArrayLike

from mklbench.algorithms import mkl, svm
from mklbench.errors import InputError
from mklbench.kernels import Bank, KernelOperator, ProductGaussians, feature_gaussians
from mklbench.kernels.contract import declares
from mklbench.kernels.memory import Memory
from mklbench.optim.svm_value import check_bank
from mklbench.solution import Solution
from mklbench.testing import check_algorithm, check_operator

Array = np.ndarray
DOCUMENT = "Solve: bank, operator, y, C, tol, start, class_weight, svm_tol, strength, max_iter."


def plain(operator: KernelOperator, y: Array, C: float = 1.0, *, svm_tol: float = 1e-3) -> Solution:
    """An SVM at equal weights: operator, y, C, svm_tol."""
    return svm.solve(operator, y, C, svm_tol=svm_tol)


def changing(change: Callable[[Solution], Solution]) -> Callable[..., Solution]:
    """Return an algorithm whose solution is spoilt."""

    def solve(operator: KernelOperator, y: Array, C: float = 1.0, *, svm_tol: float = 1e-3) -> Any:
        return change(svm.solve(operator, y, C, svm_tol=svm_tol))

    solve.__doc__ = DOCUMENT
    return solve


SPOILT: dict[str, tuple[Callable[[Solution], Any], str]] = {
    "no solution": (lambda s: s.weights, "must return a Solution"),
    "a weight too many": (lambda s: replace(s, weights=np.append(s.weights, 1.0)), "weights of"),
    "negative weights": (lambda s: replace(s, weights=-s.weights), "negative or all 0"),
    "no coefficients": (lambda s: replace(s, dual_coef=s.dual_coef[:-1]), "dual_coef of shape"),
    "negative gap": (lambda s: replace(s, gap=-0.1), "a gap is never negative"),
    "no history": (lambda s: replace(s, history=[]), "an empty history"),
    "history without calls": (lambda s: replace(s, history=[{"objective": 1.0}]), "n_svm_calls"),
    "history without values": (lambda s: replace(s, history=[{"n_svm_calls": 1.0}]), "objective"),
    "unknown end": (lambda s: replace(s, converged=None), "converged=None"),  # type: ignore[arg-type]
    "no iteration": (lambda s: replace(s, n_iter=0), "n_iter=0"),
    "beyond the box": (lambda s: replace(s, dual_coef=1.1 * s.dual_coef), "outside of the box"),
    "unbalanced": (
        lambda s: replace(s, dual_coef=np.where(s.dual_coef > 0, 0.9, 1.0) * s.dual_coef),
        "that of an SVM is 0",
    ),
    "not the SVM's": (
        lambda s: replace(s, dual_coef=0.9 * s.dual_coef, intercept=0.9 * s.intercept),
        "the KKT conditions are violated",
    ),
    "other weights": (
        lambda s: replace(s, weights=s.weights * np.linspace(0.5, 1.5, len(s.weights))),
        "the KKT conditions are violated",
    ),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_solution_is_found(name: str) -> None:
    spoil, message = SPOILT[name]
    with pytest.raises(AssertionError, match=message) as raised:
        check_algorithm(changing(spoil))
    assert "\n" not in str(raised.value)


def test_a_sound_one_passes() -> None:
    check_algorithm(plain)
    check_algorithm(plain, kernels=feature_gaussians)


class TestAlgorithms:
    def test_random_numbers(self) -> None:
        rng = np.random.default_rng()

        def solve(operator: KernelOperator, y: Array, C: float = 1.0) -> Solution:
            return svm.solve(operator, y, C, weights=rng.uniform(1.0, 2.0, operator.n_kernels))

        solve.__doc__ = DOCUMENT
        with pytest.raises(AssertionError, match="returns other weights when it is called again"):
            check_algorithm(solve)

    def test_order_of_the_samples(self) -> None:
        def solve(operator: KernelOperator, y: Array, C: float = 1.0) -> Solution:
            weights = np.full(operator.n_kernels, 0.1 if y[0] > 0 else 1.0)
            return svm.solve(operator, y, C, weights=weights)

        solve.__doc__ = DOCUMENT
        with pytest.raises(AssertionError, match="another objective for the samples"):
            check_algorithm(solve)

    def test_a_gap_that_is_too_small(self) -> None:
        def solve(bank: Bank, y: Array, C: float = 1.0, *, tol: float = 0.1) -> Solution:
            return replace(mkl.solve(bank, y, C, tol=tol), gap=0.0)

        def bounds(grams: Array, y: Array, C: float, solution: Solution) -> tuple[float, float]:
            forms = np.einsum("i,mij,j->m", solution.dual_coef, grams, solution.dual_coef)
            return np.abs(solution.dual_coef).sum() - 0.5 * forms.max(), np.inf

        solve.__doc__ = DOCUMENT
        with pytest.raises(AssertionError, match=r"gap=0, but its objective may be"):
            check_algorithm(solve, bounds=bounds)

    @pytest.mark.parametrize(
        ("document", "message"), [(None, "has no docstring"), ("y", "does not explain operator")]
    )
    def test_docstring(self, document: str | None, message: str) -> None:
        solve = changing(lambda s: s)
        solve.__doc__ = document
        with pytest.raises(AssertionError, match=message):
            check_algorithm(solve)

    def test_signature(self) -> None:
        def no_default(operator: KernelOperator, y: Array, C: float) -> Solution:
            raise NotImplementedError

        def by_position(
            operator: KernelOperator, y: Array, C: float = 1.0, tol: float = 1.0
        ) -> Solution:
            raise NotImplementedError

        with pytest.raises(AssertionError, match="no default for its option C"):
            check_algorithm(no_default)
        with pytest.raises(AssertionError, match="takes its option tol by position"):
            check_algorithm(by_position)

    def test_options_that_nothing_refuses(self) -> None:
        def solve(
            operator: KernelOperator, y: Array, C: float = 1.0, *, strength: float = 1.0
        ) -> Solution:
            return svm.solve(operator, y, C)

        solve.__doc__ = DOCUMENT
        with pytest.raises(
            AssertionError, match=r"strength='nonsense' must be refused .* accepted"
        ):
            check_algorithm(solve)
        check_algorithm(solve, lenient=["strength"])

    def test_options_that_crash(self) -> None:
        def solve(
            operator: KernelOperator, y: Array, C: float = 1.0, *, strength: float = 1.0
        ) -> Solution:
            if strength < 0:
                raise InputError("it is negative")
            return svm.solve(operator, y, C)

        solve.__doc__ = DOCUMENT
        with pytest.raises(AssertionError, match="and raises TypeError"):
            check_algorithm(solve)

    def test_labels_that_nothing_refuses(self) -> None:
        def solve(operator: KernelOperator, y: Array, C: float = 1.0) -> Solution:
            return svm.solve(operator, np.where(np.asarray(y) > 0, 1.0, -1.0), C)

        solve.__doc__ = DOCUMENT
        with pytest.raises(AssertionError, match="with labels 0 and 1 must be refused"):
            check_algorithm(solve)

    def test_kernels_that_it_does_not_take(self) -> None:
        def solve(bank: Bank, y: Array, C: float = 1.0) -> Solution:
            return svm.solve(bank, y, C)

        def checked(bank: Bank, y: Array, C: float = 1.0) -> Solution:
            return svm.solve(check_bank("mine", bank), y, C)

        solve.__doc__ = checked.__doc__ = DOCUMENT
        with pytest.raises(AssertionError, match="which takes a Bank, with another operator"):
            check_algorithm(solve)
        check_algorithm(checked)

    def test_changed_arguments(self) -> None:
        def solve(operator: KernelOperator, y: Array, C: float = 1.0) -> Solution:
            solution = svm.solve(operator, y, C)
            np.asarray(y)[:] *= -1.0
            np.asarray(y)[:] *= 1.0 + 1e-9
            return solution

        solve.__doc__ = DOCUMENT
        with pytest.raises(AssertionError):
            check_algorithm(solve)


class Spoilt(PlainBank):
    """A bank one of whose answers is wrong in the sixth digit."""

    def __init__(self, stack: Array, wrong: str) -> None:
        self._wrong = wrong
        super().__init__(stack)

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        if name != "_wrong" and name == self._wrong:
            return lambda *args, **options: found(*args, **options) * (1.0 + 1e-6)
        return found


def grams(n_new: int = 5) -> tuple[Array, Array]:
    X = np.random.default_rng(0).standard_normal((25 + n_new, 3))
    whole = np.array([np.exp(-gamma * (x[:, None] - x) ** 2) for x in X.T for gamma in (0.1, 1.0)])
    return whole[:, :25, :25], whole[:, 25:, :25]


class TestOperators:
    @pytest.mark.parametrize(
        "method",
        ["quadratic_forms", "products", "traces", "cross", "inner_products_with",
         "inner_products", "target_alignments", "diagonals", "combine"],
    )  # fmt: skip
    def test_a_wrong_answer_is_found(self, method: str) -> None:
        stack, cross = grams()
        check_operator(PlainBank(stack), grams=stack, cross=cross, new=cross)
        with pytest.raises(AssertionError, match="differs from that of the dense Gram matrices by"):
            check_operator(Spoilt(stack, method), grams=stack, cross=cross, new=cross)

    def test_what_restricting_loses_is_found(self) -> None:
        stack, _ = grams()

        class Forgetful(PlainBank):
            def restrict(self, rows: Any) -> PlainBank:
                return PlainBank(self._stack[:, : len(rows), : len(rows)])

        with pytest.raises(AssertionError, match=r"Forgetful\.restrict: combine differs"):
            check_operator(Forgetful(stack))

    def test_what_depends_on_the_batch_is_found(self) -> None:
        stack, cross = grams()

        class Normalising(PlainBank):
            def cross(self, weights: Any, Z: Any) -> Array:
                return super().cross(weights, Z / np.abs(Z).max())

        with pytest.raises(AssertionError, match="new samples together differs from that of each"):
            check_operator(Normalising(stack), new=cross)

    def test_what_is_kept_and_shared_is_found(self) -> None:
        class Sharing(PlainBank):
            def combine(self, d: Any, out: Any = None) -> Array:
                d = np.asarray(d, dtype=float)
                if out is None and np.count_nonzero(d) == 1 and d.max() == 1.0:
                    return self._stack[d.argmax()]
                return super().combine(d, out)

        stack, _ = grams()
        with pytest.raises(AssertionError, match="combine after others"):
            check_operator(Sharing(stack.copy()), grams=stack)

    def test_an_indefinite_kernel_is_found(self) -> None:
        stack, _ = grams()
        stack[2] -= 2.0 * np.eye(25)
        with pytest.raises(AssertionError, match="kernel 2 of PlainBank is not positive semidef"):
            check_operator(PlainBank(stack))

    def test_a_wrong_gradient_is_found(self) -> None:
        class Wrong(ProductGaussians):
            def gradient(self, theta: Any, a: Any, K: Any = None) -> Array:
                return 2.0 * super().gradient(theta, a, K)

        X = np.random.default_rng(0).standard_normal((20, 3))
        check_operator(ProductGaussians(X), new=X[:4])
        with pytest.raises(AssertionError, match="gradient differs from finite differences"):
            check_operator(Wrong(X))

    @pytest.mark.parametrize(
        ("memory", "message"),
        [
            (Memory(5), "says 5 kernels, and there are 4"),
            (Memory(4, is_family=True), "says is_family=True of a FeatureBank"),
            (Memory(4, kept=10.0, building=5.0), "10.0 bytes are kept and 5.0 are needed"),
        ],
    )
    def test_wrong_declarations_are_found(self, memory: Memory, message: str) -> None:
        @declares(memory=lambda shape: memory)
        def build(X: ArrayLike) -> Bank:
            return feature_gaussians(X)

        with pytest.raises(AssertionError, match=message):
            check_operator(build)
        check_operator(partial(feature_gaussians, gammas=[0.5, 2.0]))
