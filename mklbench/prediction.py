"""What a fitted model predicts with: its support vectors and the kernels in use, nothing else.

A training operator holds Gram matrices, factors and every sample; a decision function

    f(z) = sum_i a_i sum_m d_m k_m(x_i, z) + b

needs the samples with a_i != 0 and the kernels with d_m != 0 only. Of these is kept what gives
k_m(x_i, z) for a new z (`KernelOperator.take`): features, columns of the Gram matrices of
a whole data set, or, where new samples come as cross Gram matrices, the numbers of their columns.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench import multiclass
from mklbench.errors import InputError
from mklbench.kernels import Family, KernelOperator
from mklbench.kernels.contract import CrossKernels
from mklbench.kernels.families import FamilyBank
from mklbench.solution import Solution

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Bytes of one matrix between new samples and support vectors. It stays in a processor's cache while
# kernels are computed on it; what is needed at once is a few of them, however many samples come.
_BLOCK = 2**20


class DecisionFunction:
    """The decision function of a fitted model, or the several of a one-versus-rest.

    Parameters
    ----------
    kernels : CrossKernels
        The kernels in use between new samples and the support vectors of all problems.
    machines : sequence of Solution
        One a binary problem, with `weights` of these kernels and `dual_coef` of these samples.
    """

    def __init__(self, kernels: CrossKernels, machines: Sequence[Solution]) -> None:
        self.kernels, self.machines = kernels, tuple(machines)

    @classmethod
    def of(cls, operator: KernelOperator, solutions: Sequence[Solution]) -> DecisionFunction:
        """Return that of solutions on a bank or a family; it keeps nothing of the operator.

        Parameters
        ----------
        operator : KernelOperator
            The kernels that the solutions were learned with.
        solutions : sequence of Solution
            One a binary problem.
        """
        kernels_on_nodes, on_nodes = multiclass.on_nodes(operator, solutions)
        if kernels_on_nodes is not operator:
            return cls(kernels_on_nodes, [replace(solution, history=[]) for solution in on_nodes])
        rows = _in_use([machine.dual_coef for machine in single_machines(solutions)])
        kept = operator.take(rows, _kept_kernels(operator, solutions))
        kernels = None if isinstance(operator, Family) else kernels_in_use(solutions)
        return cls(kept, [_reduced(solution, rows, kernels) for solution in solutions])

    def __call__(self, Z: Any) -> Array:
        """Return the decision values (n_z,), or (n_z, k) of k problems, at new samples.

        They are looked at in blocks: the memory does not grow with their number.

        Parameters
        ----------
        Z : array_like of shape (n_z, d) or Views
            New samples; or what else the operator took in their place, see its `cross`.

        Raises
        ------
        InputError
            If `Z` is not as the operator took it, or so large that its kernel values overflow.
        """
        return multiclass.decided(self.kernels, self.machines, Z, _BLOCK)

    def n_bytes(self) -> int:
        """Return the size of its pickle, in bytes."""
        return len(pickle.dumps(self, protocol=pickle.HIGHEST_PROTOCOL))


class LearnedKernel:
    """The kernel that was learned, between new samples and all training samples.

    What it needs of the latter is made when it is first asked for. Saved before that it has lost
    them: a saved model has its support vectors alone.

    Parameters
    ----------
    again : callable
        Makes the operator once more.
    operator : KernelOperator
        The kernels that the solutions were learned with; not kept.
    solutions : sequence of Solution
        One a binary problem.
    """

    def __init__(
        self,
        again: Callable[[], KernelOperator],
        operator: KernelOperator,
        solutions: Sequence[Solution],
    ) -> None:
        self._again: Callable[[], KernelOperator] | None = again
        self._kernels: CrossKernels | None = None
        self._in_use = _kept_kernels(operator, solutions)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_again": None}

    def __call__(self, machines: Sequence[Solution], Z: Any) -> Array:
        """Return the kernel (n_z, n), of several machines the mean of theirs.

        Parameters
        ----------
        machines : sequence of Solution
            Some of the solutions, no ensembles.
        Z : array_like of shape (n_z, d) or Views
            New samples; or what else the operator took in their place, see its `cross`.

        Raises
        ------
        InputError
            If it was saved before it was asked for anything.
        """
        cross = self.kernels()
        kernels = [self._of(cross, machine, Z) for machine in machines]
        return np.mean(kernels, axis=0) if len(kernels) > 1 else kernels[0]

    def kernels(self) -> CrossKernels:
        """Return the kernels in use on all training samples, which are kept from then on.

        Raises
        ------
        InputError
            If it was saved before.
        """
        if self._kernels is None:
            if self._again is None:
                raise InputError(
                    "combined_kernel needs the training samples, and a model that is saved loses "
                    "them: call keep_training_samples before."
                )
            operator = self._again()
            self._kernels = operator.take(np.arange(operator.n_samples), self._in_use)
        return self._kernels

    def _of(self, kernels: CrossKernels, machine: Solution, Z: Any) -> Array:
        if isinstance(kernels, Family) and machine.thetas is not None:
            return FamilyBank(kernels, machine.thetas).cross(machine.weights, Z)
        return kernels.cross(machine.weights[self._in_use], Z) ** machine.degree


def kernels_in_use(solutions: Sequence[Solution]) -> Indices:
    """Return which kernels of a bank have a weight in any solution, ascending; at least one.

    Parameters
    ----------
    solutions : sequence of Solution
        One a binary problem.
    """
    return _in_use([machine.weights for machine in single_machines(solutions)])


def _kept_kernels(operator: KernelOperator, solutions: Sequence[Solution]) -> Indices:
    """Return the kernels in use of a bank, of a family all parameters."""
    is_family = isinstance(operator, Family)
    return np.arange(operator.n_kernels) if is_family else kernels_in_use(solutions)


def single_machines(solutions: Sequence[Solution]) -> Iterator[Solution]:
    """Yield the single machines of solutions, of ensembles those of their members and gates."""
    for solution in solutions:
        parts = (*(solution.members or ()), *(solution.gates or ()))
        yield from single_machines(parts) if parts else [solution]


def _in_use(vectors: Sequence[Array]) -> Indices:
    """Return where one of `vectors` (n,) is not 0, ascending; the first place if all are."""
    used = reduce(np.logical_or, (vector != 0.0 for vector in vectors))
    return np.flatnonzero(used) if used.any() else np.zeros(1, dtype=np.intp)


def _reduced(solution: Solution, rows: Indices, kernels: Indices | None) -> Solution:
    """Return a solution on the samples `rows` and the `kernels`, all of them if None."""
    return replace(
        solution.with_parts(lambda part: _reduced(part, rows, kernels)),
        weights=solution.weights if kernels is None else solution.weights[kernels],
        dual_coef=solution.dual_coef[rows],
        history=[],
    )
