"""Kernel banks: halves against the plain stack, factors against halves, and the cost model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from benchmarks.timing import Result, alternate
from mklbench.kernels import Bank, FeatureBank, Gaussian, PrecomputedBank
from mklbench.kernels.builders.named import simplemkl_functions
from mklbench.kernels.functions import KernelFunction
from mklbench.kernels.storage import cost
from mklbench.kernels.storage.packed import half_size
from mklbench.libsvm import SVM

_SAMPLES = (25, 50, 100, 200, 500, 1000, 2000)
_GAUSSIAN = (Gaussian(1.0),)
_TEN_GAUSSIANS = tuple(simplemkl_functions(degrees=()))


def run() -> list[Result]:
    """Return the prices of the cost model, its choices, and the operations on halves."""
    return [
        *_prices(),
        *_halves_against_stack(),
        *(_crossover(n, 30, _GAUSSIAN) for n in _SAMPLES),
        *(_crossover(n, 30, _TEN_GAUSSIANS) for n in _SAMPLES[:5]),
    ]


def _prices() -> list[Result]:
    """Measure the constants of `mklbench.kernels.storage.cost`, all three in one run."""
    rng = np.random.default_rng(0)
    M, n, rank = 442, 245, 1500
    halves, vector = rng.standard_normal((M, half_size(n))), rng.standard_normal(half_size(n))
    left, right = rng.standard_normal((2, rank, n))
    small = np.zeros(8)

    def read() -> np.ndarray:
        return halves @ vector

    def multiply() -> np.ndarray:
        return left.T @ right

    def call() -> None:
        for _ in range(1000):
            np.dot(small, small)

    read_seconds, multiply_seconds, _ = alternate(read, multiply, repeats=20)
    call_seconds, _, _ = alternate(call, read, repeats=20)
    return [
        _price("bytes/s of a pass", halves.nbytes / read_seconds, cost.BYTES_PER_SECOND),
        _price("flops/s of a product", 2 * n * n * rank / multiply_seconds, cost.FLOPS_PER_SECOND),
        _price("seconds of a small call", call_seconds / 1000, cost.CALL_SECONDS),
    ]


def _price(name: str, measured: float, stated: float) -> Result:
    # Other processors have other prices; the model's choice depends on their ratios only weakly.
    return Result(f"cost model: {name}", f"{measured:.1e}", f"stated {stated:.1e}", None)


def _halves_against_stack() -> list[Result]:
    M, n = 442, 245
    rng = np.random.default_rng(0)
    stack = rng.standard_normal((M, n, n))
    stack += stack.transpose(0, 2, 1)
    bank = PrecomputedBank(stack)
    a = rng.standard_normal(n) * (rng.uniform(size=n) < 0.5)
    active = np.sort(rng.choice(M, cost.FEW, replace=False))
    weights = np.zeros(M)
    weights[active] = rng.uniform(size=cost.FEW)
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
            f"{cost.FEW} active kernels into LIBSVM's buffer",
            partial(bank.combine, weights, ours),
            stack_combine,
            0.6,
        ),
        (
            f"products of {cost.FEW} kernels",
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


def _crossover(n: int, d: int, functions: Sequence[KernelFunction]) -> Result:
    """Compare a step near the optimum of both forms of a bank of per-feature Gaussians."""
    rng = np.random.default_rng(n)
    M = d * len(functions)
    X = rng.standard_normal((n, d))
    a = rng.standard_normal(n) * (rng.uniform(size=n) < 0.5)
    active = np.sort(rng.choice(M, cost.FEW, replace=False))
    gram = SVM(np.resize([-1.0, 1.0], n)).gram
    halves = FeatureBank(X, functions, form="halves")
    factors = FeatureBank(X, functions, form="factors")
    chosen = FeatureBank(X, functions).form

    def step(bank: Bank) -> None:
        weights = np.zeros(M)
        weights[active] = 1.0 / cost.FEW
        bank.quadratic_forms(a)
        bank.combine(weights, gram)
        bank.products(a, active)

    repeats = max(5, min(200, 100_000 // n**2 * 10))
    of_halves, of_factors, ratio = alternate(
        partial(step, halves), partial(step, factors), repeats=repeats
    )
    loss = max(1.0, ratio if chosen == "halves" else 1.0 / ratio)
    estimates = halves.costs.halves().step, factors.costs.factors().step
    return Result(
        f"step on {M} per-feature Gaussians, n = {n}: halves, factors",
        f"{of_halves * 1e3:.2f} ms, {of_factors * 1e3:.2f} ms (model {estimates[0] * 1e3:.2f}, "
        f"{estimates[1] * 1e3:.2f}); chosen: {chosen}, {loss:.2f} times the faster",
        "<= 1.5 times",
        loss <= 1.5,
    )
