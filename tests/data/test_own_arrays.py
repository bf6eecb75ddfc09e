"""The labels and inputs of a user's own npz and mat files, found by name and shape or refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data_fakes import read_own as load_own
from matlab73 import save73
from numpy.testing import assert_array_equal
from scipy.io import savemat
from scipy.sparse import csr_matrix, save_npz

from mklbench.errors import DataError

N = 6
X = np.arange(18.0).reshape(N, 3) ** 2
Y = np.array([1, 2, 1, 2, 1, 2])
K = np.stack([X @ X.T, np.eye(N)])


def _npz(path: Path, variables: dict[str, Any]) -> None:
    np.savez(path, **variables)


WRITERS: dict[str, Callable[[Path, dict[str, Any]], None]] = {
    "npz": _npz,
    "mat": savemat,
    "73.mat": save73,
}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize(
    ("variables", "options"),
    [
        ({"X": X, "Y": Y[:, None]}, {}),
        ({"X": X, "y": Y}, {}),
        ({"X": X.T, "Y": Y}, {}),
        ({"fea": X, "gnd": Y}, {}),
        ({"measured": X, "sick": Y}, {}),
        ({"X": X, "Y": Y, "trainIdx": np.arange(3), "testIdx": np.arange(3, 5)}, {}),
        ({"X": X, "K": K, "Y": Y}, {}),
        ({"A": X, "B": 2 * X, "Y": Y}, {"inputs": "A"}),
        ({"X": X, "Y": Y, "other": 3 - Y}, {"label": "Y"}),
        ({"X": X, "y": Y, "Y": 3 - Y}, {"label": "y"}),
    ],
    ids=str,
)
def test_inputs_and_labels_are_found(
    kind: str, variables: dict[str, Any], options: dict[str, Any], tmp_path: Path
) -> None:
    WRITERS[kind](tmp_path / f"own.{kind}", variables)
    dataset = load_own(tmp_path / f"own.{kind}", **options)
    assert_array_equal(dataset.X, X)
    assert dataset.classes == ("1", "2")
    assert_array_equal(dataset.y, Y - 1)


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize(
    ("variables", "options"),
    [
        ({"KH": np.moveaxis(K, 0, 2), "Y": Y}, {}),
        ({"K": K, "y": Y}, {}),
        ({"K1": K[0], "K2": K[1], "labels": Y}, {}),
        ({"Y": Y}, {}),
        ({"X": X, "Y": Y}, {"inputs": "none"}),
    ],
    ids=str,
)
def test_kernels_leave_the_labels_alone(
    kind: str, variables: dict[str, Any], options: dict[str, Any], tmp_path: Path
) -> None:
    WRITERS[kind](tmp_path / f"own.{kind}", variables)
    dataset = load_own(tmp_path / f"own.{kind}", **options)
    assert dataset.X.shape == (N, 0)
    assert_array_equal(dataset.y, Y - 1)


def test_labels_may_be_texts(tmp_path: Path) -> None:
    words = ["well", "sick"] * 3
    np.savez(tmp_path / "own.npz", X=X, y=words)
    save73(tmp_path / "new.mat", {"X": X, "Y": words})
    savemat(tmp_path / "old.mat", {"X": X, "Y": np.array(words, dtype=object)})
    for name in ("own.npz", "new.mat", "old.mat"):
        dataset = load_own(tmp_path / name)
        assert dataset.classes == ("sick", "well")
        assert_array_equal(dataset.y, [1, 0] * 3)


def test_a_cell_of_inputs_is_views(tmp_path: Path) -> None:
    save73(tmp_path / "own.mat", {"X": [X, 2 * X[:, :2]], "Y": Y})
    dataset = load_own(tmp_path / "own.mat")
    assert [(view.start, view.stop) for view in dataset.views] == [(0, 3), (3, 5)]
    assert_array_equal(dataset.X, np.hstack([X, 2 * X[:, :2]]))


@pytest.mark.parametrize(
    ("variables", "options", "reason"),
    [
        ({"X": X, "y": Y, "Y": Y}, {}, "may be the labels, Y, y: set data.label=Y"),
        ({"A": X, "B": X, "y": Y}, {}, "may be the inputs, A, B: set data.inputs=A"),
        ({"X": X}, {}, "holds no vector of labels, only X: name the file that has them"),
        ({"X": X, "y": Y}, {"label": "z"}, "data.label=z is no array of"),
        ({"X": X, "y": Y}, {"inputs": "Z"}, "data.inputs=Z is no array of"),
        ({"X": X, "y": Y[:5]}, {}, "of shape (6, 3) and type float64 for 5 labels"),
        ({"X": X, "y": np.eye(6)[:, :2]}, {"label": "y"}, "y of shape (6, 2) that are no vector"),
        ({"X": X, "y": Y * np.nan}, {}, "has no row without a missing value"),
        ({"X": X + np.inf, "y": Y}, {}, "column 1: 'inf' is not a finite number"),
        ({"X": X, "y": np.array(["a", None] * 3, object)}, {}, "Object arrays cannot be loaded"),
        ({"X": X, "y": np.array(["Yes", "yes", "no"] * 2)}, {}, "differ in form only"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_refused(
    variables: dict[str, Any], options: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    with np.errstate(invalid="ignore"):
        np.savez(tmp_path / "own.npz", **variables)
    with pytest.raises(DataError, match=re.escape(reason)):
        load_own(tmp_path / "own.npz", **options)


def test_more_kinds_of_labels_and_inputs(tmp_path: Path) -> None:
    one_hot = (Y[:, None] == np.unique(Y)).astype(float)
    np.savez(tmp_path / "own.npz", X=X, y=one_hot)
    assert_array_equal(load_own(tmp_path / "own.npz").y, np.unique(Y, return_inverse=True)[1])
    savemat(tmp_path / "own.mat", {"set": {"X": X, "Y": Y[:, None]}})
    assert_array_equal(load_own(tmp_path / "own.mat").X, X)
    halves = {"train": {"X": X[:4], "y": Y[:4]}, "test": {"X": X[4:], "y": Y[4:]}, "K": X @ X.T}
    savemat(tmp_path / "own.mat", {"set": halves})
    dataset = load_own(tmp_path / "own.mat")
    assert_array_equal(dataset.X, X)
    assert [part.tolist() for part in dataset.splits[0]] == [[0, 1, 2, 3], [4, 5]]
    assert dataset.understood[1].endswith("; left out: arrays K")
    savemat(tmp_path / "own.mat", {"a": {"X": X, "y": Y}, "b": {"X": X, "y": Y}})
    with pytest.raises(DataError, match=r"a\.y, b\.y: set data\.label=a\.y"):
        load_own(tmp_path / "own.mat")
    save_npz(tmp_path / "own.npz", csr_matrix(np.column_stack([X, Y])))
    assert_array_equal(load_own(tmp_path / "own.npz").X, X)


def test_training_and_test_arrays_are_a_split(tmp_path: Path) -> None:
    np.savez(tmp_path / "own.npz", x_train=X[:4], y_train=Y[:4], X_test=X[4:], y_test=Y[4:])
    dataset = load_own(tmp_path / "own.npz")
    assert_array_equal(dataset.X, X)
    ((train, test),) = dataset.splits
    assert_array_equal(train, [0, 1, 2, 3])
    assert_array_equal(test, [4, 5])
    np.savez(tmp_path / "own.npz", x_train=X, y_train=Y, x_val=X, y_val=Y, x_test=X, y_test=Y)
    assert load_own(tmp_path / "own.npz").understood[1].endswith("left out: arrays x_val, y_val")


def test_queries_of_svmlight_are_groups(tmp_path: Path) -> None:
    lines = [f"{Y[k]} qid:{k // 2} 1:{X[k, 1] + 0.5} 2:{X[k, 2]}" for k in range(N)]
    (tmp_path / "own.svm").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=r"set data\.groups=qid"):
        load_own(tmp_path / "own.svm")
    assert_array_equal(load_own(tmp_path / "own.svm", groups="qid").groups, [0, 0, 1, 1, 2, 2])


def test_groups_are_an_array(tmp_path: Path) -> None:
    np.savez(tmp_path / "own.npz", X=X, y=Y, patient=[7, 7, 8, 8, 9, 9])
    with pytest.raises(DataError, match=r"set data\.groups=patient"):
        load_own(tmp_path / "own.npz")
    assert_array_equal(load_own(tmp_path / "own.npz", groups="patient").groups, [0, 0, 1, 1, 2, 2])


def test_groups_are_what_texts_begin_with(tmp_path: Path) -> None:
    np.savez(tmp_path / "own.npz", X=X, y=Y, sample=["a1", "b2", "a3", "b4", "c5", "c6"])
    dataset = load_own(tmp_path / "own.npz", groups="sample[:1]")
    assert_array_equal(dataset.groups, [0, 1, 0, 1, 2, 2])


@pytest.mark.parametrize("first", [0, 1])
def test_svmlight_may_count_from_0(first: int, tmp_path: Path) -> None:
    lines = [
        f"{y} " + " ".join(f"{k + first}:{x}" for k, x in enumerate(row) if x)
        for y, row in zip(Y, X + 0.5, strict=True)
    ]
    (tmp_path / "own.svm").write_text("\n".join(lines) + "\n")
    assert_array_equal(load_own(tmp_path / "own.svm").X, X + 0.5)


def test_the_numbers_of_samples_in_a_precomputed_kernel_are_no_feature(tmp_path: Path) -> None:
    lines = [f"{k % 2} 0:{k + 1} 1:{k * k} 2:3.5" for k in range(12)]
    (tmp_path / "own.svm").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match="to identify the rows"):
        load_own(tmp_path / "own.svm")
