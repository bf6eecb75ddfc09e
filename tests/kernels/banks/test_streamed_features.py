"""Samples in a memory-mapped file: the same kernels, and no copy of the file in memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mklbench import MKL
from mklbench.algorithms import mkl
from mklbench.certify import Hinge
from mklbench.errors import InputError
from mklbench.kernels import FeatureBank, Gaussian, Polynomial, feature_gaussians, feature_widths
from mklbench.kernels.row_factors import RowFactors
from mklbench.optim import joint_search
from mklbench.optim.row_blocks import terms_of
from mklbench.optim.row_engines import FactorProblem
from mklbench.validation import check_training_features, is_streamed, mapped_file


@pytest.fixture(params=[np.float32, np.float64])
def X(request: Any, tmp_path: Path) -> np.ndarray:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((600, 4)).astype(request.param)
    matrix[:, 3] = np.round(matrix[:, 3])
    np.save(tmp_path / "X.npy", matrix)
    loaded: np.ndarray = np.load(tmp_path / "X.npy", mmap_mode="r")
    return loaded


@pytest.fixture
def y(X: np.ndarray) -> np.ndarray:
    noise = 0.3 * np.random.default_rng(1).standard_normal(len(X))
    return np.where(np.sin(2.0 * X[:, 0]) + noise > 0, 1.0, -1.0)


@pytest.mark.parametrize(
    ("build", "method"),
    [(feature_gaussians, "libsvm"), (lambda X: feature_widths(X, 3), "joint")],
)
def test_the_solution_is_that_of_samples_in_memory(
    X: np.ndarray, y: np.ndarray, build: Any, method: Any
) -> None:
    found = mkl.solve(build(X), y, 1.0, tol=1e-3, method=method)
    expected = mkl.solve(build(np.array(X, dtype=np.float64)), y, 1.0, tol=1e-3, method=method)
    assert np.array_equal(found.dual_coef, expected.dual_coef)
    assert np.array_equal(found.weights, expected.weights)
    assert found.gap == expected.gap


def test_the_estimator_is_too(X: np.ndarray, y: np.ndarray) -> None:
    one, other = (MKL(kernel="feature_gaussians", method="joint", tol=1e-3) for _ in range(2))
    one.fit(X, y)
    other.fit(np.array(X, dtype=np.float64), y)
    assert np.array_equal(one.dual_coef_, other.dual_coef_)
    assert np.array_equal(one.decision_function(X[:50]), other.decision_function(X[:50]))


def test_the_blocks_of_the_joint_method_are_of_the_file(X: np.ndarray, y: np.ndarray) -> None:
    factors = feature_gaussians(X).row_factors()
    assert mapped_file(factors.X) is not None
    assert factors.X.dtype == X.dtype
    reduced = factors.reduced(1e-5)
    problem = FactorProblem(reduced, factors, terms_of(Hinge(y, 10.0)), np.float32)
    assert mapped_file(problem.factors.X[10:20]) is not None
    assert np.array_equal(
        factors.rows(100, 200),
        feature_gaussians(np.array(X, dtype=np.float64)).row_factors().rows(100, 200),
    )


def test_only_a_file_that_nobody_writes_to_is_taken_as_it_is(X: np.ndarray) -> None:
    assert is_streamed(X)
    assert is_streamed(X[5:])
    path = Path(str(mapped_file(X).filename))  # type: ignore[union-attr]
    changing = np.load(path, mmap_mode="c")
    assert not is_streamed(changing)
    assert not is_streamed(np.array(X))
    assert not is_streamed(X.tolist())
    bank = feature_gaussians(changing)
    before = bank.row_factors().rows(0, 10)
    changing[:] = 0.0
    assert np.array_equal(bank.row_factors().rows(0, 10), before)


class TestRefusals:
    """In the words that samples in memory get."""

    @pytest.mark.parametrize("value", [np.nan, np.inf, -1e60, 1e-90])
    def test_of_values(self, value: float, tmp_path: Path) -> None:
        matrix = np.zeros((70_000, 2))
        matrix[69_000, 1] = value
        np.save(tmp_path / "X.npy", matrix)
        sentences = []
        for build in (feature_gaussians, lambda X: check_training_features("X", X)):
            with pytest.raises(InputError) as refused:
                build(np.load(tmp_path / "X.npy", mmap_mode="r"))
            sentences.append(str(refused.value))
        assert sentences[0] == sentences[1]
        assert "row 69000, column 1" in sentences[0]

    def test_of_shapes(self, X: np.ndarray) -> None:
        with pytest.raises(InputError, match="must be a matrix"):
            feature_gaussians(X[:, 0])
        with pytest.raises(InputError, match="must be a matrix"):
            feature_gaussians(X[:0])

    def test_of_kernel_values(self, tmp_path: Path) -> None:
        np.save(tmp_path / "X.npy", np.full((9, 2), 1e40))
        X = np.load(tmp_path / "X.npy", mmap_mode="r")
        with pytest.raises(InputError, match="at row 0, column 0, and Polynomial"):
            FeatureBank(X, [Gaussian(1.0), Polynomial(9, 1.0)])


class _Reached(Exception):
    """The search has begun."""


def test_a_fit_comes_to_its_search_without_a_copy_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(factors: RowFactors, *others: object) -> None:
        factors.largest_entry()
        raise _Reached

    monkeypatch.setattr(joint_search, "solve", search)
    some = np.random.default_rng(0).standard_normal((4000, 40), dtype=np.float32)
    np.save(tmp_path / "X.npy", np.tile(some, (100, 1)))
    X: np.ndarray = np.load(tmp_path / "X.npy", mmap_mode="r")
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    tracemalloc.start()
    try:
        with pytest.raises(_Reached):
            MKL(kernel="feature_gaussians", method="joint").fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * X.nbytes  # a copy in doubles has twice as many bytes
