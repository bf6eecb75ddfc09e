"""MATLAB files of version 7.3 give the variables that those of version 5 give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matlab73 import save73
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.io import savemat

from mklbench import mat_files

VALUES: dict[str, Any] = {
    "KH": np.arange(3 * 3 * 5, dtype=float).reshape(3, 3, 5),
    "mask": np.array([[True, False, True]]),
    "S": sparse.csc_matrix(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]])),
    "word": "iris",
    "empty": np.empty((0, 3)),
}


def read(path: Path) -> dict[str, Any]:
    return mat_files.read(path.read_bytes(), "a file")


def test_either_version_gives_the_same(tmp_path: Path) -> None:
    save73(tmp_path / "new.mat", VALUES)
    savemat(tmp_path / "old.mat", VALUES)
    new, old = read(tmp_path / "new.mat"), read(tmp_path / "old.mat")
    assert sorted(new) == sorted(old) == sorted(VALUES)
    for name in VALUES:
        assert_array_equal(new[name], old[name])


def test_a_cell_and_a_struct_give_the_same(tmp_path: Path) -> None:
    views = [np.eye(3), np.ones((3, 2))]
    save73(tmp_path / "new.mat", {"X": views, "set": {"x": np.eye(2)}})
    cell = np.empty((1, 2), dtype=object)
    cell[0, 0], cell[0, 1] = views
    savemat(tmp_path / "old.mat", {"X": cell, "set": {"x": np.eye(2)}})
    new, old = read(tmp_path / "new.mat"), read(tmp_path / "old.mat")
    for k in range(2):
        assert_array_equal(new["X"][0, k], old["X"][0, k])
    assert_array_equal(new["set"]["x"].item(), old["set"]["x"].item())


@pytest.mark.parametrize("content", [b"MATLAB 5.0", b"MATLAB 7.3" + b"\x89HDF\r\n\x1a\n" * 99])
def test_a_damaged_file_is_one(content: bytes) -> None:
    with pytest.raises(mat_files.DamagedMatError):
        mat_files.read(content, "a file")
