"""Distances and Gram matrices from files: the layouts that are read, and what is refused."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.io import savemat

from mklbench import UniformMKL
from mklbench.errors import InputError
from mklbench.experiments.evaluation import run_split
from mklbench.experiments.run import Run
from mklbench.experiments.run_checks import check_run
from mklbench.kernels import MatrixDescriptors, MatrixKernels, Precomputed, precomputed

N = 12


def distances(seed: int, n: int = N) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, 3))
    return ((X[:, None] - X[None]) ** 2).sum(axis=2)


def gram(seed: int, n: int = N) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, 3))
    return X @ X.T


class TestDistances:
    def test_the_two_files_of_the_flowers(self, tmp_path: Path) -> None:
        """Variables of square matrices, in single precision, as the authors' files have them."""
        first = {
            f"D_{name}gc": distances(i) for i, name in enumerate(("colour", "shape", "texture"))
        }
        second = {f"D_{name}": distances(3 + i) for i, name in enumerate(("hog", "hsv", "siftint"))}
        singles = [{k: v.astype(np.float32) for k, v in of.items()} for of in (first, second)]
        savemat(tmp_path / "gc.mat", singles[0] | {"names": "text", "labels": np.arange(N)})
        savemat(tmp_path / "it.mat", singles[1])
        builder = MatrixDescriptors(
            [str(tmp_path / "gc.mat"), str(tmp_path / "it.mat")], [0.5, 2.0]
        )
        rows, new = np.array([8, 0, 3, 5, 9]), np.array([1, 2])
        bank = builder(rows)
        assert bank.groups == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11]]
        D = distances(4)
        mean = D[np.ix_(rows, rows)].sum() / 20
        unit = np.eye(12)[9]
        assert_allclose(bank.combine(unit), np.exp(-2.0 * D[np.ix_(rows, rows)] / mean) / 5, 1e-5)
        assert_allclose(bank.cross(unit, new), np.exp(-2.0 * D[np.ix_(new, rows)] / mean) / 5, 1e-5)
        part = bank.take([0, 2])
        assert_allclose(part.combine(unit), bank.combine(unit)[np.ix_([0, 2], [0, 2])])
        assert_allclose(part.cross(unit, new), bank.cross(unit, new)[:, [0, 2]])

    @pytest.mark.parametrize(
        ("variables", "reason"),
        [
            ({"D": distances(0)[:5]}, "D has shape (5, 12): a matrix between samples is square"),
            ({"D": np.triu(distances(0))}, "'D' of kernel.files is not symmetric"),
            ({"D": -distances(0)}, "'D' of kernel.files has entries from -"),
            ({"D": np.ones((N, N))}, "up to 1 between a sample and itself: distances"),
            (
                {"D": distances(0) * np.nan},
                "'D' of kernel.files holds nan at row 0, column 0: remove",
            ),
            (
                {"D": distances(0), "E": distances(0, 9)},
                "'E' of kernel.files has shape (9, 9), but",
            ),
        ],
    )
    def test_what_is_refused(self, variables: dict[str, Any], reason: str, tmp_path: Path) -> None:
        path = tmp_path / "D.mat"
        savemat(path, variables)
        with pytest.raises(InputError, match=re.escape(reason)):
            MatrixDescriptors([str(path)])

    def test_files_that_are_none(self, tmp_path: Path) -> None:
        (tmp_path / "new.mat").write_bytes(
            b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b" " * 400
        )
        # A variable of a type that there is none of, which ends the process inside of SciPy.
        (tmp_path / "hurt.mat").write_bytes(
            b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 99, 8) + bytes(8)
        )
        for name in ("hurt.mat", "new.mat"):
            with pytest.raises(InputError, match=r"cannot be read as a \.mat"):
                MatrixDescriptors([str(tmp_path / name)])


class TestGrams:
    def test_the_kernels_of_a_file_are_a_group(self, tmp_path: Path) -> None:
        savemat(tmp_path / "a.mat", {"K1": gram(0), "K2": gram(1)})
        np.save(tmp_path / "b.npy", gram(2))
        files = [str(tmp_path / "a.mat"), str(tmp_path / "b.npy")]
        rows = np.arange(6)
        bank = MatrixKernels(files, normalise=False)(rows)
        assert bank.groups == [[0, 1], [2]]
        assert_allclose(bank.combine([0.0, 1.0, 0.0]), gram(1)[:6, :6])
        assert MatrixKernels(files, [[0, 2], [1]])(rows).groups == [[0, 2], [1]]
        assert_allclose(MatrixKernels(files)(rows).traces(), 1.0)
        with pytest.raises(InputError, match="exactly once"):
            MatrixKernels(files, [[0, 2]])

    def test_one_that_is_not_positive_semidefinite(self, tmp_path: Path) -> None:
        indefinite = gram(1) - 0.1 * np.eye(N)
        savemat(tmp_path / "a.mat", {"K1": gram(0), "K2": indefinite})
        with pytest.raises(InputError, match=r"'K2' of K is not positive .* is -0\.1"):
            MatrixKernels([str(tmp_path / "a.mat")])
        for entrance in (Precomputed, precomputed):
            with pytest.raises(InputError, match="kernel 1 of K is not positive semidefinite"):
                entrance(np.array([gram(0), indefinite]))
        eigenvalues, V = np.linalg.eigh(indefinite)
        mended = MatrixKernels([str(tmp_path / "a.mat")], make_psd="flip", normalise=False)
        bank = mended(np.arange(N))
        assert_allclose(bank.combine([1.0, 0.0]), gram(0))
        assert_allclose(bank.combine([0.0, 1.0]), (V * np.abs(eigenvalues)) @ V.T, atol=1e-12)

    def test_rounding_of_symmetry_is_taken_out_with_a_warning(self, tmp_path: Path) -> None:
        K = gram(0)
        K[0, 1] += 1e-7 * K.max()
        np.savez(tmp_path / "a.npz", K=K[None])
        with pytest.warns(UserWarning, match="'K, matrix 0' of K is not symmetric, .* differ by"):
            bank = MatrixKernels([str(tmp_path / "a.npz")], normalise=False)(np.arange(N))
        assert_allclose(bank.combine([1.0]), 0.5 * (K + K.T), rtol=0, atol=1e-14)

    @pytest.mark.parametrize(
        "K", [gram(0).astype(np.float32).astype(float), np.zeros((N, N)), np.ones((N, N))]
    )
    def test_rounding_is_accepted(self, K: np.ndarray) -> None:
        assert Precomputed(K[None]).n_samples == N


def test_a_run_on_the_distances_of_a_data_set(tmp_path: Path) -> None:
    overrides = ["algo=vskl", "data=twonorm", "data.n_samples=60", "split.n_splits=1"]
    dataset = Run.from_overrides(overrides).dataset()
    parts = [
        ((dataset.X[:, None, k] - dataset.X[None, :, k]) ** 2).sum(axis=2) for k in ([0, 1], [2])
    ]
    np.savez(tmp_path / "D.npz", first=parts[0], second=parts[1])
    run = Run.from_overrides([*overrides, "kernel=distances", f"kernel.files=['{tmp_path}/D.npz']"])
    check_run(run)
    record = run_split(run, 0)
    assert (record.status, record.n_base_kernels) == ("done", 10)
    key = run.key
    np.savez(tmp_path / "D.npz", first=parts[1], second=parts[0])
    again = Run.from_overrides(
        [*overrides, "kernel=distances", f"kernel.files=['{tmp_path}/D.npz']"]
    )
    assert again.key != key
    np.savez(tmp_path / "D.npz", first=distances(0))
    with pytest.raises(InputError, match="matrices on 12 samples, and data=twonorm has 60 rows"):
        check_run(again)


class TestNames:
    """Kernels go by the names of their variables, and of their files where there are several."""

    def test_of_a_stack_and_of_variables(self, tmp_path: Path) -> None:
        stack = np.stack([gram(0), gram(1)])
        savemat(tmp_path / "mkl.mat", {"KH": np.moveaxis(stack, 0, 2)})
        np.savez(tmp_path / "two.npz", rbf=gram(2), linear=gram(3))
        np.save(tmp_path / "one.npy", gram(4))
        np.save(tmp_path / "stack.npy", stack)
        files = [str(tmp_path / name) for name in ("mkl.mat", "two.npz", "one.npy", "stack.npy")]
        alone = [MatrixKernels(file)(np.arange(5)).kernel_names() for file in files]
        assert alone == [
            ("KH, matrix 0", "KH, matrix 1"),
            ("rbf", "linear"),
            ("matrix 0",),
            ("K, matrix 0", "K, matrix 1"),
        ]
        together = MatrixKernels(files)(np.arange(5))
        assert together.kernel_names()[1:5] == (
            "mkl.mat: KH, matrix 1",
            "two.npz: rbf",
            "two.npz: linear",
            "one.npy: matrix 0",
        )
        assert together.take([0, 2, 3]).kernel_names() == together.kernel_names()
        chosen = MatrixKernels(files[1], array=["linear"])(np.arange(5))
        assert chosen.kernel_names() == ("linear",)

    def test_of_a_fitted_model(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "two.npz", rbf=gram(0), linear=gram(1))
        builder = MatrixKernels(str(tmp_path / "two.npz"))
        model = UniformMKL(kernel=builder).fit(np.arange(N), np.arange(N) % 2)
        assert model.kernel_names_ == ["rbf", "linear"]
