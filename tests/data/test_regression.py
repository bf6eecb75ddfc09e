"""Regression sets from files, and the choice of the most frequent features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data_fakes import read_own

from mklbench.data.preprocessing import most_frequent_features
from mklbench.errors import DataError, InputError


def loaded(path: Path, lines: str, **options: Any) -> Any:
    path.write_text(lines)
    return read_own(path, **{"task": "regression", **options})


def test_real_numbers_are_read_to_the_last_digit(tmp_path: Path) -> None:
    dataset = loaded(tmp_path / "a.csv", "a,b,y\n1,2,0.1\n3,4,-1e3\n5,6,0.30000000000000004\n")
    np.testing.assert_array_equal(dataset.targets, [0.1, -1000.0, 0.30000000000000004])
    np.testing.assert_array_equal(dataset.X, [[1, 2], [3, 4], [5, 6]])
    assert dataset.classes == ()
    assert not dataset.y.any()
    other = loaded(tmp_path / "b.csv", "a,b,y\n1,2,0.1\n3,4,-1e3\n5,6,0.3\n")
    assert other.digest != dataset.digest


def test_targets_of_an_svmlight_file_keep_their_digits(tmp_path: Path) -> None:
    lines = "0.123456789 1:2\n-7 2:1\n3 1:1 2:5\n"
    dataset = loaded(tmp_path / "a.txt", lines, format="svmlight")
    np.testing.assert_array_equal(dataset.targets, [0.123456789, -7.0, 3.0])
    assert dataset.X.shape == (3, 2)
    shifted = lines.replace("1:2", "0:2").replace("1:1 2", "0:1 2").replace("2:", "1:")
    zero_based = loaded(tmp_path / "b.txt", shifted, format="svmlight")
    np.testing.assert_array_equal(zero_based.X, dataset.X)


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        ("1,9,inf\n3,4,1\n1,9,5\n", {}, "where different finite numbers"),
        ("1,9,5\n1,4,5\n", {}, "has the number 5 alone in data.label=last"),
    ],
)
def test_what_cannot_be_used_is_named(
    lines: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises((DataError, InputError), match=message):
        loaded(tmp_path / "a.csv", lines, **options)


def test_many_labels_point_to_regression(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"For numbers to predict set data\.task=regression"):
        loaded(tmp_path / "a.csv", "1,9,5\n1,4,6\n5,6,7\n", header=False, task="classification")


def test_the_most_frequent_features_are_kept_in_their_order(tmp_path: Path) -> None:
    lines = "a,b,c,d,y\n0,1,1,2,5\n0,0,3,1,6\n1,1,0,1,7\n"
    dataset = loaded(tmp_path / "a.csv", lines)
    chosen = most_frequent_features(dataset, 2)  # c as often as b, which comes first
    assert chosen.feature_names == ("b", "d")
    np.testing.assert_array_equal(chosen.X, dataset.X[:, [1, 3]])
    assert chosen.digest == dataset.digest
    assert most_frequent_features(dataset, None) is dataset
