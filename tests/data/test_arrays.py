"""Files of arrays (npz, mat, svmlight): what is read, and what is wrong with those that are not."""

from __future__ import annotations

import gzip
import io
from typing import Any

import numpy as np
import pytest
from data_fakes import benchmarks_file, toy_benchmark
from scipy.io import savemat

from mklbench.data.loading import parse_files
from mklbench.data.own import Table
from mklbench.data.schema import Layout
from mklbench.errors import DataError

X = np.array([[1.0, 2.0], [3.0, 4.5], [-1.0, 0.0], [2.0, 7.0]])
T = np.array([-1, 1, 1, -1], dtype=np.int8)
NPZ = Layout(format="npz", inputs="x", label="t")
TOY = Layout(format="mat", inputs="x", label="t", struct="toy")


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def mat(**variables: Any) -> bytes:
    buffer = io.BytesIO()
    savemat(buffer, variables)
    return buffer.getvalue()


def parse(content: bytes, layout: Layout) -> Table:
    return parse_files([content], layout, "the file")


def test_an_npz_file_gives_rows_labels_and_splits_from_0() -> None:
    table = parse(npz(x=X, t=T, train_1=[2, 0], test_1=[1, 3], n_splits=100), NPZ)
    np.testing.assert_array_equal(table.X, X)
    assert table.labels == ("-1", "1", "1", "-1")
    assert table.feature_names == ("x1", "x2")
    ((train, test),) = table.splits
    assert (train.tolist(), test.tolist()) == ([2, 0], [1, 3])


def test_whole_numbers_of_few_bits_become_doubles() -> None:
    table = parse(npz(x=np.array([[0, 255], [3, 4]], dtype=np.uint8), t=[-1, 1]), NPZ)
    assert table.X.dtype == np.float64
    assert table.X.max() == 255


def test_a_mat_file_of_plain_variables() -> None:
    layout = Layout(format="mat", inputs="data", label="target")
    table = parse(mat(data=X, target=T[:, None], other="text"), layout)
    np.testing.assert_array_equal(table.X, X)
    assert table.labels == ("-1", "1", "1", "-1")
    assert table.splits == ()


def cell(*arrays: Any) -> Any:
    filled = np.empty((1, len(arrays)), dtype=object)
    filled[0, :] = arrays
    return filled


def test_a_cell_of_a_mat_file_is_views_side_by_side() -> None:
    wide = np.arange(12, dtype=np.uint8).reshape(3, 4)  # features by samples
    labels = T.astype(np.int16)[:, None]
    layout = Layout(format="mat", inputs="fea", label="gt")
    table = parse(mat(fea=cell(X, wide), gt=cell(labels, labels)), layout)
    np.testing.assert_array_equal(table.X, np.hstack([X, wide.T]))
    assert table.view_sizes == (2, 3)
    assert table.labels == ("-1", "1", "1", "-1")
    assert parse(mat(fea=X, gt=labels), layout).view_sizes == ()


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"fea": cell(X, X[:3]), "gt": T}, "inputs fea of shape (3, 2) and type float64 for"),
        ({"fea": cell(X, "text"), "gt": T}, "inputs fea of shape (1,) and type <U4 for 4 labels"),
        ({"fea": cell(X, X), "gt": cell(T, -T)}, "labels gt of shape (1, 2) that are no vector"),
    ],
)
def test_views_that_cannot_be_used(variables: dict[str, Any], reason: str) -> None:
    with pytest.raises(DataError) as raised:
        parse(mat(**variables), Layout(format="mat", inputs="fea", label="gt"))
    assert reason in str(raised.value)


def test_a_struct_of_a_mat_file_has_splits_that_count_from_1() -> None:
    toy = toy_benchmark()
    table = parse(benchmarks_file(toy=toy), TOY)
    np.testing.assert_array_equal(table.X, toy["x"])
    assert len(table.splits) == 3
    for (train, test), given, left in zip(table.splits, toy["train"], toy["test"], strict=True):
        np.testing.assert_array_equal(train, given - 1.0)
        np.testing.assert_array_equal(test, left - 1.0)
        assert train.dtype == np.int64


def test_svmlight_files_share_their_features_and_may_be_packed() -> None:
    first, second = b"2 1:1 3:0.5\n1 2:-1\n", gzip.compress(b"3 4:2\n")
    table = parse_files([first, second], Layout(format="svmlight"), "the file")
    np.testing.assert_array_equal(table.X, [[1, 0, 0.5, 0], [0, -1, 0, 0], [0, 0, 0, 2]])
    assert table.labels == ("2", "1", "3")


def test_text_files_are_taken_one_after_the_other() -> None:
    table = parse_files([b"1,2,a\n3,4,b\n", b"5,6,a"], Layout(), "the file")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4], [5, 6]])
    assert table.labels == ("a", "b", "a")
    with pytest.raises(DataError, match=r"the file, line 4, column 2: 'x' is not a finite number"):
        parse_files([b"1,2,a\n3,4,b\n", b"5,x,a"], Layout(), "the file")


BAD_FILES: dict[str, tuple[bytes, Layout, str]] = {
    "no npz": (b"1,2,3\n", NPZ, "the file is not a file of NumPy's, or damaged"),
    "a cut npz": (npz(x=X, t=T)[:100], NPZ, "the file is not a file of NumPy's, or damaged"),
    "pickled objects": (npz(x=np.array([{}], object), t=T), NPZ, "Object arrays cannot be loaded"),
    "texts": (npz(x=X.astype(str), t=T), NPZ, "type <U32 for 4 labels"),
    "no mat": (b"MATLAB 5.0 MAT-file, or so", TOY, "is not a MATLAB file, or damaged"),
    "a cut mat": (benchmarks_file(toy=toy_benchmark())[:300], TOY, "is not a MATLAB file"),
    "an hdf5 mat": (b"\x89HDF\r\n\x1a\n" + bytes(600), TOY, "is not a MATLAB file, or damaged"),
    "svmlight": (b"1 a:b\n", Layout(format="svmlight"), "is not in svmlight's format"),
}


@pytest.mark.parametrize(("content", "layout", "reason"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_one_sentence(content: bytes, layout: Layout, reason: str) -> None:
    with pytest.raises(DataError, match=reason) as caught:
        parse(content, layout)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
