"""Scikit-learn estimators around the algorithms: ``SimpleMKL(C=10).fit(X, y)``.

Each class validates as scikit-learn does, builds its bank or family from the training samples,
calls the ``solve`` of its algorithm once a binary problem, and predicts. More than two classes are
handled by one-versus-rest on one shared bank.

The parameter ``kernel`` is the name of a bank ("gaussian", "feature_gaussians",
"linear_features", "simplemkl", "single", "separate", "precomputed") or of a family ("product",
"products", "isotropic"), or any callable that takes training samples and returns one, such as
``functools.partial(mklbench.kernels.feature_gaussians, gammas=[0.1, 1.0])`` or
``mklbench.kernels.Normalised("simplemkl")``. Own Gram matrices go in two ways:

- ``kernel="precomputed"``: `X` is one Gram matrix (n, n), or a stack (M, n, n); at prediction it is
  the cross Gram matrix (n_new, n), or the stack (M, n_new, n).
- ``kernel=mklbench.kernels.Precomputed(K)`` with K (M, N, N) on a whole data set: `X` is a column
  of row numbers into K, so that scikit-learn's splitters and searches work as they do on features.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from mklbench.algorithms import (
    ckl,
    gmkl,
    hessianmkl,
    ikl,
    mkl,
    qnpkl,
    simplemkl,
    svm,
    uniform,
    vskl,
)
from mklbench.kernel_learner import KernelLearner
from mklbench.kernels import KernelBuilder
from mklbench.kernels.groups import GroupLists


class KernelSVC(KernelLearner):
    """Support vector machine at fixed kernel weights (`mklbench.algorithms.svm`).

    Parameters
    ----------
    kernel : name or callable, see the module's docstring.
    C : box constraint.
    weights : (M,) kernel weights >= 0; 1/M each if None.
    svm_tol : LIBSVM's stopping tolerance.
    """

    _algorithm = svm

    def __init__(
        self,
        kernel: str | KernelBuilder = "gaussian",
        C: float = 1.0,
        weights: ArrayLike | None = None,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.weights = weights
        self.svm_tol = svm_tol


class UniformMKL(KernelLearner):
    """The uniform combination of kernels (`mklbench.algorithms.uniform`).

    Parameters
    ----------
    kernel : name or callable, see the module's docstring.
    C : box constraint.
    svm_tol : LIBSVM's stopping tolerance.
    """

    _algorithm = uniform

    def __init__(
        self,
        kernel: str | KernelBuilder = "feature_gaussians",
        C: float = 1.0,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.svm_tol = svm_tol


class MKL(KernelLearner):
    """Sparse convex combination of kernels by the default exact solver (`mklbench.algorithms.mkl`).

    Parameters
    ----------
    kernel : name or callable of a bank, see the module's docstring.
    C : box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    tol : certified relative duality gap at which to stop.
    max_iter : at most so many SVM calls.
    warm_start : whether `fit` starts at the weights of the fit before, if that had the same
        classes; kernels behind those it had start at 0, and with fewer kernels it starts from
        nothing. The result is the same to within `tol`, but found sooner on a path of C or with a
        kernel more each time.
    """

    _algorithm = mkl

    def __init__(
        self,
        kernel: str | KernelBuilder = "simplemkl",
        C: float = 100.0,
        tol: float = 1e-4,
        max_iter: int = 100,
        warm_start: bool = False,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start


class SimpleMKL(KernelLearner):
    """Sparse convex combination of kernels (`mklbench.algorithms.simplemkl`).

    Parameters
    ----------
    kernel : name or callable of a bank, see the module's docstring.
    C : box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    tol : certified relative duality gap at which to stop.
    max_iter : at most so many descent directions.
    line_search_tol : a line search ends where the slope of the objective has shrunk to this.
    svm_tol : LIBSVM's stopping tolerance.
    """

    _algorithm = simplemkl

    def __init__(
        self,
        kernel: str | KernelBuilder = "simplemkl",
        C: float = 100.0,
        tol: float = 1e-2,
        max_iter: int = 500,
        line_search_tol: float = 0.1,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.line_search_tol = line_search_tol
        self.svm_tol = svm_tol


class HessianMKL(KernelLearner):
    """Sparse convex combination of kernels by Newton's method (`mklbench.algorithms.hessianmkl`).

    Parameters
    ----------
    kernel : name or callable of a bank, see the module's docstring.
    C : box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    tol : certified relative duality gap at which to stop.
    objective_tol : relative change of the objective at which to stop as well; None for never.
    max_iter : at most so many Newton steps.
    svm_tol : LIBSVM's stopping tolerance.
    """

    _algorithm = hessianmkl

    def __init__(
        self,
        kernel: str | KernelBuilder = "simplemkl",
        C: float = 100.0,
        tol: float = 1e-2,
        objective_tol: float | None = None,
        max_iter: int = 200,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tol = tol
        self.objective_tol = objective_tol
        self.max_iter = max_iter
        self.svm_tol = svm_tol


class VSKL(KernelLearner):
    """Kernels in groups, few of each and all groups (`mklbench.algorithms.vskl`).

    Parameters
    ----------
    kernel : name or callable of a bank, see the module's docstring.
    C : box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    q : >= 1, `math.inf` included; the larger, the more alike are the groups' norms.
    groups : "bank" for the bank's own groups, or one of all kernels where it has none; "one",
        "singletons" or "features"; or lists of kernel indices.
    tol : certified relative duality gap at which to stop.
    objective_tol : relative change of the objective at which to stop as well; None for never.
    max_iter : at most so many steps of the mirror descent.
    step_size : factor A of the step size; 3 times the square root of the number of groups if None.
    svm_tol : LIBSVM's stopping tolerance.
    """

    _algorithm = vskl

    def __init__(
        self,
        kernel: str | KernelBuilder = "simplemkl",
        C: float = 100.0,
        q: float = 2.0,
        groups: str | GroupLists = "bank",
        tol: float = 1e-2,
        objective_tol: float | None = None,
        max_iter: int = 1000,
        step_size: float | None = None,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.q = q
        self.groups = groups
        self.tol = tol
        self.objective_tol = objective_tol
        self.max_iter = max_iter
        self.step_size = step_size
        self.svm_tol = svm_tol


class CKL(KernelLearner):
    """Kernels in groups, few of each and few groups; l_p-norm MKL (`mklbench.algorithms.ckl`).

    Parameters
    ----------
    kernel : name or callable of a bank, see the module's docstring.
    C : box constraint. The kernels of "simplemkl" have unit trace, so C is larger than usual.
    q : 1/2 <= q < 1, the smaller the sparser across groups. With groups of one kernel this is
        l_p-norm MKL, p = q / (1 - q).
    groups : "bank" for the bank's own groups, or one of all kernels where it has none; "one",
        "singletons" or "features"; or lists of kernel indices.
    tol : certified relative duality gap at which to stop.
    objective_tol : relative change of the objective at which to stop as well; None for never.
    max_iter : at most so many changes of the weights.
    svm_tol : LIBSVM's stopping tolerance.
    """

    _algorithm = ckl

    def __init__(
        self,
        kernel: str | KernelBuilder = "simplemkl",
        C: float = 100.0,
        q: float = 0.75,
        groups: str | GroupLists = "bank",
        tol: float = 1e-2,
        objective_tol: float | None = None,
        max_iter: int = 1000,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.q = q
        self.groups = groups
        self.tol = tol
        self.objective_tol = objective_tol
        self.max_iter = max_iter
        self.svm_tol = svm_tol


class GMKL(KernelLearner):
    """Regularised sum or product of kernels (`mklbench.algorithms.gmkl`).

    Parameters
    ----------
    kernel : name or callable of a family (product) or a bank (sum), see the module's docstring.
    C : box constraint.
    regulariser : "l1" or "l2".
    strength : factor on the regulariser; None for that of the authors' code.
    start : "random", "uniform" or, of a family, "median" weights to start from.
    random_state : seed of the random start; None starts at 1/M.
    iterations : end after so many gradient steps; None for no such end.
    tol : certified gap or KKT residual at which to stop.
    max_iter : at most so many gradient steps.
    svm_tol : LIBSVM's stopping tolerance.
    """

    _algorithm = gmkl

    def __init__(
        self,
        kernel: str | KernelBuilder = "product",
        C: float = 10.0,
        regulariser: str = "l1",
        strength: float | None = None,
        start: str = "random",
        random_state: int | None = 0,
        iterations: int | None = None,
        tol: float = 1e-3,
        max_iter: int = 40,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.regulariser = regulariser
        self.strength = strength
        self.start = start
        self.random_state = random_state
        self.iterations = iterations
        self.tol = tol
        self.max_iter = max_iter
        self.svm_tol = svm_tol


class IKL(KernelLearner):
    """Sparse combination of the best members of a family of kernels (`mklbench.algorithms.ikl`).

    Standardise the features first: the box of "products" is made for that scale.

    Parameters
    ----------
    kernel : name or callable of a family with a bounded box, or of a bank, see the module's
        docstring.
    C : box constraint.
    tol : relative duality gap at which to stop.
    max_iter : at most so many restricted master problems.
    pricing : at most so many kernels join at once.
    samples : random members of the family looked at before the search ends.
    master : "mkl" or "simplemkl".
    """

    _algorithm = ikl

    def __init__(
        self,
        kernel: str | KernelBuilder = "products",
        C: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 100,
        pricing: int = 12,
        samples: int = 1000,
        master: str = "mkl",
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.pricing = pricing
        self.samples = samples
        self.master = master


class QNPKL(KernelLearner):
    """Product of Gaussians by quasi-Newton descent, ended early (`mklbench.algorithms.qnpkl`).

    The number of `iterations` is the regulariser: choose it by cross-validation, as C, among few,
    ``GridSearchCV(QNPKL(), {"C": [1, 10, 100], "iterations": [0, 1, 2, 3, 5]})``.

    Parameters
    ----------
    kernel : name or callable of a family, see the module's docstring.
    C : box constraint.
    start : "median" or "uniform" parameters to start from.
    width : factor on the parameters of the start.
    iterations : end after so many iterations; None for no such end.
    variant : "paper" or "jkernelmachines".
    tol : relative decrease of the objective at which to end.
    initial_rate : first diagonal entry of the inverse Hessian, or "auto".
    initial_step : first step size along a direction.
    smallest_step : steps below this size have failed.
    shun_identity : whether steps towards K = I are shortened.
    max_iter : at most so many directions.
    max_evals : at most so many SVMs in all; 40,000 if None.
    svm_tol : LIBSVM's stopping tolerance.
    """

    _algorithm = qnpkl

    def __init__(
        self,
        kernel: str | KernelBuilder = "product",
        C: float = 10.0,
        start: str = "median",
        width: float = 1.0,
        iterations: int | None = None,
        variant: str = "paper",
        tol: float = 1e-2,
        initial_rate: float | str = "auto",
        initial_step: float = 1.0,
        smallest_step: float = 1e-7,
        shun_identity: bool = True,
        max_iter: int = 1000,
        max_evals: int | None = None,
        svm_tol: float = 1e-3,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.start = start
        self.width = width
        self.iterations = iterations
        self.variant = variant
        self.tol = tol
        self.initial_rate = initial_rate
        self.initial_step = initial_step
        self.smallest_step = smallest_step
        self.shun_identity = shun_identity
        self.max_iter = max_iter
        self.max_evals = max_evals
        self.svm_tol = svm_tol
