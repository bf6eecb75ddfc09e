"""What is no Gram matrix, no row number or no histogram is refused in one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dense_twins import BANK_CASES, FAMILY_CASES, BankCase, FamilyCase
from numpy.typing import ArrayLike
from scipy.io import savemat

import mklbench
from mklbench.errors import InputError
from mklbench.kernels import (
    Bank,
    Family,
    KernelOperator,
    MatrixKernels,
    Precomputed,
    PrecomputedBank,
    precomputed,
)
from mklbench.libsvm import SVM, SVR

N = 12


def gram() -> np.ndarray:
    X = np.random.default_rng(0).standard_normal((N, 3))
    return np.exp(-((X[:, None] - X) ** 2).sum(axis=2))


Y = np.resize([1.0, -1.0], N)

# What an array of real numbers is not, made of one.
TYPES: dict[str, Callable[[np.ndarray], Any]] = {
    "complex": lambda K: K + 0j,
    "complex objects": lambda K: (K + 1j).astype(object),
    "text": lambda K: np.full(K.shape, "a"),
    "numbers as text": lambda K: K.astype(str),
    "bytes": lambda K: K.astype(bytes),
    "objects": lambda K: np.full(K.shape, {}),
    "dates": lambda K: np.full(K.shape, "2020-01-01", dtype="datetime64[D]"),
    "ragged": lambda K: [[1.0], [1.0, 2.0]],
}
NOT_REAL = r"(is of type .*|holds what is no real number.*): give an array of real numbers\.$"


def one_sentence(error: pytest.ExceptionInfo[InputError]) -> bool:
    message = str(error.value)
    return "\n" not in message and re.search(r"[.!?] [A-Z]", message) is None


@pytest.mark.parametrize("kind", TYPES)
class TestNoRealNumbers:
    @pytest.mark.parametrize("entrance", [PrecomputedBank, Precomputed, precomputed])
    def test_a_stack(self, kind: str, entrance: Callable[[Any], Any]) -> None:
        with pytest.raises(InputError, match=NOT_REAL) as error:
            entrance(TYPES[kind](gram()[None]))
        assert one_sentence(error)

    def test_cross_matrices(self, kind: str) -> None:
        with pytest.raises(InputError, match=NOT_REAL):
            PrecomputedBank(gram()[None]).cross([1.0], TYPES[kind](gram()[None]))

    @pytest.mark.parametrize("machine", [SVM, SVR])
    def test_an_svm(self, kind: str, machine: Callable[..., Any]) -> None:
        with pytest.raises(InputError, match=NOT_REAL):
            machine(Y).solve(TYPES[kind](gram()))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
class TestNotFinite:
    @pytest.mark.parametrize("stacked", [False, True])
    def test_at_prediction(self, bad: float, stacked: bool) -> None:
        K = gram()[None] if stacked else gram()
        model = mklbench.KernelSVC("precomputed").fit(K, Y)
        K[..., 3, 4] = bad
        with pytest.raises(InputError, match=rf"X holds {bad} at row 3, column 4: ") as error:
            model.predict(K)
        assert one_sentence(error)

    def test_in_the_memory_of_an_svm(self, bad: float) -> None:
        machine = SVM(Y)
        machine.gram[...] = gram()
        machine.gram[5, 5] = np.abs(bad)
        with pytest.raises(InputError, match=r"K holds (nan|inf) at row 5, column 5: "):
            machine.solve()


def test_values_beyond_single_precision_are_not_for_libsvm() -> None:
    with pytest.raises(InputError, match=r"K holds 1e\+40 at row 0, column 0: .* up to 3e\+38"):
        SVM(Y).solve(1e40 * gram())
    SVM(Y).solve(1e38 * np.eye(N))


def test_a_file_of_complex_matrices(tmp_path: Path) -> None:
    savemat(tmp_path / "mine.mat", {"K": gram() + 1j})
    with pytest.raises(InputError, match=r"kernel 'K' of K is of type complex128: give"):
        MatrixKernels([str(tmp_path / "mine.mat")])
    for name, K, reason in (
        ("complex", gram()[None] + 1j, "kernel 0 of K is of type complex128: give"),
        ("text", gram()[None].astype(str), r"kernel.K=.*text.npy holds no matrix: name a file"),
    ):
        np.save(tmp_path / f"{name}.npy", K)
        with pytest.raises(InputError, match=reason):
            Precomputed(tmp_path / f"{name}.npy")


def bank_of(make: Callable[[], BankCase]) -> Bank:
    return make().bank


def family_of(make: Callable[[], FamilyCase]) -> Family:
    return make().family


OPERATORS: dict[str, Callable[[], KernelOperator]] = {
    **{name: partial(bank_of, make) for name, make in BANK_CASES.items()},
    **{name: partial(family_of, make) for name, make in FAMILY_CASES.items()},
}
del OPERATORS["defaults of Bank"]  # the tests' own


@pytest.mark.parametrize("name", OPERATORS)
def test_rows_of_every_operator(name: str) -> None:
    operator = OPERATORS[name]()
    n = operator.n_samples
    weights = operator.uniform_weights()
    bad: list[tuple[ArrayLike, str]] = [
        ([-1], "rows with the number -1 are not accepted: "),
        ([0, n], f"rows with the number {n} are not accepted: "),
        ([0.5], r"rows of shape \(1,\) and type float64 are not accepted: "),
        ([np.nan], r"rows of shape \(1,\) and type float64 are not accepted: "),
        (["0"], r"rows of shape \(1,\) and type <U1 are not accepted: "),
        (3, r"rows of shape \(\) and type int64 are not accepted: "),
        ([[0, 1]], r"rows of shape \(1, 2\) and type int64 are not accepted: "),
        ([True, False], r"rows of shape \(2,\) and type bool are not accepted: "),
    ]
    for rows, said in bad:
        with pytest.raises(InputError, match=said) as error:
            operator.take(rows)
        assert one_sentence(error)
    mask = np.arange(n) % 3 != 1
    np.testing.assert_array_equal(
        operator.take(mask).gram(weights), operator.take(np.flatnonzero(mask)).gram(weights)
    )
