"""Estimators of kernel weights: on the simplex, in a norm, in groups, and of real targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

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


@dataclass(eq=False, repr=False)
class KernelSVC(SVMLearner):
    """Support vector machine at fixed kernel weights (`mklbench.algorithms.svm`).

    Parameters
    ----------
    kernel : str, callable or list, default="gaussian"
        See `mklbench.estimators`.
    C : float, default=1.0
        Box constraint.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        Prints nothing at any value: there are no iterations to tell of.
    weights : array_like of shape (M,) or None, default=None
        Kernel weights >= 0; 1/M each if None.
    """

    _algorithm = "mklbench.algorithms.svm"

    kernel: Kernel = "gaussian"
    C: float = 1.0
    weights: ArrayLike | None = None


@dataclass(eq=False, repr=False)
class UniformMKL(TakesMethod, SVMLearner):
    """The uniform combination of kernels (`mklbench.algorithms.uniform`).

    Parameters
    ----------
    kernel : str, callable or list, default="gaussians"
        See `mklbench.estimators`.
    C : float, default=3.0
        Box constraint.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance; of the joint method the certified relative duality gap.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        Prints nothing at any value: there are no iterations to tell of.
    method : {"auto", "libsvm", "joint"}, default="auto"
        "libsvm" solves an SVM on the Gram matrix; "joint" one on factors, for many samples with
        kernels on single features; "auto" takes the faster of the two. `method_` says which it was.
    """

    _algorithm = "mklbench.algorithms.uniform"

    kernel: Kernel = "gaussians"
    C: float = 3.0
    method: Literal["auto", "libsvm", "joint"] = "auto"


@dataclass(eq=False, repr=False)
class MKL(TakesMethod, KernelLearner):
    """Sparse convex combination of kernels by the default exact solver (`mklbench.algorithms.mkl`).

    Parameters
    ----------
    kernel : str, callable or list, default="simplemkl"
        A bank, see `mklbench.estimators`.
    C : float, default=100.0
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    p : float or None, default=None
        Of the l_p norm of the weights, >= 1, infinity included: the larger, the more alike they
        are. None is 1, where they are sparse.
    tol : float, default=0.0001
        Certified relative duality gap at which to stop.
    max_iter : int, default=100
        Maximum number of SVM calls; for p > 1, of changes of the weights; for the
        joint method, of iterations.
    method : {"auto", "libsvm", "joint"}, default="auto"
        "libsvm" solves SVMs on Gram matrices; "joint" all together on factors, for many samples
        with kernels on single features; "auto" takes the faster of the two. `method_` says which
        it was. The joint method gives the function in `solutions_` as an expansion on nodes of
        the kernels, and predicts with these; `dual_coef_` are the numbers that prove its gap.
    warm_start : bool, default=False
        Whether `fit` starts at the weights of the fit before, if that had the same
        classes; kernels behind those it had start at 0, and with fewer kernels it starts from
        nothing. The result is the same to within `tol`, but found sooner on a path of C or with a
        kernel more each time.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        1 prints a line an iteration: J, its gap, active kernels, seconds.
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


@dataclass(eq=False, repr=False)
class SimpleMKL(SVMLearner):
    """Sparse convex combination of kernels (`mklbench.algorithms.simplemkl`).

    Parameters
    ----------
    kernel : str, callable or list, default="simplemkl"
        A bank, see `mklbench.estimators`.
    C : float, default=100.0
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        1 prints a line an iteration: J, its gap, active kernels, seconds.
    tol : float, default=0.01
        Certified relative duality gap at which to stop.
    objective_tol : float or None, default=None
        Relative change of the objective at which to stop as well; None for never.
    max_iter : int, default=500
        Maximum number of descent directions.
    line_search_tol : float, default=0.1
        A line search ends where the slope of the objective has shrunk to this.
    """

    _algorithm = "mklbench.algorithms.simplemkl"

    tol: float = 1e-2
    objective_tol: float | None = None
    max_iter: int = 500
    line_search_tol: float = 0.1


@dataclass(eq=False, repr=False)
class HessianMKL(SVMLearner):
    """Sparse convex combination of kernels by Newton's method (`mklbench.algorithms.hessianmkl`).

    Parameters
    ----------
    kernel : str, callable or list, default="simplemkl"
        A bank, see `mklbench.estimators`.
    C : float, default=100.0
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        1 prints a line an iteration: J, its gap, active kernels, seconds.
    tol : float, default=0.01
        Certified relative duality gap at which to stop.
    objective_tol : float or None, default=None
        Relative change of the objective at which to stop as well; None for never.
    max_iter : int, default=200
        Maximum number of Newton steps.
    """

    _algorithm = "mklbench.algorithms.hessianmkl"

    tol: float = 1e-2
    objective_tol: float | None = None
    max_iter: int = 200


@dataclass(eq=False, repr=False)
class SMKL(SVMLearner):
    """Weights of at most so many kernels (`mklbench.algorithms.smkl`).

    Parameters
    ----------
    kernel : str, callable or list, default="gaussians"
        A bank, see `mklbench.estimators`.
    C : float, default=3.0
        Box constraint.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        Prints nothing at any value.
    lam : float, default=0.1
        Factor > 0 on the squared norm of the weights: the larger, the more alike they are.
    cardinality : int, default=3
        The largest number of kernels with a weight.
    method : {"alternating", "exact"}, default="alternating"
        "alternating" answers an SVM with the best weights, and these with an SVM; "exact" finds the
        optimum, of at most 10,000 sets of kernels.
    tol : float, default=0.01
        "alternating" ends when three rounds have not lowered the objective by this; "exact" at
        this relative gap.
    max_iter : int, default=50
        Maximum number of rounds, or of SVMs of "exact".
    """

    _algorithm = "mklbench.algorithms.smkl"

    kernel: Kernel = "gaussians"
    C: float = 3.0
    lam: float = 0.1
    cardinality: int = 3
    method: Literal["alternating", "exact"] = "alternating"
    tol: float = 1e-2
    max_iter: int = 50


@dataclass(eq=False, repr=False)
class MKLRegressor(TakesMethod, KernelRegressor):
    """Support vector regression on a learned sparse combination of kernels (`mkl_svr`).

    The problem is in `mklbench.algorithms.mkl_svr`.

    Parameters
    ----------
    kernel : str, callable or list, default="simplemkl"
        A bank, see `mklbench.estimators`.
    C : float, default=100.0
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual; it
        has the units of y.
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing, in units of y.
    tol : float, default=0.0001
        Certified relative duality gap at which to stop.
    max_iter : int, default=100
        Maximum number of SVR calls; for the joint method, of iterations.
    method : {"auto", "libsvm", "joint"}, default="auto"
        "libsvm" solves SVRs on Gram matrices; "joint" all together on factors, for many samples
        with kernels on single features; "auto" takes the faster of the two. `method_` says which it
        was.
    verbose : int, default=0
        1 prints a line an iteration: J, its gap, active kernels, seconds.
    """

    _algorithm = "mklbench.algorithms.mkl_svr"

    kernel: Kernel = "simplemkl"
    C: float = 100.0
    epsilon: float = 0.1
    tol: float = 1e-4
    max_iter: int = 100
    method: Literal["auto", "libsvm", "joint"] = "auto"
    verbose: int = 0


@dataclass(eq=False, repr=False)
class ElasticNetMKL(TakesMethod, SVMLearner):
    """Kernels between a sparse combination and their plain sum (`mklbench.algorithms.elastic_net`).

    Parameters
    ----------
    kernel : str or KernelBuilder, default="gaussians"
        Name or callable of a bank, see `mklbench.estimators`.
    C : float, default=3.0
        Box constraint.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance, to begin with.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        1 prints a line an iteration: J, its gap, active kernels, seconds.
    mix : float, default=0.5
        In (0, 1], the share of the squared norms: 1 for the plain sum of kernels, towards 0 for
        sparse weights.
    tol : float, default=0.0001
        Certified relative duality gap at which to stop.
    max_iter : int, default=1000
        Maximum number of changes of the weights.
    method : {"auto", "libsvm", "joint"}, default="auto"
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


@dataclass(eq=False, repr=False)
class VSKL(TakesMethod, SVMLearner):
    """Kernels in groups, few of each and all groups (`mklbench.algorithms.vskl`).

    Parameters
    ----------
    kernel : str, callable or list, default="simplemkl"
        A bank, see `mklbench.estimators`.
    C : float, default=100.0
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        1 prints a line an iteration: J, its gap, active kernels, seconds.
    q : float, default=2.0
        >= 1, `math.inf` included; the larger, the more alike are the groups' norms.
    groups : str or GroupLists, default="bank"
        "bank" for the bank's own groups, or one of all kernels where it has none; "one",
        "singletons" or "features"; or lists of kernel indices.
    tol : float, default=0.01
        Certified relative duality gap at which to stop.
    objective_tol : float or None, default=None
        Relative change of the objective at which to stop as well; None for never.
    max_iter : int, default=1000
        Maximum number of steps of the mirror descent.
    step_size : float or None, default=None
        Factor A of the step size; 3 times the square root of the number of groups if None.
    method : {"auto", "libsvm", "joint"}, default="auto"
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


@dataclass(eq=False, repr=False)
class CKL(SVMLearner):
    """Kernels in groups, few of each and few groups; l_p-norm MKL (`mklbench.algorithms.ckl`).

    Parameters
    ----------
    kernel : str, callable or list, default="simplemkl"
        A bank, see `mklbench.estimators`.
    C : float, default=100.0
        Box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    svm_tol : float, default=0.001
        LIBSVM's stopping tolerance.
    class_weight : ClassWeights, default=None
        Factors on C by class label, or "balanced" for classes that all weigh the same
        (`mklbench.estimators.weights`).
    verbose : int, default=0
        1 prints a line an iteration: J, its gap, active kernels, seconds.
    q : float, default=0.75
        1/2 <= q < 1, the smaller the sparser across groups. With groups of one kernel this is
        l_p-norm MKL, p = q / (1 - q).
    groups : str or GroupLists, default="bank"
        "bank" for the bank's own groups, or one of all kernels where it has none; "one",
        "singletons" or "features"; or lists of kernel indices.
    tol : float, default=0.01
        Certified relative duality gap at which to stop.
    objective_tol : float or None, default=None
        Relative change of the objective at which to stop as well; None for never.
    max_iter : int, default=1000
        Maximum number of changes of the weights.
    """

    _algorithm = "mklbench.algorithms.ckl"

    q: float = 0.75
    groups: str | GroupLists = "bank"
    tol: float = 1e-2
    objective_tol: float | None = None
    max_iter: int = 1000
