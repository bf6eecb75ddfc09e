"""What holds for every bank and every family: each answer is that of dense Gram matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.kernels import Bank, Family, KernelBuilder, KernelOperator
from mklbench.kernels.contract import Shape, builder_of, memory_of
from mklbench.libsvm import SVM
from mklbench.testing.claims import Array, agree, refuses, require

_DENSE = "that of the dense Gram matrices"


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
        dense = _Dense.of(operator, given, grams, cross, tolerance)
        for check in _OF_BANKS:
            check(operator, name, dense)
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


@dataclass(frozen=True)
class _Dense:
    """The Gram matrices (M, n, n) of a bank, and those (M, n_z, n) of new samples, if there are."""

    grams: Array
    new: NDArray[Any] | None
    cross: Array | None
    tolerance: float

    @classmethod
    def of(
        cls, bank: Bank, new: NDArray[Any] | None, grams: Any, cross: Any, tolerance: float
    ) -> _Dense:
        units = np.eye(bank.n_kernels)
        if grams is None:
            grams = [bank.combine(unit) for unit in units]
        if cross is None and new is not None:
            cross = [bank.cross(unit, new) for unit in units]
        return cls(np.asarray(grams), new, None if cross is None else np.asarray(cross), tolerance)

    def at(self, d: Array) -> Array:
        return np.tensordot(d, self.grams, axes=1)

    @property
    def largest(self) -> float:
        return float(np.abs(self.grams).max())


def _weights(n_kernels: int) -> Iterator[Array]:
    """Yield weights of all kernels, of half of them, of one, and of none."""
    dense = np.random.default_rng(5).uniform(size=n_kernels)
    yield dense
    yield np.where(np.arange(n_kernels) % 2, dense, 0.0)
    yield 0.7 * np.eye(n_kernels)[-1]
    yield np.zeros(n_kernels)


def _check_shapes(bank: Bank, name: str, dense: _Dense) -> None:
    wanted = (bank.n_kernels, bank.n_samples, bank.n_samples)
    require(
        dense.grams.shape == wanted,
        f"{name} says n_kernels={bank.n_kernels} and n_samples={bank.n_samples}, and the Gram "
        f"matrices have shape {dense.grams.shape}.",
    )
    turned = dense.grams.transpose(0, 2, 1)
    agree(
        f"a kernel of {name}", dense.grams, turned, dense.tolerance * dense.largest, "its transpose"
    )
    for m, gram in enumerate(dense.grams):
        smallest = float(np.linalg.eigvalsh(gram)[0])
        require(
            smallest >= -1e-7 * max(float(np.trace(gram)), dense.largest),
            f"kernel {m} of {name} is not positive semidefinite: its smallest eigenvalue is "
            f"{smallest:.3g}.",
        )


def _check_combine(bank: Bank, name: str, dense: _Dense) -> None:
    for d in _weights(bank.n_kernels):
        expected = dense.at(d)
        atol = dense.tolerance * float(np.abs(expected).max())
        agree(f"{name}.combine", bank.combine(d), expected, atol, _DENSE)
        agree(f"{name}.gram", bank.gram(d), expected, atol, _DENSE)
        buffer = _buffer(bank)
        require(bank.gram(d, out=buffer) is buffer, f"{name}.gram must return out, where given.")
        agree(f"{name}.gram written into LIBSVM's buffer", buffer, expected, atol, _DENSE)
        buffer[...] = dense.grams.sum(axis=0)
        bank.accumulate(d, buffer)
        total = dense.grams.sum(axis=0) + expected
        atol = dense.tolerance * float(np.abs(total).max())
        agree(f"{name}.accumulate", buffer, total, atol, _DENSE)


def _buffer(operator: KernelOperator) -> Array:
    """Return the strided memory that LIBSVM reads, filled with NaN."""
    gram: Array = SVM(np.resize([-1.0, 1.0], operator.n_samples)).gram
    gram[...] = np.nan
    return gram


def _check_every_kernel(bank: Bank, name: str, dense: _Dense) -> None:
    every = np.eye(bank.n_kernels)
    for m in range(0, bank.n_kernels, max(1, bank.n_kernels // 24)):
        atol = dense.tolerance * float(np.abs(dense.grams[m]).max())
        agree(f"kernel {m} of {name}", bank.combine(every[m]), dense.grams[m], atol, _DENSE)


def _check_combining_again(bank: Bank, name: str, dense: _Dense) -> None:
    """What a bank keeps of earlier combinations does not show, and a result is the caller's."""
    rng = np.random.default_rng(10)
    bank.combine(np.eye(bank.n_kernels)[0])[...] = np.nan
    for share in (1.0, 0.3, 0.3, 0.1, 0.1, 0.6, 0.1):
        active = rng.uniform(size=bank.n_kernels) < share
        for _ in range(2):
            d = rng.uniform(size=bank.n_kernels) * active
            expected = dense.at(d)
            atol = dense.tolerance * max(dense.largest, float(np.abs(expected).max()))
            agree(f"{name}.combine after others", bank.combine(d), expected, atol, _DENSE)


def _check_forms(bank: Bank, name: str, dense: _Dense) -> None:
    rng = np.random.default_rng(8)
    sizes = np.abs(dense.grams).max(axis=(1, 2))
    for support in (1.0, 0.2, 0.0):
        a = rng.standard_normal(bank.n_samples) * (rng.uniform(size=bank.n_samples) < support)
        expected = np.einsum("i,mij,j->m", a, dense.grams, a)
        scale = np.maximum(sizes * np.abs(a).sum() ** 2, np.finfo(float).tiny)
        actual = np.asarray(bank.quadratic_forms(a))
        require(
            actual.shape == expected.shape,
            f"{name}.quadratic_forms has shape {actual.shape}, not ({bank.n_kernels},).",
        )
        agree(f"{name}.quadratic_forms", actual / scale, expected / scale, dense.tolerance, _DENSE)
    a = rng.standard_normal(bank.n_samples)
    for chosen in ([], [-1], [3, 0, 2], range(bank.n_kernels)):
        kernels = np.array(chosen, dtype=int) % bank.n_kernels
        expected = np.einsum("mij,j->mi", dense.grams[kernels], a)
        atol = dense.tolerance * dense.largest * float(np.abs(a).sum())
        agree(f"{name}.products", bank.products(a, kernels), expected, atol, _DENSE)


def _check_diagonals(bank: Bank, name: str, dense: _Dense) -> None:
    diagonals = np.einsum("mii->mi", dense.grams)
    traces = diagonals.sum(axis=1)
    agree(f"{name}.diagonals", bank.diagonals(), diagonals, dense.tolerance * dense.largest, _DENSE)
    agree(
        f"{name}.traces",
        bank.traces(),
        traces,
        dense.tolerance * float(np.abs(traces).max()),
        _DENSE,
    )


def _check_inner_products(bank: Bank, name: str, dense: _Dense) -> None:
    n, stack = bank.n_samples, dense.grams
    flat = stack.reshape(len(stack), -1)
    products = flat @ flat.T
    atol = dense.tolerance * float(np.abs(products).max())
    agree(f"{name}.inner_products", bank.inner_products(), products, atol, _DENSE)
    H = np.eye(n) - 1.0 / n
    flat = (H @ stack @ H).reshape(len(stack), -1)
    actual = bank.inner_products(centred=True)
    # Centring leaves little of some kernels, with the rounding of the whole.
    smallest = 3e-3 * np.linalg.norm(stack, axis=(1, 2))
    units = np.maximum(np.linalg.norm(flat, axis=1), smallest)
    units[units == 0.0] = 1.0  # of a kernel that is 0
    scale = np.outer(units, units)
    agree(
        f"{name}.inner_products of centred kernels", actual / scale, flat @ flat.T / scale,
        dense.tolerance, _DENSE,
    )  # fmt: skip
    agree(f"{name}.centred_products", bank.centred_products, actual, 0.0, "inner_products")
    root = np.random.default_rng(3).standard_normal((n, 3))
    K = root @ root.T - np.eye(n)
    norms = np.linalg.norm(stack, axis=(1, 2))
    expected = np.einsum("mij,ij->m", stack, K)
    atol = dense.tolerance * float(norms.max() * np.linalg.norm(K))
    agree(f"{name}.inner_products_with", bank.inner_products_with(K), expected, atol, _DENSE)
    y = np.where(np.random.default_rng(4).uniform(size=n) < 0.5, -1.0, 1.0)
    expected = np.einsum("mij,i,j->m", stack, y, y)
    atol = dense.tolerance * float(np.abs(stack).sum((1, 2)).max())
    agree(f"{name}.target_alignments", bank.target_alignments(y), expected, atol, _DENSE)


def _check_cross(bank: Bank, name: str, dense: _Dense) -> None:
    if dense.new is None or dense.cross is None:
        return
    for d in _weights(bank.n_kernels):
        expected = np.tensordot(d, dense.cross, axes=1)
        atol = dense.tolerance * float(np.abs(expected).max())
        agree(f"{name}.cross", bank.cross(d, dense.new), expected, atol, _DENSE)
    _check_batches(bank, name, next(_weights(bank.n_kernels)), dense.new)


def _check_batches(operator: KernelOperator, name: str, d: Array, new: NDArray[Any]) -> None:
    """The kernel of a new sample does not depend on which others it comes with."""
    together = operator.cross(d, new)
    axis = max(0, new.ndim - 2)  # a stack of cross Gram matrices is (M, n_z, n)
    alone = [operator.cross(d, part) for part in np.split(new, new.shape[axis], axis=axis)]
    agree(
        f"{name}.cross of new samples together", together, np.concatenate(alone),
        1e-12 * float(np.abs(together).max()), "that of each of them alone",
    )  # fmt: skip


def _check_take(bank: Bank, name: str, dense: _Dense) -> None:
    order = np.random.default_rng(6).permutation(bank.n_samples)
    half = order[: bank.n_samples // 2]
    _check_rows(bank.take(half), f"{name}.take", bank, dense, half)
    first, second = order[:-2], np.array([4, 0, 3, 2])
    twice = bank.take(first).take(second)
    _check_rows(twice, f"{name}.take, taken twice,", bank, dense, first[second])


def _check_rows(part: Any, name: str, bank: Bank, dense: _Dense, rows: NDArray[Any]) -> None:
    require(isinstance(part, Bank), f"{name} must return a Bank.")
    require(
        (part.n_samples, part.features, part.groups) == (len(rows), bank.features, bank.groups),
        f"{name} must keep the features and the groups, and have n_samples={len(rows)}.",
    )
    stack = dense.grams[:, rows[:, None], rows]
    d, a = next(_weights(bank.n_kernels)), np.linspace(-1.0, 1.0, len(rows))
    combined = np.tensordot(d, stack, axes=1)
    scale = dense.tolerance * max(
        float(np.abs(stack).sum((1, 2)).max()), float(np.abs(combined).max())
    )
    agree(f"{name}: combine", part.combine(d), combined, scale, _DENSE)
    agree(f"{name}: traces", part.traces(), np.trace(stack, axis1=1, axis2=2), scale, _DENSE)
    forms = np.einsum("i,mij,j->m", a, stack, a)
    agree(f"{name}: quadratic_forms", part.quadratic_forms(a), forms, scale, _DENSE)
    every = np.arange(bank.n_kernels)
    agree(f"{name}: products", part.products(a, every), stack @ a, scale, _DENSE)
    if dense.new is not None and dense.cross is not None:
        expected = np.tensordot(d, dense.cross[:, :, rows], axes=1)
        atol = dense.tolerance * float(np.abs(expected).max())
        agree(f"{name}: cross", part.cross(d, dense.new), expected, atol, _DENSE)


_OF_BANKS = (
    _check_shapes,
    _check_combine,
    _check_every_kernel,
    _check_combining_again,
    _check_forms,
    _check_diagonals,
    _check_inner_products,
    _check_cross,
    _check_take,
)


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
    atol = tolerance * float(np.abs(gram).max())
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
    atol = 1e-6 * max(float(np.abs(numeric).max()), 1e-3)
    agree(f"{name}.gradient", family.gradient(theta, a), numeric, atol, "finite differences")
    zero = np.zeros(len(theta))
    agree(
        f"{name}.gradient at a = 0", family.gradient(theta, np.zeros(len(a))), zero, 0.0, "0"
    )  # fmt: skip
