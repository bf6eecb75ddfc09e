"""An SVM whose kernel LIBSVM computes from features is the SVM on the Gram matrix."""

from __future__ import annotations

import pickle
import tracemalloc
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from mklbench import KernelSVC
from mklbench.algorithms import svm
from mklbench.errors import InputError
from mklbench.estimators import simplex
from mklbench.kernels import DenseBank, Gaussian, KernelBuilder, gaussian, gaussians
from mklbench.kernels.banks.function_bank import FunctionKernel
from mklbench.kernels.functions import KernelFunction
from mklbench.optim import fixed_kernel

X, CODES = make_classification(300, 6, n_informative=4, flip_y=0.1, random_state=0)
Y = np.where(CODES == 1, 1.0, -1.0)
FUNCTIONS: dict[str, KernelFunction] = {
    "gaussian": Gaussian(0.2),
    "wide gaussian": Gaussian(0.01),
}


@pytest.mark.parametrize("weight", [1.0, 0.3])
@pytest.mark.parametrize("class_weight", [None, "balanced", {-1: 3.0}])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_is_the_svm_on_the_gram_matrix(
    name: str, class_weight: dict[int, float] | str | None, weight: float
) -> None:
    function: KernelFunction = FUNCTIONS[name]
    C, few = 0.5, slice(0, 220)  # so that the classes are not equally large
    options = {"C": C, "weights": [weight], "svm_tol": 1e-5, "class_weight": class_weight}
    ours = svm.solve(FunctionKernel(X[few], function), Y[few], **options)  # type: ignore[arg-type]
    theirs = svm.solve(DenseBank(X[few], [function]), Y[few], **options)  # type: ignore[arg-type]
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)
    assert ours.gap < 1e-4
    assert ours.converged
    K = weight * function(X[few], X[few].copy())
    np.testing.assert_allclose(
        K @ ours.dual_coef + ours.intercept,
        K @ theirs.dual_coef + theirs.intercept,
        rtol=1e-3,
        atol=1e-3,
    )
    assert abs(ours.dual_coef.sum()) < 1e-9
    assert (ours.dual_coef * Y[few] >= 0).all()


def test_an_unfinished_machine_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """LIBSVM ends by its limit, not by its rule."""

    def ended(machine: SVC, samples: np.ndarray, labels: np.ndarray) -> float:
        with pytest.warns(ConvergenceWarning):
            machine.set_params(max_iter=3).fit(samples, labels)
        return 0.0

    monkeypatch.setattr(fixed_kernel, "fit_within_limit", ended)
    solution = svm.solve(FunctionKernel(X, FUNCTIONS["gaussian"]), Y)
    assert not solution.converged


def test_a_weight_of_0_is_a_machine_on_nothing() -> None:
    kernel = FunctionKernel(X, FUNCTIONS["gaussian"])
    ours = svm.solve(kernel, Y, weights=[0.0])
    assert ours.objective == pytest.approx(svm.solve(gaussian(X), Y, weights=[0.0]).objective)


@pytest.mark.parametrize(
    "kernel", ["gaussian", partial(gaussian, gamma=0.2), partial(gaussians, gammas=[0.2])]
)
def test_the_estimator_takes_it_for_many_samples(
    kernel: str | KernelBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = np.where(X[:, 0] > 1, 2, CODES)
    before = KernelSVC(kernel, C=10.0, svm_tol=1e-6).fit(X, target)
    monkeypatch.setattr(simplex, "_MANY", 10)
    monkeypatch.setattr(FunctionKernel, "gram", lambda *given: pytest.fail("a Gram matrix"))
    after = KernelSVC(kernel, C=10.0, svm_tol=1e-6).fit(X, target)
    assert isinstance(after._decide.kernels, FunctionKernel)
    new = X + 0.1
    np.testing.assert_allclose(
        after.decision_function(new), before.decision_function(new), atol=1e-3
    )
    assert after.kernel_names_ == before.kernel_names_
    assert len(pickle.dumps(after)) < 150_000


def test_other_kernels_have_a_gram_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simplex, "_MANY", 10)
    for kernel in ("feature_gaussians", "linear_features", partial(gaussians, gammas=[1.0, 2.0])):
        monkeypatch.setattr(FunctionKernel, "__init__", lambda *given: pytest.fail("it is used"))
        KernelSVC(kernel).fit(X, CODES)


def test_no_gram_matrix_is_formed() -> None:
    n = 1500
    samples, codes = make_classification(n, 6, n_informative=4, random_state=1)
    tracemalloc.start()
    model = KernelSVC(C=1.0).fit(samples, codes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.solutions_[0].converged
    assert peak < 0.75 * 8 * n * n


def test_an_option_is_refused_as_ever() -> None:
    kernel = FunctionKernel(X, FUNCTIONS["gaussian"])
    with pytest.raises(InputError, match="C=0"):
        svm.solve(kernel, Y, 0.0)
    with pytest.raises(InputError, match="labels"):
        svm.solve(kernel, np.arange(300.0))


def test_its_gram_matrix_and_its_parts_are_those_of_the_bank() -> None:
    kernel, bank = FunctionKernel(X, FUNCTIONS["gaussian"]), DenseBank(X, [FUNCTIONS["gaussian"]])
    np.testing.assert_allclose(kernel.gram([2.0]), bank.gram([2.0]), atol=1e-12)
    some = np.arange(7, 40)
    np.testing.assert_allclose(kernel.take(some).cross([1.0], X), bank.take(some).cross([1.0], X))
