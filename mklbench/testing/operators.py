"""What holds for every bank and every family: each answer is that of dense Gram matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.kernels import Bank, Family, KernelBuilder, KernelOperator
from mklbench.kernels.contract import CrossKernels, builder_of, on_few
from mklbench.libsvm import SVM

Array = NDArray[np.float64]


def require(condition: object, sentence: str) -> None:
    """Raise an AssertionError with the sentence unless the condition holds."""
    if not condition:
        raise AssertionError(sentence)


def agree(what: str, actual: ArrayLike, expected: ArrayLike, atol: float, other: str) -> None:
    """Raise an AssertionError unless two arrays have the same shape and values, up to `atol`."""
    found, wanted = np.asarray(actual), np.asarray(expected)
    require(
        found.shape == wanted.shape,
        f"{what} has shape {found.shape}, and {other} shape {wanted.shape}.",
    )
    differences = np.abs(found - wanted)
    largest = float(differences.max(initial=0.0))
    require(
        largest <= atol,  # not so where one is NaN
        f"{what} differs from {other} by up to {largest:.2g}, and {atol:.2g} is accepted.",
    )


def refuses(what: str, call: Callable[[], Any], names: str) -> None:
    """Raise an AssertionError unless a call is refused in a sentence that names the option."""
    demanded = f"{what} must be refused by mklbench.errors.InputError"
    try:
        call()
    except InputError as error:
        require(
            names in str(error) and str(error).rstrip().endswith("."),
            f"{demanded} in one sentence that names {names}, and the message is: {error}",
        )
    except Exception as error:
        raise AssertionError(f"{demanded}, and raises {type(error).__name__}: {error}") from error
    else:
        raise AssertionError(f"{demanded}, and is accepted.")


def check_operator(
    operator: KernelOperator | KernelBuilder,
    *,
    samples: ArrayLike | None = None,
    new: ArrayLike | None = None,
    grams: ArrayLike | None = None,
    cross: ArrayLike | None = None,
    kernel: Callable[[Array, Array, Array], Array] | None = None,
    tolerance: float = 1e-10,
) -> None:
    """Check that all answers of a bank or a family are those of dense Gram matrices.

    Parameters
    ----------
    operator : KernelOperator or KernelBuilder
        A bank, a family, or a builder of one, whose declarations are then checked as well.
    samples : array_like or None, default=None
        Training samples of a builder or a family; 30 samples of 4 features >= 0 if not given, or
        row numbers for a builder that takes these.
    new : array_like or None, default=None
        New samples, as `cross` takes them; without them and without `samples`, `cross` of an
        operator that is given is not looked at.
    grams : array_like of shape (M, n, n) or None, default=None
        Of a bank the dense Gram matrices, computed in another way. If not given, those that the
        bank itself gives for each of its kernels: the other answers must agree with these.
    cross : array_like of shape (M, n_z, n) or None, default=None
        The same of the kernels between `new` and the training samples.
    kernel : callable, optional
        The same of a family: ``kernel(theta, A, B)`` is the kernel between samples.
    tolerance : float
        How far two evaluations may differ, as a share of the largest numbers in them.

    Raises
    ------
    AssertionError
        In one sentence, for the first thing that does not hold.
    """
    if not isinstance(operator, KernelOperator):
        samples, new = _samples(operator, samples, new)
        made = operator(samples)
        _check_declarations(operator, made, np.asarray(samples))
        operator = made
    given = None if new is None else np.asarray(new)
    name = type(operator).__name__
    require(isinstance(operator, Bank | Family), f"{name} is neither a Bank nor a Family.")
    require(
        len(operator.features) == operator.n_kernels,
        f"{name}.features has {len(operator.features)} entries for {operator.n_kernels} kernels.",
    )
    wrong = np.ones(operator.n_kernels + 1)
    refuses(f"{name}.gram with a weight too many", partial(operator.gram, wrong), "weights")
    if isinstance(operator, Bank):
        _check_bank(operator, given, grams, cross, tolerance)
    elif isinstance(operator, Family):
        _check_family(operator, name, given, kernel, tolerance)


def _samples(builder: Any, samples: Any, new: Any) -> tuple[Any, Any]:
    """Return training and new samples as a builder takes them."""
    rng = np.random.default_rng(0)
    declared = builder_of(builder)
    if samples is None and declared.takes_rows:
        order = rng.permutation(declared.n_samples or 30)
        samples, new = np.split(order, [2 * len(order) // 3])
    elif samples is None:
        values = np.abs(rng.standard_normal((37, 4)))
        values[:, 2] = np.round(values[:, 2])  # equal values, of which banks make use
        samples, new = values[:30], values[30:] if new is None else new
    return samples, new


def _check_declarations(builder: Any, made: KernelOperator, samples: Any) -> None:
    """Check that a builder which takes few samples makes the same kernels of them."""
    few = on_few(builder, samples[:2])
    require(
        few is None
        or (few.n_kernels == made.n_kernels and 0 <= few.memory(len(samples)).kept < math.inf),
        f"{builder_of(builder).name} takes few samples, and of two it makes {few} in place of "
        f"{made.n_kernels} kernels: these must be as many, and what they keep is finite.",
    )


def _weights(n_kernels: int) -> Iterator[Array]:
    """Yield weights of all kernels, of half of them, of one, of none, and of ever other ones."""
    rng = np.random.default_rng(5)
    dense = rng.uniform(size=n_kernels)
    yield dense
    yield np.where(np.arange(n_kernels) % 2, dense, 0.0)
    yield np.eye(n_kernels)[-1]
    yield np.zeros(n_kernels)
    for share in (1.0, 0.3, 0.1, 0.1, 0.6):
        yield rng.uniform(size=n_kernels) * (rng.uniform(size=n_kernels) < share)


def _largest(values: ArrayLike) -> float:
    return float(np.abs(values).max())


def _buffer(operator: KernelOperator) -> Array:
    """Return the strided memory that LIBSVM reads, filled with NaN."""
    gram: Array = SVM(np.resize([-1.0, 1.0], operator.n_samples)).gram
    gram[...] = np.nan
    return gram


def _check_bank(
    bank: Bank, new: NDArray[Any] | None, grams: Any, cross: Any, tolerance: float
) -> None:
    name, units = type(bank).__name__, np.eye(bank.n_kernels)
    stack = np.asarray([bank.combine(unit) for unit in units] if grams is None else grams)
    n = bank.n_samples
    require(
        stack.shape == (bank.n_kernels, n, n),
        f"{name} says n_kernels={bank.n_kernels} and n_samples={n}, and the Gram matrices have "
        f"shape {stack.shape}.",
    )
    for m, gram in enumerate(stack):
        smallest = float(np.linalg.eigvalsh(gram)[0])
        require(
            smallest >= -1e-7 * max(float(np.trace(gram)), _largest(stack)),
            f"kernel {m} of {name} is not positive semidefinite: its smallest eigenvalue is "
            f"{smallest:.3g}.",
        )
    if cross is None and new is not None:
        cross = [bank.cross(unit, new) for unit in units]
    twin = _DenseTwin(name, stack, new, None if cross is None else np.asarray(cross), tolerance)
    twin.check(bank)
    if new is not None:
        _check_batches(bank, name, next(_weights(bank.n_kernels)), new)
    order, second = np.random.default_rng(6).permutation(n), np.array([4, 0, 3, 2])
    half = order[: n // 2]
    twin.taken("take", half).check(bank.take(half))
    twice = bank.take(order[:-2]).take(second)
    twin.taken("take, taken twice,", order[:-2][second]).check(twice)
    # What a prediction keeps has the values of some kernels at some of the samples.
    kernels = np.arange(0, bank.n_kernels, 2)
    kept = bank.take(half, kernels)
    twin.taken("take(rows, kernels)", half, kernels).check_cross(kept)


@dataclass(frozen=True)
class _DenseTwin:
    """The Gram matrices (M, n, n) of a bank, beside whose answers it lays its own.

    Attributes
    ----------
    name : str
        Of the bank.
    stack : ndarray of shape (M, n, n)
        The Gram matrices.
    new, cross : ndarray or None
        New samples, and the matrices (M, n_z, n) between these and the training samples.
    tolerance : float
        As in `check_operator`.
    """

    name: str
    stack: Array
    new: NDArray[Any] | None
    cross: Array | None
    tolerance: float

    def taken(self, how: str, rows: NDArray[Any], kernels: Any = slice(None)) -> _DenseTwin:
        """Return that of some samples and kernels."""
        return replace(
            self,
            name=f"{self.name}.{how}",
            stack=self.stack[kernels][:, rows[:, None], rows],
            cross=None if self.cross is None else self.cross[kernels][:, :, rows],
        )

    def check(self, bank: Bank) -> None:
        require(isinstance(bank, Bank), f"{self.name} must return a Bank.")
        self.check_combinations(bank)
        self.check_products(bank)
        self.check_inner_products(bank)
        self.check_cross(bank)

    def agree(self, what: str, actual: ArrayLike, expected: ArrayLike, scale: float) -> None:
        """Require an answer up to the tolerance, as a share of `scale`."""
        atol = self.tolerance * scale
        agree(f"{self.name}.{what}", actual, expected, atol, "that of the dense Gram matrices")

    def check_combinations(self, bank: Bank) -> None:
        """Sums of kernels, also into LIBSVM's memory, and whatever was combined before."""
        for d in _weights(len(self.stack)):
            expected, buffer = np.tensordot(d, self.stack, axes=1), _buffer(bank)
            scale = max(_largest(self.stack), _largest(expected))
            found = bank.combine(d)
            self.agree("combine", found, expected, scale)
            found[...] = np.nan  # a result is the caller's
            require(bank.gram(d, out=buffer) is buffer, f"{self.name}.gram must return out.")
            self.agree("gram written into LIBSVM's buffer", buffer, expected, scale)

    def check_products(self, bank: Bank) -> None:
        """a' K_m a, K_m a, the diagonals and the traces."""
        rng, stack = np.random.default_rng(8), self.stack
        sizes = np.abs(stack).max(axis=(1, 2))
        for support in (1.0, 0.2, 0.0):
            a = rng.standard_normal(bank.n_samples)
            a *= rng.uniform(size=bank.n_samples) < support
            scale = np.maximum(sizes * np.abs(a).sum() ** 2, np.finfo(float).tiny)
            expected = np.einsum("i,mij,j->m", a, stack, a) / scale
            self.agree("quadratic_forms", bank.quadratic_forms(a) / scale, expected, 1.0)
        a = rng.standard_normal(bank.n_samples)
        for chosen in ([], [-1], [3, 0, 2], range(bank.n_kernels)):
            kernels = np.array(chosen, dtype=int) % bank.n_kernels
            size = float(sizes.max() * np.abs(a).sum())
            self.agree("products", bank.products(a, kernels), stack[kernels] @ a, size)
        diagonals = np.einsum("mii->mi", stack)
        self.agree("diagonals", bank.diagonals(), diagonals, float(sizes.max()))
        traces = diagonals.sum(axis=1)
        self.agree("traces", bank.traces(), traces, _largest(traces))

    def check_inner_products(self, bank: Bank) -> None:
        """<K_l, K_m>, also centred, and those with other matrices."""
        rng, stack, n = np.random.default_rng(9), self.stack, bank.n_samples
        norms = np.linalg.norm(stack, axis=(1, 2))
        H = np.eye(n) - 1.0 / n
        for how, matrices in (("", stack), (" of centred kernels", H @ stack @ H)):
            flat = matrices.reshape(len(stack), -1)
            # Centring leaves little of some kernels, with the rounding of the whole.
            units = np.maximum(np.linalg.norm(flat, axis=1), 3e-3 * norms)
            units[units == 0.0] = 1.0  # of a kernel that is 0
            scale = np.outer(units, units)
            found = bank.inner_products(centred=bool(how)) / scale
            self.agree(f"inner_products{how}", found, flat @ flat.T / scale, 1.0)
        root = rng.standard_normal((n, 3))
        K = root @ root.T - np.eye(n)
        expected = np.einsum("mij,ij->m", stack, K)
        size = float(norms.max() * np.linalg.norm(K))
        self.agree("inner_products_with", bank.inner_products_with(K), expected, size)
        y = np.where(rng.uniform(size=n) < 0.5, -1.0, 1.0)
        expected = np.einsum("mij,i,j->m", stack, y, y)
        size = float(np.abs(stack).sum((1, 2)).max())
        self.agree("target_alignments", bank.target_alignments(y), expected, size)

    def check_cross(self, bank: CrossKernels) -> None:
        """What the kernels are between new samples and those of training."""
        for d in _weights(len(self.stack)):
            if self.new is not None and self.cross is not None:
                expected = np.tensordot(d, self.cross, axes=1)
                self.agree("cross", bank.cross(d, self.new), expected, _largest(expected))


def _check_batches(operator: KernelOperator, name: str, d: Array, new: NDArray[Any]) -> None:
    """The kernel of a new sample does not depend on which others it comes with."""
    together = operator.cross(d, new)
    axis = max(0, new.ndim - 2)  # a stack of cross Gram matrices is (M, n_z, n)
    alone = [operator.cross(d, part) for part in np.split(new, new.shape[axis], axis=axis)]
    agree(
        f"{name}.cross of new samples together", together, np.concatenate(alone),
        1e-12 * _largest(together), "that of each of them alone",
    )  # fmt: skip


def _check_family(
    family: Family,
    name: str,
    new: NDArray[Any] | None,
    kernel: Callable[[Array, Array, Array], Array] | None,
    tolerance: float,
) -> None:
    rng = np.random.default_rng(2)
    theta, n = rng.uniform(0.05, 0.8, family.n_kernels), family.n_samples
    X = family.samples
    gram = family.gram(theta) if kernel is None else kernel(theta, X, X)
    other = "gram" if kernel is None else "its definition"
    atol, buffer = tolerance * _largest(gram), _buffer(family)
    agree(f"{name}.gram", gram, gram.T, atol, "its transpose")
    require(family.gram(theta, out=buffer) is buffer, f"{name}.gram must return out, where given.")
    agree(f"{name}.gram written into LIBSVM's buffer", buffer, gram, atol, other)
    wrong = np.append(theta[:-1], math.nan)
    refuses(f"{name}.gram with a parameter NaN", partial(family.gram, wrong), "theta")
    a = rng.standard_normal(n) * (rng.uniform(size=n) < 0.6)
    moves = 1e-5 * np.eye(len(theta))
    differences = [a @ (family.gram(theta + e) - family.gram(theta - e)) @ a for e in moves]
    numeric = np.array(differences) / 2e-5
    accepted = 1e-6 * max(_largest(numeric), 1e-3)
    agree(f"{name}.gradient", family.gradient(theta, a), numeric, accepted, "finite differences")
    rows = rng.permutation(n)[: n // 2]
    part = family.take(rows)
    require(isinstance(part, Family), f"{name}.take must return a Family.")
    agree(f"{name}.take: gram", part.gram(theta), gram[np.ix_(rows, rows)], atol, other)
    if new is not None:
        cross = family.cross(theta, new) if kernel is None else kernel(theta, new, X)
        agree(f"{name}.cross", family.cross(theta, new), cross, atol, other)
        agree(f"{name}.take: cross", part.cross(theta, new), cross[:, rows], atol, other)
        _check_batches(family, name, theta, new)
