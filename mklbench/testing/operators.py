"""What holds for every bank and every family: each answer is that of dense Gram matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.kernels import Bank, Family, KernelBuilder, KernelOperator
from mklbench.kernels.contract import Shape, builder_of, memory_of
from mklbench.libsvm import SVM
from mklbench.testing.claims import Array, agree, refuses, require


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
        _BankChecks(operator, given, grams, cross, tolerance).run()
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


def _check_declarations(builder: Any, made: KernelOperator, samples: NDArray[Any]) -> None:
    """Check what a builder says of the memory that its kernels need."""
    declared = builder_of(builder)
    require(
        isinstance(declared.version, int), f"the version of {declared.name} is no whole number."
    )
    if declared.memory is None:
        return
    needed = memory_of(builder, Shape.of(samples))
    require(
        needed.is_family == isinstance(made, Family),
        f"{declared.name}.memory says is_family={needed.is_family} of a {type(made).__name__}.",
    )
    require(
        needed.n_kernels in (None, made.n_kernels),
        f"{declared.name}.memory says {needed.n_kernels} kernels, and there are {made.n_kernels}.",
    )
    require(
        0 <= needed.kept <= needed.building < math.inf,
        f"{declared.name}.memory says that {needed.kept} bytes are kept and {needed.building} are "
        "needed to build: both must be finite, and what is kept is among the second.",
    )


def _weights(n_kernels: int) -> Iterator[Array]:
    """Yield weights of all kernels, of half of them, of one, and of none."""
    dense = np.random.default_rng(5).uniform(size=n_kernels)
    yield dense
    yield np.where(np.arange(n_kernels) % 2, dense, 0.0)
    yield 0.7 * np.eye(n_kernels)[-1]
    yield np.zeros(n_kernels)


def _largest(values: ArrayLike) -> float:
    return float(np.abs(values).max())


def _buffer(operator: KernelOperator) -> Array:
    """Return the strided memory that LIBSVM reads, filled with NaN."""
    gram: Array = SVM(np.resize([-1.0, 1.0], operator.n_samples)).gram
    gram[...] = np.nan
    return gram


class _BankChecks:
    """The answers of a bank beside those of its dense Gram matrices.

    `stack` are the matrices (M, n, n), and `cross` those (M, n_z, n) of new samples, if there are.
    """

    def __init__(
        self, bank: Bank, new: NDArray[Any] | None, grams: Any, cross: Any, tolerance: float
    ) -> None:
        units = np.eye(bank.n_kernels)
        if cross is None and new is not None:
            cross = [bank.cross(unit, new) for unit in units]
        self.bank, self.name, self.new, self.tolerance = bank, type(bank).__name__, new, tolerance
        self.stack = np.asarray([bank.combine(u) for u in units] if grams is None else grams)
        self.cross = None if cross is None else np.asarray(cross)
        self.rng = np.random.default_rng(8)

    def run(self) -> None:
        self.shapes()
        self.combinations()
        self.forms_and_products()
        self.inner_products()
        if self.new is not None and self.cross is not None:
            for d in _weights(self.bank.n_kernels):
                expected = np.tensordot(d, self.cross, axes=1)
                self.agree("cross", self.bank.cross(d, self.new), expected, _largest(expected))
            dense = next(_weights(self.bank.n_kernels))
            _check_batches(self.bank, self.name, dense, self.new)
        order = np.random.default_rng(6).permutation(self.bank.n_samples)
        first, second = order[:-2], np.array([4, 0, 3, 2])
        half = order[: self.bank.n_samples // 2]
        self.samples_taken("take", self.bank.take(half), half)
        taken_twice = self.bank.take(first).take(second)
        self.samples_taken("take, taken twice,", taken_twice, first[second])
        self.kept_for_predictions(half)

    def agree(self, what: str, actual: ArrayLike, expected: ArrayLike, scale: float) -> None:
        """Require an answer up to the tolerance, as a share of `scale`."""
        atol = self.tolerance * scale
        agree(f"{self.name}.{what}", actual, expected, atol, "that of the dense Gram matrices")

    def at(self, d: Array) -> Array:
        return np.tensordot(d, self.stack, axes=1)

    def shapes(self) -> None:
        """The matrices are as many and as large as the bank says, and positive semidefinite."""
        n_kernels, n = self.bank.n_kernels, self.bank.n_samples
        require(
            self.stack.shape == (n_kernels, n, n),
            f"{self.name} says n_kernels={n_kernels} and n_samples={n}, and the Gram matrices have "
            f"shape {self.stack.shape}.",
        )
        largest, turned = _largest(self.stack), self.stack.transpose(0, 2, 1)
        self.agree("combine of a kernel", self.stack, turned, largest)
        for m, gram in enumerate(self.stack):
            smallest = float(np.linalg.eigvalsh(gram)[0])
            require(
                smallest >= -1e-7 * max(float(np.trace(gram)), largest),
                f"kernel {m} of {self.name} is not positive semidefinite: its smallest eigenvalue "
                f"is {smallest:.3g}.",
            )

    def combinations(self) -> None:
        """Sums of kernels, also into LIBSVM's memory, and whatever was combined before."""
        bank, largest = self.bank, _largest(self.stack)
        for d in _weights(bank.n_kernels):
            expected, buffer = self.at(d), _buffer(bank)
            self.agree("combine", bank.combine(d), expected, _largest(expected))
            self.agree("gram", bank.gram(d), expected, _largest(expected))
            require(bank.gram(d, out=buffer) is buffer, f"{self.name}.gram must return out.")
            self.agree("gram written into LIBSVM's buffer", buffer, expected, _largest(expected))
            buffer[...] = self.stack.sum(axis=0)
            bank.accumulate(d, buffer)
            total = self.stack.sum(axis=0) + expected
            self.agree("accumulate", buffer, total, _largest(total))
        for m in range(0, bank.n_kernels, max(1, bank.n_kernels // 24)):
            alone = bank.combine(np.eye(bank.n_kernels)[m])
            self.agree(f"combine of kernel {m}", alone, self.stack[m], _largest(self.stack[m]))
        # What a bank keeps of earlier combinations does not show, and a result is the caller's.
        bank.combine(np.eye(bank.n_kernels)[0])[...] = np.nan
        for share in (1.0, 0.3, 0.3, 0.1, 0.1, 0.6, 0.1):
            active = self.rng.uniform(size=bank.n_kernels) < share
            for _ in range(2):
                d = self.rng.uniform(size=bank.n_kernels) * active
                expected = self.at(d)
                scale = max(largest, _largest(expected))
                self.agree("combine after others", bank.combine(d), expected, scale)

    def forms_and_products(self) -> None:
        """a' K_m a, K_m a, the diagonals and the traces."""
        bank, stack = self.bank, self.stack
        sizes = np.abs(stack).max(axis=(1, 2))
        for support in (1.0, 0.2, 0.0):
            a = self.rng.standard_normal(bank.n_samples)
            a *= self.rng.uniform(size=bank.n_samples) < support
            expected = np.einsum("i,mij,j->m", a, stack, a)
            scale = np.maximum(sizes * np.abs(a).sum() ** 2, np.finfo(float).tiny)
            actual = np.asarray(bank.quadratic_forms(a))
            require(
                actual.shape == expected.shape,
                f"{self.name}.quadratic_forms has shape {actual.shape}, not ({bank.n_kernels},).",
            )
            self.agree("quadratic_forms", actual / scale, expected / scale, 1.0)
        a = self.rng.standard_normal(bank.n_samples)
        for chosen in ([], [-1], [3, 0, 2], range(bank.n_kernels)):
            kernels = np.array(chosen, dtype=int) % bank.n_kernels
            expected = np.einsum("mij,j->mi", stack[kernels], a)
            size = float(sizes.max() * np.abs(a).sum())
            self.agree("products", bank.products(a, kernels), expected, size)
        diagonals = np.einsum("mii->mi", stack)
        self.agree("diagonals", bank.diagonals(), diagonals, float(sizes.max()))
        traces = diagonals.sum(axis=1)
        self.agree("traces", bank.traces(), traces, _largest(traces))

    def inner_products(self) -> None:
        """<K_l, K_m>, also centred, and those with other matrices."""
        bank, stack, n = self.bank, self.stack, self.bank.n_samples
        flat, norms = stack.reshape(len(stack), -1), np.linalg.norm(stack, axis=(1, 2))
        self.agree("inner_products", bank.inner_products(), flat @ flat.T, _largest(flat @ flat.T))
        H = np.eye(n) - 1.0 / n
        flat = (H @ stack @ H).reshape(len(stack), -1)
        actual = bank.inner_products(centred=True)
        # Centring leaves little of some kernels, with the rounding of the whole.
        units = np.maximum(np.linalg.norm(flat, axis=1), 3e-3 * norms)
        units[units == 0.0] = 1.0  # of a kernel that is 0
        scale = np.outer(units, units)
        expected = flat @ flat.T / scale
        self.agree("inner_products of centred kernels", actual / scale, expected, 1.0)
        self.agree("centred_products", bank.centred_products, actual, 0.0)
        root = self.rng.standard_normal((n, 3))
        K = root @ root.T - np.eye(n)
        expected = np.einsum("mij,ij->m", stack, K)
        size = float(norms.max() * np.linalg.norm(K))
        self.agree("inner_products_with", bank.inner_products_with(K), expected, size)
        y = np.where(self.rng.uniform(size=n) < 0.5, -1.0, 1.0)
        expected = np.einsum("mij,i,j->m", stack, y, y)
        size = float(np.abs(stack).sum((1, 2)).max())
        self.agree("target_alignments", bank.target_alignments(y), expected, size)

    def samples_taken(self, how: str, part: Any, rows: NDArray[Any]) -> None:
        """The bank of some samples gives the rows and columns of these."""
        bank = self.bank
        require(isinstance(part, Bank), f"{self.name}.{how} must return a Bank.")
        require(
            (part.n_samples, part.features, part.groups) == (len(rows), bank.features, bank.groups),
            f"{self.name}.{how} must keep the features and the groups, and have "
            f"n_samples={len(rows)}.",
        )
        stack = self.stack[:, rows[:, None], rows]
        d, a = next(_weights(bank.n_kernels)), np.linspace(-1.0, 1.0, len(rows))
        combined = np.tensordot(d, stack, axes=1)
        size = max(float(np.abs(stack).sum((1, 2)).max()), _largest(combined))
        forms, every = np.einsum("i,mij,j->m", a, stack, a), np.arange(bank.n_kernels)
        self.agree(f"{how}: combine", part.combine(d), combined, size)
        self.agree(f"{how}: traces", part.traces(), np.trace(stack, axis1=1, axis2=2), size)
        self.agree(f"{how}: quadratic_forms", part.quadratic_forms(a), forms, size)
        self.agree(f"{how}: products", part.products(a, every), stack @ a, size)
        if self.new is not None and self.cross is not None:
            expected = np.tensordot(d, self.cross[:, :, rows], axes=1)
            self.agree(f"{how}: cross", part.cross(d, self.new), expected, _largest(expected))

    def kept_for_predictions(self, rows: NDArray[Any]) -> None:
        """What a prediction keeps has the values of some kernels at some of the samples."""
        kernels = np.arange(0, self.bank.n_kernels, 2)
        kept = self.bank.take(rows, kernels)
        require(
            (kept.n_samples, kept.n_kernels) == (len(rows), len(kernels)),
            f"{self.name}.take(rows, kernels) must keep {len(rows)} samples and {len(kernels)} "
            "kernels.",
        )
        if self.new is not None and self.cross is not None:
            d = next(_weights(len(kernels)))
            expected = np.tensordot(d, self.cross[kernels][:, :, rows], axes=1)
            found = kept.cross(d, self.new)
            self.agree("take(rows, kernels): cross", found, expected, _largest(expected))


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
    atol = tolerance * _largest(gram)
    agree(f"{name}.gram", family.gram(theta), gram, atol, other)
    agree(f"{name}.gram", family.gram(theta), family.gram(theta).T, atol, "its transpose")
    buffer = _buffer(family)
    require(family.gram(theta, out=buffer) is buffer, f"{name}.gram must return out, where given.")
    agree(f"{name}.gram written into LIBSVM's buffer", buffer, gram, atol, other)
    for bad in (-0.1, math.nan):
        wrong = np.append(theta[:-1], bad)
        refuses(f"{name}.gram with a parameter {bad}", partial(family.gram, wrong), "theta")
    a = rng.standard_normal(n) * (rng.uniform(size=n) < 0.6)
    _check_gradient(family, name, theta, a)
    rows = rng.permutation(n)[: n // 2]
    part = family.take(rows)
    require(isinstance(part, Family), f"{name}.take must return a Family.")
    agree(f"{name}.take: gram", part.gram(theta), gram[np.ix_(rows, rows)], atol, other)
    if new is not None:
        cross = family.cross(theta, new) if kernel is None else kernel(theta, new, X)
        agree(f"{name}.cross", family.cross(theta, new), cross, atol, other)
        agree(f"{name}.take: cross", part.cross(theta, new), cross[:, rows], atol, other)
        _check_batches(family, name, theta, new)


def _check_gradient(family: Family, name: str, theta: Array, a: Array) -> None:
    step = 1e-5
    moves = step * np.eye(len(theta))
    differences = [a @ (family.gram(theta + e) - family.gram(theta - e)) @ a for e in moves]
    numeric = np.array(differences) / (2.0 * step)
    atol = 1e-6 * max(_largest(numeric), 1e-3)
    agree(f"{name}.gradient", family.gradient(theta, a), numeric, atol, "finite differences")
    at_zero = family.gradient(theta, np.zeros(len(a)))
    agree(f"{name}.gradient at a = 0", at_zero, np.zeros(len(theta)), 0.0, "0")
