"""Estimators of the parameters of a family of kernels: ``QNPKL(C=10).fit(X, y)``."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from mklbench import grids, multiclass
from mklbench.contract import takes_former_names
from mklbench.errors import InputError
from mklbench.estimators.base import Array, estimator
from mklbench.estimators.learners import KernelLearner
from mklbench.estimators.reading import one_or_all
from mklbench.estimators.weights import ClassWeights
from mklbench.kernels import Kernel, KernelOperator
from mklbench.solution import Solution

__all__ = ["GMKL", "IKL", "QNPKL"]

Codes = NDArray[np.intp]

ITERATIONS = (0, 1, 2, 3, 5)
_FOLDS = 5


@estimator
class EndsEarly(KernelLearner):
    """A descent to the end of which a model fits its training samples alone.

    Where C or `iterations` is "cv" it is chosen by 5-fold cross-validation among the training
    samples: C in units of the kernels (`mklbench.grids`), iterations among 0, 1, 2, 3 and 5. Of
    choices that do alike that with fewer iterations is taken, then that with the smaller C.

    Attributes
    ----------
    C_, iterations_ : float and int or None
        What was given or chosen; the others are in `KernelLearner`.

    Parameters
    ----------
    C : float or "cv"
        Box constraint; by default chosen by cross-validation (`EndsEarly`).
    """

    kernel: Kernel = "product"
    C: float | Literal["cv"] = "cv"
    iterations: int | Literal["cv"] | None = "cv"
    svm_tol: float = 1e-3
    class_weight: ClassWeights = None
    verbose: int = 0
    _searched: ClassVar[tuple[str, ...]] = ("C", "iterations")

    def _hyperparameters(self) -> dict[str, Any]:
        given = super()._hyperparameters()
        return {name: v for name, v in given.items() if not (name in self._searched and v == "cv")}

    def _tuned(
        self, solve: Callable[..., Solution], kernels: KernelOperator, codes: Codes, n_classes: int
    ) -> Callable[..., Solution]:
        options = dict(solve.keywords)  # type: ignore[attr-defined]
        if any(name not in options for name in self._searched):
            options |= self._cross_validated(options, kernels, codes, n_classes)
        self.C_, self.iterations_ = (options[name] for name in self._searched)
        return partial(self._module.solve, **options)

    def _cross_validated(
        self, options: dict[str, Any], kernels: KernelOperator, codes: Codes, n_classes: int
    ) -> dict[str, Any]:
        """Return the C and iterations that are not among the options."""
        smallest = int(np.bincount(codes).min())
        if smallest < 2:
            raise InputError(
                f"{type(self).__name__} chooses C and iterations by cross-validation, but there is "
                "1 sample of a class: give both, or more samples."
            )
        folds = StratifiedKFold(min(_FOLDS, smallest), shuffle=True, random_state=0)
        parts = list(folds.split(codes, codes))
        given = {name: options[name] for name in self._searched if name in options}
        others = {name: value for name, value in options.items() if name not in given}
        weights = others.pop("sample_weight", np.ones(len(codes)))
        unit = grids.unit_of(kernels)

        def with_C(entry: grids.Entry) -> dict[str, Any]:
            return {**entry, "C": grids.resolved("C", entry["C"], unit), **given}

        def losses(entries: Sequence[grids.Entry]) -> list[float]:
            lost: list[float] = []
            for C, alike in itertools.groupby(map(with_C, entries), lambda entry: entry["C"]):
                ends = [entry["iterations"] for entry in alike]
                wrong = np.zeros(len(ends))
                for fit, held_out in parts:
                    path = partial(
                        self._module.solve_path, C=C, sample_weight=weights[fit], **others
                    )
                    block = np.ix_(held_out, fit)
                    for i, machines in enumerate(
                        _along(path, kernels.take(fit), codes[fit], n_classes, ends)
                    ):
                        outputs = partial(_outputs, kernels, block)
                        decision = multiclass.decision_values(machines, outputs)
                        missed = multiclass.predict(decision) != codes[held_out]
                        wrong[i] += weights[held_out][missed].sum()
                lost += wrong.tolist()
            return lost

        grid = {"C": grids.DECADES, "iterations": ITERATIONS}
        grid |= {name: (value,) for name, value in given.items()}
        best, _, _ = grids.search(
            [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())],
            losses,
            lambda entry: (entry["iterations"] or 0, entry["C"]),
            [] if "C" in given else ["C"],
        )
        return with_C(best)


def _outputs(kernels: KernelOperator, block: Any, machine: Solution) -> NDArray[np.float64]:
    """Return the outputs of a machine at the samples that are the rows of a block."""
    return multiclass.outputs_from(lambda weights: kernels.gram(weights)[block], machine)


def _along(
    solve_path: Callable[..., list[Solution]],
    kernels: KernelOperator,
    codes: Codes,
    n_classes: int,
    ends: Sequence[int | None],
) -> list[list[Solution]]:
    """Return the machines of all classes after each of some numbers of iterations."""
    paths: list[list[Solution]] = []

    def solve(operator: KernelOperator, y: NDArray[np.float64]) -> Solution:
        paths.append(solve_path(operator, y, ends))
        return paths[-1][0]

    multiclass.fit(solve, kernels, codes, n_classes)
    return [list(machines) for machines in zip(*paths, strict=True)]


@estimator
class GMKL(EndsEarly):
    """Regularised sum or product of kernels (`mklbench.algorithms.gmkl`).

    It is ended early, as its descent of a product leads to K = I, where nothing is predicted.

    Parameters
    ----------
    kernel : str, callable or list
        A family (product) or a bank (sum), see `mklbench.estimators`.
    iterations : int, "cv" or None
        End after so many gradient steps; None for no such end. By default chosen by
        cross-validation.
    regulariser : str
        "l1" or "l2".
    strength : float or None
        Factor on the regulariser; None for that of the authors' code.
    start : str
        "random", "uniform" or, of a family, "median" weights to start from.
    random_state : int or None
        Seed of a random start; None starts at 1/M.
    tol : float
        Certified gap or KKT residual at which to stop.
    max_iter : int
        Maximum number of gradient steps.
    """

    _algorithm = "mklbench.algorithms.gmkl"

    regulariser: str = "l1"
    strength: float | None = None
    start: str = "uniform"
    random_state: int | None = 0
    tol: float = 1e-3
    max_iter: int = 40


@estimator
class IKL(KernelLearner):
    """Sparse combination of the best members of a family of kernels (`mklbench.algorithms.ikl`).

    Standardise the features first: the box of "products" is made for that scale.

    Parameters
    ----------
    kernel : str, callable or list
        A family with a bounded box, or of a bank, see `mklbench.estimators`.
    tol : float
        Relative duality gap at which to stop, of the kernels found (`gap_`) and with what an
        independent search finds beyond them (`family_gap_`).
    max_iter : int
        Maximum number of restricted master problems.
    pricing : int
        Maximum number of kernels that join at once.
    samples : int
        Random members of the family looked at before the search ends.
    n_global_ascents : int
        Ascents of an independent search, each time that nothing more is found; 0 for no such
        search.
    n_joint_steps : int
        Iterations of a descent in the parameters of all kernels with weight, after a master; 0 for
        none.
    n_round_ascents : int or None
        Ascents of the independent search at every round. If not given a twentieth of
        `n_global_ascents`, or all of it where every feature has two values.
    n_product_starts : int
        Ascents of the independent search from products of kernels at hand; 0 for none.
    master : str
        "mkl" or "simplemkl".
    verbose : int
        1 prints a line a master problem: J, its gap, active kernels, seconds.
    """

    _algorithm = "mklbench.algorithms.ikl"

    kernel: Kernel = "products"
    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 100
    pricing: int = 12
    samples: int = 1000
    n_global_ascents: int = 300
    n_joint_steps: int = 8
    n_round_ascents: int | None = None
    n_product_starts: int = 15
    master: str = "mkl"
    class_weight: ClassWeights = None
    verbose: int = 0

    @property
    def family_gap_(self) -> float | Array | None:
        """The gap with what an independent search found beyond, a number, or one a class.

        None where no such search was made: on a bank, or with ``n_global_ascents=0``.
        """
        gaps = [s.family_gap for s in self.solutions_ if s.family_gap is not None]
        return one_or_all(gaps) if gaps else None


IKL.__init__ = takes_former_names(IKL.__init__)  # type: ignore[method-assign]


@estimator
class QNPKL(EndsEarly):
    """Product of Gaussians by quasi-Newton descent, ended early (`mklbench.algorithms.qnpkl`).

    The number of `iterations` is the regulariser.

    Parameters
    ----------
    kernel : str, callable or list
        A family, see `mklbench.estimators`.
    iterations : int, "cv" or None
        End after so many iterations; None for no such end. By default chosen by cross-validation.
    verbose : int
        1 prints a line an iteration: J, active kernels, seconds.
    start : str or float
        "median" or "uniform" parameters to start from, or the value of all.
    width : float
        Factor on the parameters of the start.
    variant : str
        "paper" or "jkernelmachines".
    tol : float
        Relative decrease of the objective at which to end.
    initial_rate : float or str
        First diagonal entry of the inverse Hessian, or "auto".
    shun_identity : bool
        Whether steps towards K = I are shortened.
    max_iter : int
        Maximum number of directions.
    max_evals : int or None
        Maximum number of SVMs in all; 40,000 if None.
    """

    _algorithm = "mklbench.algorithms.qnpkl"

    start: str | float = "median"
    width: float = 1.0
    variant: str = "paper"
    tol: float = 1e-2
    initial_rate: float | str = "auto"
    shun_identity: bool = True
    max_iter: int = 1000
    max_evals: int | None = None
