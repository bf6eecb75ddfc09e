"""Stacks of Gram matrices as MKL data ship them: every order of axes gives the same kernels."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matlab73 import save73
from numpy.testing import assert_allclose
from scipy.io import savemat

from mklbench.errors import InputError
from mklbench.experiments.run import Run
from mklbench.kernels import MatrixKernels
from mklbench.kernels.builders.matrix_files import matrices, sample_names

N = 9
Write = Callable[[Path, dict[str, Any]], None]


def stack(n_kernels: int, n: int = N) -> np.ndarray:
    """Return Gram matrices (M, n, n)."""
    X = np.random.default_rng(0).standard_normal((n_kernels, n, 3))
    return X @ X.transpose(0, 2, 1)


def last(K: np.ndarray) -> np.ndarray:
    """Return the stack as MATLAB has it, (n, n, M)."""
    return np.moveaxis(K, 0, 2)


def _npz(path: Path, variables: dict[str, Any]) -> None:
    np.savez(path, **variables)


WRITERS: dict[str, Write] = {"npz": _npz, "mat": savemat, "73.mat": save73}


def grams(path: Path, **options: Any) -> np.ndarray:
    """Return all matrices that are found in a file."""
    bank = MatrixKernels(str(path), normalise=False, **options)(
        np.arange(MatrixKernels(str(path), normalise=False, **options).n_samples)
    )
    return np.array([bank.combine(weights) for weights in np.eye(bank.n_kernels)])


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("order", ["first", "last"])
@pytest.mark.parametrize("n_kernels", [2, 5])
def test_a_stack_in_any_file_and_order(
    kind: str, order: str, n_kernels: int, tmp_path: Path
) -> None:
    K = stack(n_kernels)
    path = tmp_path / f"K.{kind}"
    WRITERS[kind](path, {"anything": K if order == "first" else last(K), "Y": np.ones((N, 1))})
    assert_allclose(grams(path), K, atol=1e-14)


def test_a_cell_of_matrices_is_a_stack(tmp_path: Path) -> None:
    K = stack(3)
    cell = np.empty((1, 3), dtype=object)
    cell[0, :] = list(K)
    savemat(tmp_path / "old.mat", {"K": cell, "names": np.array(["a", "b"], dtype=object)})
    save73(tmp_path / "new.mat", {"K": list(K), "names": ["a", "b"]})
    assert_allclose(grams(tmp_path / "old.mat"), K, atol=1e-14)
    assert_allclose(grams(tmp_path / "new.mat"), K, atol=1e-14)


def test_of_several_stacks_that_with_the_usual_name_is_taken(tmp_path: Path) -> None:
    K = stack(3)
    np.savez(tmp_path / "K.npz", Z=2 * K, KH=K)
    assert_allclose(grams(tmp_path / "K.npz"), K, atol=1e-14)
    assert_allclose(grams(tmp_path / "K.npz", array="Z"), 2 * K, atol=1e-14)
    assert_allclose(grams(tmp_path / "K.npz", array=["Z", "KH"]), [*(2 * K), *K], atol=1e-14)


@pytest.mark.parametrize(
    ("variables", "options", "reason"),
    [
        (
            {"KH": stack(2), "K": stack(2)},
            {},
            "several stacks of matrices, KH, K: choose kernel=grams with",
        ),
        (
            {"A": stack(2), "B": stack(2)},
            {},
            "several stacks of matrices, A, B: choose kernel=grams with kernel.array=A",
        ),
        ({"KH": stack(2)}, {"array": "HK"}, "kernel.array=HK is no variable of"),
        ({"KH": stack(2), "y": np.ones(N)}, {"array": "y"}, "has shape (9,): name a matrix"),
        ({"KH": stack(2) - 9 * np.eye(N)}, {}, "'KH, matrix 0' of K is not positive semidefinite"),
        ({"KH": np.triu(stack(2))}, {}, "'KH, matrix 0' of K is not symmetric"),
        ({"KH": stack(2) * np.nan}, {}, "'KH, matrix 0' of K holds nan at row 0, column 0"),
        ({"Y": np.ones(N), "X": np.ones((2, 3, 4))}, {}, "holds no matrix"),
    ],
)
def test_what_is_refused(
    variables: dict[str, Any], options: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    np.savez(tmp_path / "K.npz", **variables)
    with pytest.raises(InputError, match=re.escape(reason)):
        MatrixKernels(str(tmp_path / "K.npz"), **options)


def test_new_options_leave_old_keys(tmp_path: Path) -> None:
    """The key of before there was `array`, on a file that nobody changes."""
    np.save(tmp_path / "K.npy", stack(2, 30))
    overrides = ["algo=mkl", "data=twonorm", "data.n_samples=30", "kernel=grams"]
    files = f"kernel.files=['{tmp_path}/K.npy']"
    run = Run.from_overrides([*overrides, files])
    assert set(run.identity["kernel"]) == {
        "name", "_target_", "_partial_", "files", "groups", "normalise",
    }  # fmt: skip
    named = Run.from_overrides([*overrides, files, "kernel.array=K"])
    assert named.key != run.key


def test_a_table_of_text_is_ordered_by_its_names(tmp_path: Path) -> None:
    K = np.array([[2.0, 0.5, 0.1], [0.5, 3.0, 0.2], [0.1, 0.2, 4.0]])
    frame = pd.DataFrame(K, index=["p", "q", "r"], columns=["p", "q", "r"])
    frame[["r", "p", "q"]].to_csv(tmp_path / "K.tsv", sep="\t")
    np.savetxt(tmp_path / "plain.csv", K, delimiter=",", header="made")
    frame.to_csv(tmp_path / "comma.csv", sep=";", decimal=",")
    frame.to_csv(tmp_path / "above.csv", index=False)
    pd.DataFrame(K).to_csv(tmp_path / "numbered.csv", index=False)
    of_r = '"p" "q" "r"\n' + frame.to_csv(sep=" ", header=False)
    (tmp_path / "r.txt").write_text(of_r)
    named = {"K.tsv", "comma.csv", "above.csv", "r.txt"}
    for name in (*named, "plain.csv", "numbered.csv"):
        (found,) = matrices(str(tmp_path / name)).values()
        np.testing.assert_array_equal(found, K)
        assert sample_names(str(tmp_path / name)) == (["p", "q", "r"] if name in named else None)
    lines = [
        f"{k % 2} 0:{k + 1} " + " ".join(f"{m + 1}:{v}" for m, v in enumerate(row))
        for k, row in enumerate(K)
    ]
    (tmp_path / "K.svm").write_text("\n".join(lines) + "\n")
    (found,) = matrices(str(tmp_path / "K.svm")).values()
    np.testing.assert_array_equal(found, K)
    frame.rename(columns={"r": "s"}).to_csv(tmp_path / "K.csv")
    with pytest.raises(InputError, match="names other samples over its columns"):
        matrices(str(tmp_path / "K.csv"))
