"""What holds for every bank and every family: each answer is that of dense Gram matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.kernels import Bank, Family, KernelBuilder, KernelOperator, PrecomputedBank
from mklbench.kernels.contract import CrossKernels, builder_of, on_few
from mklbench.libsvm import SVM

Array = NDArray[np.float64]


# What answers are compared with.
_DENSE = "that of the dense Gram matrices"


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
    crosses = None if cross is None else np.asarray(cross)
    twin = PrecomputedBank(stack)
    against = partial(_check_answers, new=new, crosses=crosses, tolerance=tolerance)
    against(name, bank, twin)
    if new is not None:
        _check_batches(bank, name, next(_weights(bank.n_kernels)), new)
    order, second = np.random.default_rng(6).permutation(n), np.array([4, 0, 3, 2])
    half = order[: n // 2]
    against(f"{name}.take", bank.take(half), twin.take(half))
    twice = bank.take(order[:-2]).take(second)
    against(f"{name}.take, taken twice,", twice, twin.take(order[:-2][second]))
    # What a prediction keeps has the values of some kernels at some of the samples.
    kernels = np.arange(0, bank.n_kernels, 2)
    kept, theirs = bank.take(half, kernels), twin.take(half, kernels)
    _check_cross(f"{name}.take(rows, kernels)", kept, theirs, len(kernels), new, crosses, tolerance)


def _check_answers(
    name: str,
    bank: Bank,
    twin: Bank,
    new: NDArray[Any] | None,
    crosses: Array | None,
    tolerance: float,
) -> None:
    """Lay the answers of a bank beside those of the dense Gram matrices.

    Each may differ by the tolerance, as a share of the largest number that its sum may come to.
    """
    require(isinstance(bank, Bank), f"{name} must return a Bank.")
    rng, n = np.random.default_rng(8), twin.n_samples

    def compare(what: str, found: ArrayLike, expected: ArrayLike, scale: float) -> None:
        agree(f"{name}.{what}", found, expected, tolerance * scale, _DENSE)

    size = float(twin.diagonals().max())  # no entry of a positive semidefinite matrix is larger
    for d in _weights(twin.n_kernels):  # whatever was combined before
        expected, buffer = twin.combine(d), _buffer(bank)
        scale = max(size, _largest(expected))
        found = bank.combine(d)
        compare("combine", found, expected, scale)
        found[...] = np.nan  # a result is the caller's
        require(bank.gram(d, out=buffer) is buffer, f"{name}.gram must return out.")
        compare("gram written into LIBSVM's buffer", buffer, expected, scale)
    a = rng.standard_normal(n)
    sparse = a * (rng.uniform(size=n) < 0.2)
    K = np.outer(a, sparse) + np.outer(sparse, a) - np.eye(n)
    answers: list[tuple[str, tuple[Any, ...], float]] = [
        ("diagonals", (), 1.0),
        ("traces", (), n),
        *(("quadratic_forms", (b,), np.abs(b).sum() ** 2 + 1.0) for b in (a, sparse, 0.0 * a)),
        ("target_alignments", (np.sign(a),), n**2),
        ("inner_products_with", (K,), np.abs(K).sum()),
    ]
    for chosen in ([], [-1], [3, 0, 2], range(twin.n_kernels)):
        kernels = np.array(chosen, dtype=int) % twin.n_kernels
        answers.append(("products", (a, kernels), np.abs(a).sum()))
    for what, given, scale in answers:
        compare(what, getattr(bank, what)(*given), getattr(twin, what)(*given), size * scale)
    norms = np.sqrt(np.maximum(twin.inner_products().diagonal(), np.finfo(float).tiny))
    units = np.outer(norms, norms)
    for centred in (False, True):
        found, expected = (each.inner_products(centred=centred) / units for each in (bank, twin))
        compare(f"inner_products(centred={centred})", found, expected, 1.0)
    _check_cross(name, bank, twin, twin.n_kernels, new, crosses, tolerance)


def _check_cross(
    name: str,
    bank: CrossKernels,
    twin: CrossKernels,
    n_kernels: int,
    new: NDArray[Any] | None,
    crosses: Array | None,
    tolerance: float,
) -> None:
    """Do so for what kernels are between new samples and those of training."""
    if new is None or crosses is None:
        return
    for d in _weights(n_kernels):
        expected = twin.cross(d, crosses)
        agree(f"{name}.cross", bank.cross(d, new), expected, tolerance * _largest(expected), _DENSE)


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
