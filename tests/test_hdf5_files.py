"""MATLAB files of version 7.3 give the variables that those of version 5 give."""

from __future__ import annotations

import contextlib
import io
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matlab73 import save73
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.io import savemat

from mklbench import mat_files
from mklbench.errors import MissingExtraError

VALUES: dict[str, Any] = {
    "KH": np.arange(3 * 3 * 5, dtype=float).reshape(3, 3, 5),
    "Y": np.array([[1.0], [2.0], [2.0]]),
    "tr": np.array([[1, 3]]),
    "mask": np.array([[True, False, True]]),
    "S": sparse.csc_matrix(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]])),
    "word": "iris",
    "empty": np.empty((0, 3)),
}


def read(path: Path, limit: int = sys.maxsize) -> dict[str, Any]:
    return mat_files.read(path.read_bytes(), "a file", limit)


def test_either_version_gives_the_same(tmp_path: Path) -> None:
    save73(tmp_path / "new.mat", VALUES)
    savemat(tmp_path / "old.mat", VALUES)
    new, old = read(tmp_path / "new.mat"), read(tmp_path / "old.mat")
    assert sorted(new) == sorted(old) == sorted(VALUES)
    for name in VALUES:
        assert new[name].shape == old[name].shape, name
        assert_array_equal(new[name], old[name])


def test_a_cell_and_a_struct_give_the_same(tmp_path: Path) -> None:
    views = [np.eye(3), np.ones((3, 2))]
    save73(
        tmp_path / "new.mat", {"X": views, "set": {"x": np.eye(2), "t": np.array([[1.0, -1.0]])}}
    )
    cell = np.empty((1, 2), dtype=object)
    cell[0, 0], cell[0, 1] = views
    savemat(tmp_path / "old.mat", {"X": cell, "set": {"x": np.eye(2), "t": np.array([1.0, -1.0])}})
    new, old = read(tmp_path / "new.mat"), read(tmp_path / "old.mat")
    assert new["X"].shape == old["X"].shape == (1, 2)
    for k in range(2):
        assert_array_equal(new["X"][0, k], old["X"][0, k])
    for field in ("x", "t"):
        assert_array_equal(new["set"][field].item(), old["set"][field].item())


def test_a_file_that_matlab_wrote() -> None:
    """SciPy ships one that it cannot read."""
    found = resources.files("scipy.io.matlab") / "tests" / "data" / "testhdf5_7.4_GLNX86.mat"
    if not found.is_file():
        pytest.skip("this SciPy comes without its test data")
    variables = mat_files.read(found.read_bytes(), "a file", sys.maxsize)
    assert list(variables) == ["testdouble"]
    np.testing.assert_allclose(variables["testdouble"], np.linspace(0, 2 * np.pi, 9)[None])


def test_only_what_is_wanted_is_read(tmp_path: Path) -> None:
    save73(tmp_path / "new.mat", VALUES)
    content = (tmp_path / "new.mat").read_bytes()
    assert list(mat_files.read(content, "a file", 100, ["Y"])) == ["Y"]
    with pytest.raises(mat_files.LargeMatError):
        mat_files.read(content, "a file", 100)


def test_a_sparse_matrix_too_large_for_an_array_is_refused(tmp_path: Path) -> None:
    wide = sparse.csc_matrix(([1.0], ([0], [0])), shape=(10_000, 10_000))
    save73(tmp_path / "new.mat", {"S": wide})
    savemat(tmp_path / "old.mat", {"S": wide})
    for name in ("new.mat", "old.mat"):
        with pytest.raises(mat_files.LargeMatError):
            read(tmp_path / name, 10_000_000)


def test_links_to_other_files_are_not_followed(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["x"] = np.eye(2)
    with h5py.File(tmp_path / "linking.mat", "w") as file:
        file["a"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "x")
        file["b"] = h5py.SoftLink("/c")
        file["c"] = np.eye(2)
    assert list(read(tmp_path / "linking.mat")) == ["c"]
    (tmp_path / "raw").write_bytes(bytes(32))
    with h5py.File(tmp_path / "external.mat", "w") as file:
        file.create_dataset("x", (2, 2), "f8", external=[(str(tmp_path / "raw"), 0, 32)])
    with pytest.raises(mat_files.DamagedMatError, match="in another file"):
        read(tmp_path / "external.mat")


def test_without_h5py_a_sentence_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save73(tmp_path / "new.mat", VALUES)
    monkeypatch.setattr("mklbench.extras.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"needs h5py.*'mklbench\[files\]'"):
        read(tmp_path / "new.mat")


def _content() -> bytes:
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        file["K"] = np.eye(4)
        file["K"].attrs["MATLAB_class"] = np.bytes_(b"double")
    return stream.getvalue()


CONTENT = _content()


@given(st.lists(st.tuples(st.integers(0, len(CONTENT) - 1), st.integers(0, 255)), max_size=8))
@settings(deadline=None, max_examples=60)
def test_a_damaged_file_is_read_or_refused(changes: list[tuple[int, int]]) -> None:
    content = bytearray(CONTENT)
    for place, value in changes:
        content[place] = value
    with contextlib.suppress(mat_files.DamagedMatError, mat_files.LargeMatError):
        mat_files.read(bytes(content), "a file", 10_000)
