"""The suite for operators finds each mistake, and says it in one sentence."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from dense_twins import PlainBank
from numpy.typing import ArrayLike

from mklbench.kernels import Bank, Normalised, ProductGaussians, feature_gaussians
from mklbench.kernels.contract import declares
from mklbench.testing import check_operator

Array = np.ndarray


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
            def take(self, rows: Any, kernels: Any = None) -> PlainBank:
                return PlainBank(self._stack[:, : len(rows), : len(rows)])

        with pytest.raises(AssertionError, match=r"Forgetful\.take\.combine differs"):
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
        with pytest.raises(AssertionError, match=r"differs from .* by up to nan"):
            check_operator(Sharing(stack.copy()), grams=stack)

    def test_an_indefinite_kernel_is_found(self) -> None:
        stack, _ = grams()
        stack[2] -= 2.0 * np.eye(25)
        with pytest.raises(AssertionError, match="kernel 2 of PlainBank is not positive semidef"):
            check_operator(PlainBank(stack))

    def test_a_kernel_that_is_0_once_centred_is_none(self) -> None:
        X = np.hstack([np.random.default_rng(0).standard_normal((25, 2)), np.ones((25, 1))])
        check_operator(Normalised("feature_gaussians"), samples=X, new=X[:4])

    def test_a_wrong_gradient_is_found(self) -> None:
        class Wrong(ProductGaussians):
            def gradient(self, theta: Any, a: Any, K: Any = None) -> Array:
                return 2.0 * super().gradient(theta, a, K)

        X = np.random.default_rng(0).standard_normal((20, 3))
        check_operator(ProductGaussians(X), new=X[:4])
        with pytest.raises(AssertionError, match="gradient differs from finite differences"):
            check_operator(Wrong(X))

    def test_wrong_declarations_are_found(self) -> None:
        @declares()
        def build(X: ArrayLike) -> Bank:
            return feature_gaussians(X, gammas=list(range(1, len(np.asarray(X)))))

        with pytest.raises(AssertionError, match="build takes few samples, and of two it makes"):
            check_operator(build)
        check_operator(partial(feature_gaussians, gammas=[0.5, 2.0]))
