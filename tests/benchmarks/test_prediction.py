"""The benchmark of predictions compares with what it says."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.prediction import new_rows, problem, svc_of_size
from mklbench import KernelSVC


@pytest.mark.parametrize("n_support", [2, 41, 300])
def test_the_svc_beside_a_model_has_as_many_support_vectors(n_support: int) -> None:
    X, _ = problem(300)
    assert len(svc_of_size(X, n_support).support_) in (n_support, n_support - 1)


def test_both_machines_compute_the_same_kernel() -> None:
    X, _ = problem(200)
    svc, new = svc_of_size(X, 200), new_rows(X, 50)
    kernel = KernelSVC(kernel="gaussian", C=1e-6).fit(X, np.repeat([0, 1], 100))
    assert len(kernel.support_) == len(svc.support_) == 200
    ours, theirs = kernel.decision_function(new), svc.decision_function(new)
    np.testing.assert_allclose(ours - ours.mean(), theirs - theirs.mean(), atol=1e-9)
    assert np.ptp(theirs) > 1e-7
