"""Kernels by scikit-learn's names have its values, in the library and in runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics import pairwise
from sklearn.svm import SVC

from mklbench import MKL, KernelSVC, cli
from mklbench.errors import InputError
from mklbench.kernels import BUILDERS

rng = np.random.default_rng(0)
X, Z = np.abs(rng.normal(size=(60, 4))), np.abs(rng.normal(size=(20, 4)))
Y = X[:, 0] > X[:, 1]
THEIRS: dict[str, tuple[str, dict[str, Any]]] = {
    "linear": ("linear_kernel", {}),
    "poly": ("polynomial_kernel", {"degree": 2, "gamma": 0.3, "coef0": 0.5}),
    "rbf": ("rbf_kernel", {"gamma": 0.3}),
    "laplacian": ("laplacian_kernel", {"gamma": 0.3}),
    "cosine": ("cosine_similarity", {}),
    "chi2": ("chi2_kernel", {"gamma": 0.3}),
}


@pytest.mark.parametrize("name", THEIRS)
def test_values_are_those_of_scikit_learn(name: str) -> None:
    function, options = THEIRS[name]
    theirs = getattr(pairwise, function)
    for given in ({}, options):
        bank: Any = BUILDERS[name](X, **given)
        assert_allclose(bank.combine([1.0]), theirs(X, **given), rtol=0, atol=1e-10)
        assert_allclose(bank.cross([1.0], Z), theirs(Z, X, **given), rtol=0, atol=1e-10)
    kernel = partial(BUILDERS[name], **options)
    ours = KernelSVC(kernel=kernel, svm_tol=1e-8).fit(X, Y)
    svc = SVC(kernel=partial(theirs, **options), tol=1e-8).fit(X, Y)
    assert_allclose(ours.decision_function(Z), svc.decision_function(Z), atol=1e-4)


def test_names_stand_in_lists_and_take_sparse_samples() -> None:
    model = MKL(kernel=list(THEIRS)).fit(X, Y)
    assert model.kernel_names_[3:] == [
        "laplacian 0.25 on all columns",
        "cosine on all columns",
        "chi2 1 on all columns",
    ]
    names = ["linear", "poly", "rbf", "laplacian", "cosine"]
    dense, thin = (MKL(kernel=names).fit(each, Y) for each in (X, sparse.csr_array(X)))
    assert_allclose(
        thin.decision_function(sparse.csr_array(Z)), dense.decision_function(Z), atol=1e-6
    )


def test_what_is_no_histogram_is_told_by_its_column() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "income", "d"])
    bad = frame.copy()
    bad.iloc[3, 2] = -1.0
    for given in (frame, bad):
        with pytest.raises(InputError, match="holds -1 at row 3, column 'income': chi2 compares"):
            MKL(kernel="chi2").fit(given, Y).predict(bad)


@pytest.mark.parametrize("name", ["poly", "chi2"])
def test_a_run_takes_them(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = [f"kernel.{key}={value}" for key, value in THEIRS[name][1].items()]
    line = ["run", "algo=svm", f"kernel={name}", *options, "data=wdbc", "split.n_splits=1"]
    line.append(f"split.scaling={'none' if name == 'chi2' else 'standard'}")
    assert cli.main([*line, f"results_dir={tmp_path}"]) == 0
    assert name in capsys.readouterr().out
