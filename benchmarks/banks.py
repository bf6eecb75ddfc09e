"""Kernel banks: packed Gram matrices against the plain stack."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.timing import Result, alternate
from mklbench.kernels import PrecomputedBank
from mklbench.libsvm import SVM

# Kernels that are active near a sparse optimum.
_ACTIVE = 20


def run() -> list[Result]:
    """Return the operations on packed Gram matrices beside those on the stack."""
    return [
        *_halves_against_stack(),
    ]


def _halves_against_stack() -> list[Result]:
    M, n = 442, 245
    rng = np.random.default_rng(0)
    stack = rng.standard_normal((M, n, n))
    stack += stack.transpose(0, 2, 1)
    bank = PrecomputedBank(stack)
    a = rng.standard_normal(n) * (rng.uniform(size=n) < 0.5)
    active = np.sort(rng.choice(M, _ACTIVE, replace=False))
    weights = np.zeros(M)
    weights[active] = rng.uniform(size=_ACTIVE)
    ours, theirs = (SVM(np.resize([-1.0, 1.0], n)).gram for _ in range(2))

    def stack_forms() -> np.ndarray:
        return (stack.reshape(-1, n) @ a).reshape(M, n) @ a

    def stack_combine() -> None:
        theirs[...] = np.tensordot(weights[active], stack[active], axes=1)

    def stack_products() -> np.ndarray:
        return stack[active] @ a

    pairs: list[tuple[str, Callable[[], object], Callable[[], object], float]] = [
        (f"pass over {M} kernels", partial(bank.quadratic_forms, a), stack_forms, 0.6),
        (
            f"{_ACTIVE} active kernels into LIBSVM's buffer",
            partial(bank.combine, weights, ours),
            stack_combine,
            0.6,
        ),
        (
            f"products of {_ACTIVE} kernels",
            partial(bank.products, a, active),
            stack_products,
            1.0,
        ),
    ]
    results = []
    for name, halves, plain, target in pairs:
        fast, slow, ratio = alternate(halves, plain, repeats=30)
        results.append(
            Result(
                f"{name}, n = {n}: halves / stack",
                f"{ratio:.2f} ({fast * 1e3:.2f} ms / {slow * 1e3:.2f} ms)",
                f"<= {target}",
                ratio <= target,
            )
        )
    np.testing.assert_allclose(ours, theirs, atol=1e-10)
    return results
