"""Scikit-learn estimators of two-stage learning and of fusion: ``AlignF(C=10).fit(X, y)``.

Kernels weighted by their alignment with the targets, machines fused early or late, and the best
single kernel. The machine, ``learner``, is "svm", "krr" (kernel ridge regression, by sign in a
classifier) or "svr" (support vector regression); each takes its own hyperparameters. The parameter
``kernel`` is as in `mklbench.estimators`.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from mklbench.estimators.base import estimator
from mklbench.estimators.learners import KernelLearner, KernelRegressor, SVMLearner
from mklbench.estimators.weights import ClassWeights
from mklbench.kernels import Kernel
from mklbench.kernels.groups import GroupLists

__all__ = [
    "CKA",
    "PWMK",
    "Align",
    "AlignF",
    "AlignFRegressor",
    "AlignRegressor",
    "AlignSDP",
    "BestKernel",
    "EarlyFusion",
    "FHeuristic",
    "KernelSVR",
    "LateFusion",
]


@estimator
class _WithLearner:
    """The hyperparameters of a machine, an SVM unless told otherwise.

    Parameters
    ----------
    C : float
        Box constraint of "svm" and "svr".
    learner : str
        The second stage, "svm", "krr" or "svr".
    lam : float
        The ridge lambda of "krr".
    epsilon : float
        Half the width of the tube of "svr".
    verbose : int
        Prints nothing at any value: there are no iterations to tell of.
    """

    kernel: Kernel = "gaussians"
    C: float = 3.0
    learner: str = "svm"
    lam: float = 1.0
    epsilon: float = 0.1
    svm_tol: float = 1e-3
    class_weight: ClassWeights = None
    verbose: int = 0


@estimator
class _WithFolds(KernelLearner):
    """A random state in the place of the seed of the folds.

    Parameters
    ----------
    random_state : int, RandomState or None
        Seed of the folds; None for others at each fit.
    """

    folds: int = 5
    random_state: int | np.random.RandomState | None = 0

    _parameter_constraints = KernelLearner._parameter_constraints | {
        "random_state": ["random_state"]
    }

    def _hyperparameters(self) -> dict[str, Any]:
        hyperparameters = super()._hyperparameters()
        state = hyperparameters.pop("random_state")
        hyperparameters["seed"] = (
            int(state)
            if isinstance(state, Integral)
            else int(check_random_state(state).randint(np.iinfo(np.int32).max))
        )
        return hyperparameters


@estimator
class Align(_WithLearner, KernelLearner):
    """Kernels weighted by their own alignment with the classes (`mklbench.algorithms.align`).

    Notes
    -----
    A `sample_weight` of 2 is a factor on C, or on the squared error, of the machine. The alignments
    count every row that is not left out once, so that it is not the row twice.
    """

    _algorithm = "mklbench.algorithms.align"


@estimator
class AlignF(_WithLearner, KernelLearner):
    """The combination of largest alignment with the classes (`mklbench.algorithms.alignf`).

    Parameters
    ----------
    programme : str
        "alignment", or "simplex" for weights that sum to 1.

    Notes
    -----
    A `sample_weight` of 2 is a factor on C, or on the squared error, of the machine. The alignments
    count every row that is not left out once, so that it is not the row twice.
    """

    _algorithm = "mklbench.algorithms.alignf"

    programme: str = "alignment"


@estimator
class AlignSDP(_WithLearner, KernelLearner):
    """The semidefinite combination of largest alignment (`mklbench.algorithms.align_sdp`).

    Weights may be negative, as long as the combination is a kernel on the training samples.

    Parameters
    ----------
    kernel : str, callable or list
        A bank of at most 200 kernels, see `mklbench.estimators`.
    verbose : int
        1 prints a line a round: the alignment as J, its gap, active kernels, seconds.
    tol : float
        Relative gap of the alignment at which to stop.
    max_iter : int
        Maximum number of rounds of new constraints.

    Notes
    -----
    A `sample_weight` of 2 is a factor on C, or on the squared error, of the machine. The alignments
    count every row that is not left out once, so that it is not the row twice.
    """

    _algorithm = "mklbench.algorithms.align_sdp"

    tol: float = 1e-3
    max_iter: int = 200


@estimator
class CKA(SVMLearner):
    """The combination of largest alignment, of either sign (`mklbench.algorithms.cka`).

    Parameters
    ----------
    verbose : int
        Prints nothing at any value: there are no iterations to tell of.

    Notes
    -----
    A `sample_weight` of 2 is a factor on C of the machine. The alignments count every row that is
    not left out once, so that it is not the row twice.

    Weights below 0 take kernels off others, and what is left may be no kernel: that can cost
    accuracy, 2.5 points beside scikit-learn's SVC on ionosphere with the defaults.
    """

    _algorithm = "mklbench.algorithms.cka"

    kernel: Kernel = "gaussians"
    C: float = 3.0


@estimator
class EarlyFusion(_WithLearner, KernelLearner):
    """One machine on one kernel of all features (`mklbench.algorithms.early_fusion`).

    Standardise the features first, so that none outweighs the others by its units.

    Parameters
    ----------
    kernel : str, callable or list
        A bank of one kernel, see `mklbench.estimators`.
    learner : str
        "svm", "krr" or "svr".
    """

    _algorithm = "mklbench.algorithms.early_fusion"

    kernel: Kernel = "gaussian"
    C: float = 1.0


@estimator
class LateFusion(_WithLearner, KernelLearner):
    """One machine a kernel, and their mean or vote (`mklbench.algorithms.late_fusion`).

    Parameters
    ----------
    learner : str
        "svm", "krr" or "svr".
    vote : bool
        Whether the majority decides, in place of the mean decision value.
    groups : str or GroupLists
        The kernels of each machine: "singletons", "bank" for the bank's own groups, "one" or
        "features"; or lists of kernel indices.
    folds : int or None
        Number of folds by which each machine chooses its own C or lam; None for the same in all.
    """

    _algorithm = "mklbench.algorithms.late_fusion"
    _combines = False

    vote: bool = False
    groups: str | GroupLists = "singletons"
    folds: int | None = None


@estimator
class BestKernel(_WithFolds, _WithLearner):
    """The best single kernel by cross-validation (`mklbench.algorithms.best_kernel`).

    Parameters
    ----------
    C : float
        Box constraint of "svm" and "svr".
    learner : str
        "svm", "krr" or "svr".
    verbose : int
        Prints nothing at any value: there are no iterations to tell of.
    folds : int
        Number of folds.

    Notes
    -----
    A `sample_weight` of 2 is a factor on C, or on the squared error, of each machine. Held-out rows
    count once, whatever they weigh, so that it is not the row twice.
    """

    _algorithm = "mklbench.algorithms.best_kernel"


@estimator
class KernelSVR(KernelRegressor):
    """Support vector regression at fixed kernel weights (`mklbench.algorithms.svr`).

    Parameters
    ----------
    kernel : str, callable or list
        See `mklbench.estimators`.
    epsilon : float
        Half the width of the tube in which errors cost nothing.
    weights : array_like of shape (M,) or None
        Kernel weights >= 0; 1/M each if None.
    verbose : int
        Prints nothing at any value: there are no iterations to tell of.
    """

    _algorithm = "mklbench.algorithms.svr"

    kernel: Kernel = "gaussian"
    C: float = 1.0
    epsilon: float = 0.1
    weights: ArrayLike | None = None
    svm_tol: float = 1e-3
    verbose: int = 0


@estimator
class AlignRegressor(KernelRegressor):
    """Kernels weighted by their own alignment with real targets (`mklbench.algorithms.align`).

    Parameters
    ----------
    learner : str
        The second stage, "krr" or "svr".
    lam : float
        The ridge lambda of "krr".
    C : float
        Box constraint of "svr".
    epsilon : float
        Half the width of the tube of "svr", in units of y.
    svm_tol : float
        LIBSVM's stopping tolerance of "svr".
    verbose : int
        Prints nothing at any value: there are no iterations to tell of.

    Notes
    -----
    A `sample_weight` of 2 is a factor on C, or on the squared error, of the machine. The alignments
    count every row that is not left out once, so that it is not the row twice.
    """

    _algorithm = "mklbench.algorithms.align"

    kernel: Kernel = "feature_gaussians"
    learner: str = "krr"
    lam: float = 1.0
    C: float = 1.0
    epsilon: float = 0.1
    svm_tol: float = 1e-3
    verbose: int = 0


@estimator
class AlignFRegressor(AlignRegressor):
    """The combination of largest alignment with real targets (`mklbench.algorithms.alignf`).

    Parameters
    ----------
    programme : str
        "alignment", or "simplex" for weights that sum to 1.

    Notes
    -----
    A `sample_weight` of 2 is a factor on C, or on the squared error, of the machine. The alignments
    count every row that is not left out once, so that it is not the row twice.
    """

    _algorithm = "mklbench.algorithms.alignf"

    programme: str = "alignment"


@estimator
class PWMK(_WithFolds, SVMLearner):
    """Kernels weighted by what each is worth alone (`mklbench.algorithms.pwmk`).

    Parameters
    ----------
    C : float
        Box constraint, of the machines on single kernels as well.
    verbose : int
        Prints nothing at any value: there are no iterations to tell of.
    folds : int
        Number of folds in which the kernels are tried.
    delta : float
        The threshold as a share of the smallest accuracy, in [0, 1]; at 1 the worst kernel is left
        out.

    Notes
    -----
    A `sample_weight` of 2 is a factor on C, or on the squared error, of each machine. Held-out rows
    count once, whatever they weigh, so that it is not the row twice.
    """

    _algorithm = "mklbench.algorithms.pwmk"

    kernel: Kernel = "gaussians"
    C: float = 3.0
    delta: float = 0.0


@estimator
class FHeuristic(_WithLearner, KernelLearner):
    """Kernels weighted by their alignment, not centred (`mklbench.algorithms.f_heuristic`).

    Parameters
    ----------
    learner : str
        What is learned on the sum, "svm", "krr" or "svr".

    Notes
    -----
    A `sample_weight` of 2 is a factor on C, or on the squared error, of the machine. The alignments
    count every row that is not left out once, so that it is not the row twice.
    """

    _algorithm = "mklbench.algorithms.f_heuristic"
