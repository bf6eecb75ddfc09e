"""The elastic net of kernels: ``ElasticNetMKL(mix=0.5).fit(X, y)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mklbench.algorithms import elastic_net
from mklbench.estimators.learners import KernelLearner
from mklbench.estimators.methods import TakesMethod
from mklbench.estimators.weights import ClassWeights
from mklbench.kernels import KernelBuilder

__all__ = ["ElasticNetMKL"]


@dataclass(eq=False, repr=False)
class ElasticNetMKL(TakesMethod, KernelLearner):
    """Kernels between a sparse combination and their plain sum (`mklbench.algorithms.elastic_net`).

    Parameters
    ----------
    kernel : str or KernelBuilder, default="gaussians"
        Name or callable of a bank, see `mklbench.estimators`.
    C : float, default=3.0
        Box constraint.
    mix : float, default=0.5
        In (0, 1], the share of the squared norms: 1 for the plain sum of kernels, towards 0 for
        sparse weights.
    tol : float, default=0.0001
        Certified relative duality gap at which to stop.
    max_iter : int, default=1000
        Maximum number of changes of the weights.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance, to begin with.
    method : {"auto", "libsvm", "joint"}, default="auto"
        "libsvm" takes SVMs and weights in turn; "joint" finds all together on factors, for many
        samples with kernels on single features; "auto" takes what is faster. `method_` says which
        it was.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        1 prints a line an iteration: J, its gap, active kernels, seconds.
    """

    _algorithm = elastic_net

    kernel: str | KernelBuilder = "gaussians"
    C: float = 3.0
    mix: float = 0.5
    tol: float = 1e-4
    max_iter: int = 1000
    svm_tol: float = 1e-3
    method: Literal["auto", "libsvm", "joint"] = "auto"
    class_weight: ClassWeights = None
    verbose: int = 0
