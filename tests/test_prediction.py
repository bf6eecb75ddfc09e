"""A fitted model keeps what predicts, and predicts as the operator that it was learned on."""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import skops.io
from cases import rest_slow
from every_kernel import BOUNDED, KINDS_FIRST, QUICK, UNBOUNDED, decisions, problem
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import mklbench
from mklbench import multiclass, prediction
from mklbench.algorithms import krr, svm
from mklbench.kernels import (
    BUILDERS,
    Bank,
    CentredBank,
    Family,
    KernelOperator,
    KernelSubset,
    Normalised,
    Precomputed,
    PrecomputedBank,
    gaussian,
    gaussians,
    resolve,
)
from mklbench.kernels.banks.wrapped import CosineBank
from mklbench.kernels.base import Array
from mklbench.prediction import DecisionFunction
from mklbench.solution import Solution

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

EVERY = {**BOUNDED, **UNBOUNDED}


def some_of(operator: KernelOperator, seed: int = 3) -> tuple[Any, Any, Array]:
    """Some rows and some kernels of an operator, and weights (M,) that are 0 but for these."""
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(rng.random(operator.n_samples) < 0.4)
    if isinstance(operator, Family):
        return rows, np.arange(operator.n_kernels), rng.random(operator.n_kernels)
    chosen = np.flatnonzero(rng.random(operator.n_kernels) < 0.5)
    kernels = chosen if len(chosen) else np.zeros(1, dtype=np.intp)
    weights = np.zeros(operator.n_kernels)
    weights[kernels] = rng.random(len(kernels))
    return rows, kernels, weights


def assert_same_columns(operator: KernelOperator, Z: Any) -> None:
    rows, kernels, weights = some_of(operator)
    kept = operator.take(rows, kernels)
    assert (kept.n_samples, kept.n_kernels) == (len(rows), len(kernels))
    expected = operator.cross(weights, Z)[:, rows]
    size = np.abs(expected).max()
    found = kept.cross(weights[kernels], Z)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * size)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(kept)).cross(weights[kernels], Z), found
    )
    if isinstance(operator, Bank):
        nothing = operator.take(rows, kernels[:1]).cross(np.zeros(1), Z)
        np.testing.assert_array_equal(nothing, 0.0 * expected)


@pytest.mark.parametrize("kernel", EVERY)
def test_what_is_kept_gives_the_columns_of_the_operator(kernel: str) -> None:
    X, _, Z = problem()
    operator = EVERY[kernel](X)
    assert_same_columns(operator, Z)
    assert_same_columns(operator.take(np.arange(5, 40)), Z)


@pytest.mark.parametrize("kernel", ["simplemkl", "normalised", "cosine", "chi2"])
def test_diagonals_of_new_samples_are_those_of_the_operator(kernel: str) -> None:
    X, _, Z = problem()
    operator = EVERY[kernel](X)
    assert isinstance(operator, Bank)
    rows, kernels, _ = some_of(operator)
    kept = operator.take(rows, kernels)
    np.testing.assert_allclose(kept.diagonals(Z), operator.diagonals(Z)[kernels], rtol=1e-13)


def grams() -> Array:
    X, _, Z = problem()
    every = np.concatenate([X, Z])
    return np.array([gaussians(every, [gamma]).combine([1.0]) for gamma in (0.1, 0.5, 1.0, 3.0)])


def test_gram_matrices_are_kept_by_kernels() -> None:
    K, new = grams(), np.arange(50, 80)
    indexed = Precomputed(K)(np.arange(50))
    some = KernelSubset(indexed, [3, 0, 1])
    for operator in (indexed, CosineBank(indexed), CentredBank(indexed), some):
        assert_same_columns(operator, new)
    given = PrecomputedBank(K[:, :50, :50])
    for bank in (given, CentredBank(given)):
        assert_same_columns(bank, K[:, 50:, :50])
    rows, kernels, _ = some_of(indexed)
    kept = indexed.take(rows, kernels)
    numbers = len(kernels) * 80 * 81 // 2
    assert len(pickle.dumps(kept)) < 8 * numbers + 2000


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", KINDS_FIRST)
def test_every_estimator_predicts_as_on_its_operator(name: str, classes: int) -> None:
    X, y, Z = problem()
    target = np.where((X[:, 2] > 1) & (classes == 3), 2, y)
    model = getattr(mklbench, name)(**QUICK.get(name, {})).fit(X, target)
    operator = resolve(model.kernel)(X)
    expected = multiclass.decision_function(operator, model.solutions_, Z)
    size = max(np.abs(expected).max(), 1e-3 * np.abs(model.dual_coef_).sum(axis=-1).max())
    np.testing.assert_allclose(decisions(model, Z), expected, rtol=0, atol=1e-12 * size)
    assert model.dual_coef_.shape[-1] == len(X)


def test_an_ensemble_keeps_the_union_of_its_members() -> None:
    X, y, Z = problem()
    for vote in (False, True):
        model = mklbench.LateFusion(vote=vote).fit(X, y)
        decide = model._decide
        members = decide.machines[0].members
        assert members is not None
        own = np.array([member.dual_coef for member in members])
        assert (own != 0).any(axis=0).all()
        assert (own == 0).any()
        expected = multiclass.decision_function(resolve(model.kernel)(X), model.solutions_, Z)
        np.testing.assert_allclose(decide(Z), expected, rtol=0, atol=1e-12)


def test_a_power_of_the_kernel_is_kept() -> None:
    X, y, Z = problem()
    bank = BUILDERS["feature_gaussians"](X)
    solution = krr.solve(bank, y.astype(float), 0.1, degree=3)
    decide = DecisionFunction.of(bank, [solution])
    expected = multiclass.decision_function(bank, [solution], Z)
    np.testing.assert_allclose(decide(Z), expected, rtol=1e-12)


def test_a_model_without_support_vectors_is_its_intercept() -> None:
    X, _, Z = problem()
    nothing = Solution(np.zeros(1), np.zeros(50), 0.25, 0.0, 0.0, 1, 1, True)
    np.testing.assert_array_equal(DecisionFunction.of(gaussian(X), [nothing])(Z), 0.25)


@settings(max_examples=8, deadline=None)
@given(
    st.sampled_from(sorted(EVERY)), st.integers(1, 60), st.integers(1, 30), st.integers(0, 2**31)
)
def test_a_prediction_is_that_of_its_row_alone_whatever_the_blocks(
    kernel: str, n_new: int, at_once: int, seed: int
) -> None:
    X, y, _ = problem()
    operator = EVERY[kernel](X)
    decide = DecisionFunction.of(operator, [svm.solve(operator, y.astype(float), 10.0)])
    Z = np.abs(np.random.default_rng(seed).standard_normal((n_new, X.shape[1])))
    alone = np.concatenate([decide(row[None]) for row in Z])
    size = (
        np.abs(decide.machines[0].dual_coef).sum()
        * np.abs(operator.gram(operator.uniform_weights())).max()
    )
    sizes: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prediction, "_BLOCK", 8 * at_once * max(decide.kernels.n_samples, X.shape[1]))
        whole = multiclass.decision_values

        def noting(*given: Any) -> Array:
            values = whole(*given)
            sizes.append(len(values))
            return values

        patch.setattr(multiclass, "decision_values", noting)
        together = decide(Z)
    assert max(sizes) <= at_once
    assert sum(sizes) == n_new
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-12 * max(size, 1.0))


def wdbc() -> tuple[Array, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


class TestSize:
    """Of pickles, in bytes."""

    def test_of_the_default_model_on_wdbc(self, tmp_path: Path) -> None:
        X, y = wdbc()
        model = mklbench.MKL().fit(X, y)
        assert len(pickle.dumps(model)) < 100_000
        joblib.dump(model, tmp_path / "model.joblib")
        assert (tmp_path / "model.joblib").stat().st_size < 100_000

    @pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
    def test_of_row_numbers_is_that_of_the_columns(self, shape: tuple[int, ...]) -> None:
        K, y = grams(), problem()[1]
        rows = np.arange(50.0).reshape(shape)
        model = mklbench.MKL(Precomputed(K), C=1.0).fit(rows, y)
        new = np.arange(50.0, 80.0).reshape(shape)
        before = model.decision_function(new)
        model.set_params(kernel=None)  # without the Gram matrices it predicts, but cannot be fitted
        np.testing.assert_array_equal(model.decision_function(new), before)
        active = np.count_nonzero(model.weights_)
        assert len(pickle.dumps(model)) < 8 * active * 80 * 51 + 10_000


MODELS: dict[str, tuple[Any, int]] = {
    "a support vector machine": (mklbench.KernelSVC(C=10.0), 2),
    "the default": (mklbench.MKL(), 2),
    "three classes": (mklbench.MKL(), 3),
    "a bound builder": (mklbench.SimpleMKL(partial(gaussians, gammas=[0.1, 1.0]), C=10.0), 2),
    "normalised kernels": (mklbench.UniformMKL(Normalised("simplemkl")), 3),
    "descriptors": (mklbench.UniformMKL(EVERY["chi2"]), 2),
    "a family": (mklbench.QNPKL(C=10.0), 2),
    "members of a family": (mklbench.IKL(samples=0, tol=0.1), 3),
    "an ensemble": (mklbench.LateFusion(vote=True), 2),
    "a ridge regression": (mklbench.NKRR(), 2),
    "linear kernels": (mklbench.MKL("linear_features"), 2),
    "a combination": (mklbench.KernelSVC(EVERY["polynomial of Gaussians"]), 2),
    "standardised kernels": (mklbench.MKL(EVERY["standardised simplemkl"]), 2),
}
_LOADS = """
import sys
import numpy as np
folder, kind, count = sys.argv[1:]
Z = np.load(f"{folder}/Z.npy")
for i in range(int(count)):
    if kind == "skops":
        import skops.io
        path = f"{folder}/{i}.skops"
        types = skops.io.get_untrusted_types(file=path)
        assert all(t == "functools.partial" or t.startswith("mklbench.") for t in types), types
        model = skops.io.load(path, trusted=types)
    else:
        import joblib
        model = joblib.load(f"{folder}/{i}.joblib")
    decide = getattr(model, "decision_function", None) or model.predict
    np.save(f"{folder}/{i}.npy", decide(Z))
"""


@pytest.mark.parametrize("kind", rest_slow(["skops", "joblib"], "skops"))
def test_models_predict_to_the_last_bit_in_another_process(kind: str, tmp_path: Path) -> None:
    X, y, Z = problem()
    np.save(tmp_path / "Z.npy", Z)
    expected = []
    for i, (model, classes) in enumerate(MODELS.values()):
        target = np.where((X[:, 2] > 1) & (classes == 3), 2, y)
        fitted = model.fit(X, target)
        expected.append(decisions(fitted, Z))
        (skops.io.dump if kind == "skops" else joblib.dump)(fitted, tmp_path / f"{i}.{kind}")
    program = [sys.executable, "-c", _LOADS, str(tmp_path), kind, str(len(MODELS))]
    subprocess.run(program, check=True, timeout=300)
    for i, (name, values) in enumerate(zip(MODELS, expected, strict=True)):
        np.testing.assert_array_equal(np.load(tmp_path / f"{i}.npy"), values, err_msg=name)
