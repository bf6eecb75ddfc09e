"""Scikit-learn estimators of two-stage learning and of fusion: ``AlignF(C=10).fit(X, y)``.

Kernels weighted by their alignment with the targets, machines fused early or late, and the best
single kernel. The machine, ``learner``, is "svm", "krr" (kernel ridge regression, by sign in a
classifier) or "svr" (support vector regression); each takes its own hyperparameters. The parameter
``kernel`` is as in `mklbench.estimators`.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from mklbench.algorithms import align, alignf, best_kernel, early_fusion, late_fusion, svr
from mklbench.estimators.base import KernelLearner, KernelRegressor
from mklbench.kernels import KernelBuilder
from mklbench.kernels.groups import GroupLists

__all__ = [
    "Align",
    "AlignF",
    "AlignFRegressor",
    "AlignRegressor",
    "BestKernel",
    "EarlyFusion",
    "KernelSVR",
    "LateFusion",
]


class _WithLearner:
    """The hyperparameters of a machine, an SVM unless told otherwise."""

    def __init__(
        self,
        kernel: str | KernelBuilder = "feature_gaussians",
        C: float = 1.0,
        learner: str = "svm",
        lam: float = 1.0,
        epsilon: float = 0.1,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.learner = learner
        self.lam = lam
        self.epsilon = epsilon
        self.svm_tol = svm_tol


class Align(_WithLearner, KernelLearner):
    """Kernels weighted by their own alignment with the classes (`mklbench.algorithms.align`).

    Parameters
    ----------
    kernel : str or KernelBuilder, default="feature_gaussians"
        Name or callable of a bank, see `mklbench.estimators`.
    C : float, default=1.0
        Box constraint of "svm" and "svr".
    learner : str, default="svm"
        The second stage, "svm", "krr" or "svr".
    lam : float, default=1.0
        The ridge lambda of "krr".
    epsilon : float, default=0.1
        Half the width of the tube of "svr".
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    """

    _algorithm = align


class AlignF(_WithLearner, KernelLearner):
    """The combination of largest alignment with the classes (`mklbench.algorithms.alignf`).

    Parameters
    ----------
    kernel : str or KernelBuilder, default="feature_gaussians"
        Name or callable of a bank, see `mklbench.estimators`.
    C : float, default=1.0
        Box constraint of "svm" and "svr".
    learner : str, default="svm"
        The second stage, "svm", "krr" or "svr".
    programme : str, default="alignment"
        "alignment", or "simplex" for weights that sum to 1.
    lam : float, default=1.0
        The ridge lambda of "krr".
    epsilon : float, default=0.1
        Half the width of the tube of "svr".
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    """

    _algorithm = alignf

    def __init__(
        self,
        kernel: str | KernelBuilder = "feature_gaussians",
        C: float = 1.0,
        learner: str = "svm",
        programme: str = "alignment",
        lam: float = 1.0,
        epsilon: float = 0.1,
        svm_tol: float = 1e-3,
    ) -> None:
        super().__init__(kernel, C, learner, lam, epsilon, svm_tol)
        self.programme = programme


class EarlyFusion(_WithLearner, KernelLearner):
    """One machine on one kernel of all features (`mklbench.algorithms.early_fusion`).

    Standardise the features first, so that none outweighs the others by its units.

    Parameters
    ----------
    kernel : str or KernelBuilder, default="gaussian"
        Name or callable of a bank of one kernel, see `mklbench.estimators`.
    C : float, default=1.0
        Box constraint of "svm" and "svr".
    learner : str, default="svm"
        "svm", "krr" or "svr".
    lam : float, default=1.0
        The ridge lambda of "krr".
    epsilon : float, default=0.1
        Half the width of the tube of "svr".
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    """

    _algorithm = early_fusion

    def __init__(
        self,
        kernel: str | KernelBuilder = "gaussian",
        C: float = 1.0,
        learner: str = "svm",
        lam: float = 1.0,
        epsilon: float = 0.1,
        svm_tol: float = 1e-3,
    ) -> None:
        super().__init__(kernel, C, learner, lam, epsilon, svm_tol)


class LateFusion(_WithLearner, KernelLearner):
    """One machine a kernel, and their mean or vote (`mklbench.algorithms.late_fusion`).

    Parameters
    ----------
    kernel : str or KernelBuilder, default="feature_gaussians"
        Name or callable of a bank, see `mklbench.estimators`.
    C : float, default=1.0
        Box constraint of "svm" and "svr".
    vote : bool, default=False
        Whether the majority decides, in place of the mean decision value.
    groups : str or GroupLists, default="singletons"
        The kernels of each machine: "singletons", "bank" for the bank's own groups, "one" or
        "features"; or lists of kernel indices.
    learner : str, default="svm"
        "svm", "krr" or "svr".
    lam : float, default=1.0
        The ridge lambda of "krr".
    epsilon : float, default=0.1
        Half the width of the tube of "svr".
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    """

    _algorithm = late_fusion

    def __init__(
        self,
        kernel: str | KernelBuilder = "feature_gaussians",
        C: float = 1.0,
        vote: bool = False,
        groups: str | GroupLists = "singletons",
        learner: str = "svm",
        lam: float = 1.0,
        epsilon: float = 0.1,
        svm_tol: float = 1e-3,
    ) -> None:
        super().__init__(kernel, C, learner, lam, epsilon, svm_tol)
        self.vote = vote
        self.groups = groups


class BestKernel(_WithLearner, KernelLearner):
    """The best single kernel by cross-validation (`mklbench.algorithms.best_kernel`).

    Parameters
    ----------
    kernel : str or KernelBuilder, default="feature_gaussians"
        Name or callable of a bank, see `mklbench.estimators`.
    C : float, default=1.0
        Box constraint of "svm" and "svr".
    folds : int, default=5
        Number of folds.
    seed : int, default=0
        Of the folds.
    learner : str, default="svm"
        "svm", "krr" or "svr".
    lam : float, default=1.0
        The ridge lambda of "krr".
    epsilon : float, default=0.1
        Half the width of the tube of "svr".
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    """

    _algorithm = best_kernel

    def __init__(
        self,
        kernel: str | KernelBuilder = "feature_gaussians",
        C: float = 1.0,
        folds: int = 5,
        seed: int = 0,
        learner: str = "svm",
        lam: float = 1.0,
        epsilon: float = 0.1,
        svm_tol: float = 1e-3,
    ) -> None:
        super().__init__(kernel, C, learner, lam, epsilon, svm_tol)
        self.folds = folds
        self.seed = seed


class KernelSVR(KernelRegressor):
    """Support vector regression at fixed kernel weights (`mklbench.algorithms.svr`).

    Parameters
    ----------
    kernel : str or KernelBuilder, default="gaussian"
        Name or callable, see `mklbench.estimators`.
    C : float, default=1.0
        Box constraint.
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing.
    weights : array_like of shape (M,) or None, default=None
        Kernel weights >= 0; 1/M each if None.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    """

    _algorithm = svr

    def __init__(
        self,
        kernel: str | KernelBuilder = "gaussian",
        C: float = 1.0,
        epsilon: float = 0.1,
        weights: ArrayLike | None = None,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.epsilon = epsilon
        self.weights = weights
        self.svm_tol = svm_tol


class AlignRegressor(KernelRegressor):
    """Kernels weighted by their own alignment with real targets (`mklbench.algorithms.align`).

    Parameters
    ----------
    kernel : str or KernelBuilder, default="feature_gaussians"
        Name or callable of a bank, see `mklbench.estimators`.
    learner : str, default="krr"
        The second stage, "krr" or "svr".
    lam : float, default=1.0
        The ridge lambda of "krr".
    C : float, default=1.0
        Box constraint of "svr".
    epsilon : float, default=0.1
        Half the width of the tube of "svr", in units of y.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance of "svr".
    """

    _algorithm = align

    def __init__(
        self,
        kernel: str | KernelBuilder = "feature_gaussians",
        learner: str = "krr",
        lam: float = 1.0,
        C: float = 1.0,
        epsilon: float = 0.1,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.learner = learner
        self.lam = lam
        self.C = C
        self.epsilon = epsilon
        self.svm_tol = svm_tol


class AlignFRegressor(AlignRegressor):
    """The combination of largest alignment with real targets (`mklbench.algorithms.alignf`).

    Parameters
    ----------
    kernel : str or KernelBuilder, default="feature_gaussians"
        Name or callable of a bank, see `mklbench.estimators`.
    learner : str, default="krr"
        The second stage, "krr" or "svr".
    programme : str, default="alignment"
        "alignment", or "simplex" for weights that sum to 1.
    lam : float, default=1.0
        The ridge lambda of "krr".
    C : float, default=1.0
        Box constraint of "svr".
    epsilon : float, default=0.1
        Half the width of the tube of "svr", in units of y.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance of "svr".
    """

    _algorithm = alignf

    def __init__(
        self,
        kernel: str | KernelBuilder = "feature_gaussians",
        learner: str = "krr",
        programme: str = "alignment",
        lam: float = 1.0,
        C: float = 1.0,
        epsilon: float = 0.1,
        svm_tol: float = 1e-3,
    ) -> None:
        super().__init__(kernel, learner, lam, C, epsilon, svm_tol)
        self.programme = programme
