"""Estimators of kernel weights: on the simplex, in a norm, in groups, and of real targets."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from mklbench.estimators.base import estimator
from mklbench.estimators.learners import KernelLearner, KernelRegressor, SVMLearner, TakesMethod
from mklbench.estimators.weights import ClassWeights
from mklbench.kernels import Kernel, KernelBuilder
from mklbench.kernels.groups import GroupLists

__all__ = [
    "CKL",
    "MKL",
    "SMKL",
    "VSKL",
    "ElasticNetMKL",
    "HessianMKL",
    "KernelSVC",
    "MKLRegressor",
    "SimpleMKL",
    "UniformMKL",
]


@estimator
class KernelSVC(SVMLearner):
    """Support vector machine at fixed kernel weights (`mklbench.algorithms.svm`).

    Parameters
    ----------
    kernel : str, callable or list
        See `mklbench.estimators`.
    verbose : int
        Prints nothing at any value: there are no iterations to tell of.
    weights : array_like of shape (M,) or None
        Kernel weights >= 0; 1/M each if None.
    """

    _algorithm = "mklbench.algorithms.svm"

    kernel: Kernel = "gaussian"
    C: float = 1.0
    weights: ArrayLike | None = None


@estimator
class UniformMKL(TakesMethod, SVMLearner):
    """The uniform combination of kernels (`mklbench.algorithms.uniform`).

    Parameters
    ----------
    kernel : str, callable or list
        See `mklbench.estimators`.
    svm_tol : float
        LIBSVM's stopping tolerance; of the joint method the certified relative duality gap.
    verbose : int
        Prints nothing at any value: there are no iterations to tell of.
    method : {"auto", "libsvm", "joint"}
        "libsvm" solves an SVM on the Gram matrix; "joint" one on factors, for many samples with
        kernels on single features; "auto" takes the faster of the two. `method_` says which it was.
    """

    _algorithm = "mklbench.algorithms.uniform"

    kernel: Kernel = "gaussians"
    C: float = 3.0
    method: Literal["auto", "libsvm", "joint"] = "auto"


@estimator
class MKL(TakesMethod, KernelLearner):
    """Sparse convex combination of kernels by the default exact solver (`mklbench.algorithms.mkl`).

    Parameters
    ----------
    C : float
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    p : float or None
        Of the l_p norm of the weights, >= 1, infinity included: the larger, the more alike they
        are. None is 1, where they are sparse.
    max_iter : int
        Maximum number of SVM calls; for p > 1, of changes of the weights; for the
        joint method, of iterations.
    method : {"auto", "libsvm", "joint"}
        "libsvm" solves SVMs on Gram matrices; "joint" all together on factors, for many samples
        with kernels on single features; "auto" takes the faster of the two. `method_` says which
        it was. The joint method gives the function in `solutions_` as an expansion on nodes of
        the kernels, and predicts with these; `dual_coef_` are the numbers that prove its gap.
    warm_start : bool
        Whether `fit` starts at the weights of the fit before, if that had the same
        classes; kernels behind those it had start at 0, and with fewer kernels it starts from
        nothing. The result is the same to within `tol`, but found sooner on a path of C or with a
        kernel more each time.
    """

    _algorithm = "mklbench.algorithms.mkl"

    kernel: Kernel = "simplemkl"
    C: float = 100.0
    p: float | None = None
    tol: float = 1e-4
    max_iter: int = 100
    method: Literal["auto", "libsvm", "joint"] = "auto"
    warm_start: bool = False
    class_weight: ClassWeights = None
    verbose: int = 0


@estimator
class SimpleMKL(SVMLearner):
    """Sparse convex combination of kernels (`mklbench.algorithms.simplemkl`).

    Parameters
    ----------
    C : float
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    max_iter : int
        Maximum number of descent directions.
    line_search_tol : float
        A line search ends where the slope of the objective has shrunk to this.
    """

    _algorithm = "mklbench.algorithms.simplemkl"

    tol: float = 1e-2
    objective_tol: float | None = None
    max_iter: int = 500
    line_search_tol: float = 0.1


@estimator
class HessianMKL(SVMLearner):
    """Sparse convex combination of kernels by Newton's method (`mklbench.algorithms.hessianmkl`).

    Parameters
    ----------
    C : float
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    max_iter : int
        Maximum number of Newton steps.
    """

    _algorithm = "mklbench.algorithms.hessianmkl"

    tol: float = 1e-2
    objective_tol: float | None = None
    max_iter: int = 200


@estimator
class SMKL(SVMLearner):
    """Weights of at most so many kernels (`mklbench.algorithms.smkl`).

    Parameters
    ----------
    lam : float
        Factor > 0 on the squared norm of the weights: the larger, the more alike they are.
    cardinality : int
        The largest number of kernels with a weight.
    method : {"alternating", "exact"}
        "alternating" answers an SVM with the best weights, and these with an SVM; "exact" finds the
        optimum, of at most 10,000 sets of kernels.
    tol : float
        "alternating" ends when three rounds have not lowered the objective by this; "exact" at
        this relative gap.
    max_iter : int
        Maximum number of rounds, or of SVMs of "exact".

    Notes
    -----
    "alternating" can end far from the optimum, at one kernel that fits every training sample, as on
    pima with the defaults: `gap_` tells how far. "exact" is then the better choice.
    """

    _algorithm = "mklbench.algorithms.smkl"

    kernel: Kernel = "gaussians"
    C: float = 3.0
    lam: float = 0.1
    cardinality: int = 3
    method: Literal["alternating", "exact"] = "alternating"
    tol: float = 1e-2
    max_iter: int = 50


@estimator
class MKLRegressor(TakesMethod, KernelRegressor):
    """Support vector regression on a learned sparse combination of kernels (`mkl_svr`).

    The problem is in `mklbench.algorithms.mkl_svr`.

    Parameters
    ----------
    C : float
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual; it
        has the units of y.
    epsilon : float
        Half the width of the tube in which errors cost nothing, in units of y.
    max_iter : int
        Maximum number of SVR calls; for the joint method, of iterations.
    method : {"auto", "libsvm", "joint"}
        "libsvm" solves SVRs on Gram matrices; "joint" all together on factors, for many samples
        with kernels on single features; "auto" takes the faster of the two. `method_` says which it
        was.
    """

    _algorithm = "mklbench.algorithms.mkl_svr"

    kernel: Kernel = "simplemkl"
    C: float = 100.0
    epsilon: float = 0.1
    tol: float = 1e-4
    max_iter: int = 100
    method: Literal["auto", "libsvm", "joint"] = "auto"
    verbose: int = 0


@estimator
class ElasticNetMKL(TakesMethod, SVMLearner):
    """Kernels between a sparse combination and their plain sum (`mklbench.algorithms.elastic_net`).

    Parameters
    ----------
    kernel : str or KernelBuilder
        Name or callable of a bank, see `mklbench.estimators`.
    svm_tol : float
        LIBSVM's stopping tolerance, to begin with.
    mix : float
        In (0, 1], the share of the squared norms: 1 for the plain sum of kernels, towards 0 for
        sparse weights.
    max_iter : int
        Maximum number of changes of the weights.
    method : {"auto", "libsvm", "joint"}
        "libsvm" takes SVMs and weights in turn; "joint" finds all together on factors, for many
        samples with kernels on single features; "auto" takes what is faster. `method_` says which
        it was.
    """

    _algorithm = "mklbench.algorithms.elastic_net"

    kernel: str | KernelBuilder = "gaussians"
    C: float = 3.0
    mix: float = 0.5
    tol: float = 1e-4
    max_iter: int = 1000
    method: Literal["auto", "libsvm", "joint"] = "auto"


@estimator
class VSKL(TakesMethod, SVMLearner):
    """Kernels in groups, few of each and all groups (`mklbench.algorithms.vskl`).

    Parameters
    ----------
    C : float
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    q : float
        >= 1, `math.inf` included; the larger, the more alike are the groups' norms.
    groups : str or GroupLists
        "bank" for the bank's own groups, or one of all kernels where it has none; "one",
        "singletons" or "features"; or lists of kernel indices.
    max_iter : int
        Maximum number of steps of the mirror descent.
    step_size : float or None
        Factor A of the step size; 3 times the square root of the number of groups if None.
    method : {"auto", "libsvm", "joint"}
        "libsvm" is the mirror descent; "joint" finds all together on factors, for many samples with
        kernels on single features; "auto" takes the second where it is faster and neither
        `objective_tol` nor `step_size` is given. `method_` says which it was.
    """

    _algorithm = "mklbench.algorithms.vskl"

    q: float = 2.0
    groups: str | GroupLists = "bank"
    tol: float = 1e-2
    objective_tol: float | None = None
    max_iter: int = 1000
    step_size: float | None = None
    method: Literal["auto", "libsvm", "joint"] = "auto"


@estimator
class CKL(SVMLearner):
    """Kernels in groups, few of each and few groups; l_p-norm MKL (`mklbench.algorithms.ckl`).

    Parameters
    ----------
    C : float
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    q : float
        1/2 <= q < 1, the smaller the sparser across groups. With groups of one kernel this is
        l_p-norm MKL, p = q / (1 - q).
    groups : str or GroupLists
        "bank" for the bank's own groups, or one of all kernels where it has none; "one",
        "singletons" or "features"; or lists of kernel indices.
    max_iter : int
        Maximum number of changes of the weights.
    """

    _algorithm = "mklbench.algorithms.ckl"

    q: float = 0.75
    groups: str | GroupLists = "bank"
    tol: float = 1e-2
    objective_tol: float | None = None
    max_iter: int = 1000
