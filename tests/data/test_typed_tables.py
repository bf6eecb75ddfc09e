"""Parquet and Excel files: what pandas writes is read as its CSV is, and what cannot be is said."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from data_fakes import CONFIG_DIRECTORY
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mklbench import extras
from mklbench.data import Dataset, load
from mklbench.errors import DataError

N = 12
WRITERS = {
    "parquet": lambda frame, path, index=False: frame.to_parquet(path, index=index),
    "xlsx": lambda frame, path, index=False: frame.to_excel(path, index=index),
}
kinds = pytest.mark.parametrize("kind", WRITERS)


def frame() -> pd.DataFrame:
    generator = np.random.default_rng(0)
    # Excel files hold 16 digits of a number.
    made = pd.DataFrame(generator.standard_normal((N, 2)).round(9), columns=["a", "b"])
    made["count"] = np.arange(N) ** 2
    made["ward"] = ["east", "west", "north"] * 4
    made["sick"] = ["yes", "no"] * 6
    return made


def read(path: Path, **options: Any) -> Dataset:
    config = yaml.safe_load((CONFIG_DIRECTORY / "csv.yaml").read_text())
    return load(config | {"path": str(path)} | options)


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read(path, **options)
    return str(caught.value).replace(str(path), "FILE")


def written(made: pd.DataFrame, directory: Path, kind: str, index: bool = False) -> Path:
    path = directory / f"own.{kind}"
    WRITERS[kind](made, path, index)
    return path


@kinds
@pytest.mark.parametrize("label", ["sick", "last", 5])
def test_it_is_read_as_the_csv_of_the_same_frame(kind: str, label: Any, tmp_path: Path) -> None:
    made = frame()
    made.loc[[2, 7], "a"] = np.nan
    made.loc[4, "sick"] = None
    made.to_csv(tmp_path / "own.csv", index=False)
    options = {"label": label, "categories": "onehot", "missing": ""}
    expected = read(tmp_path / "own.csv", **options)
    dataset = read(written(made, tmp_path, kind), **options)
    assert dataset.dropped_rows == 3
    assert dataset.digest == expected.digest
    assert dataset.feature_names == expected.feature_names
    assert dataset.classes == expected.classes
    assert dataset.notes == expected.notes


@kinds
def test_text_and_missing_values_are_asked_about(kind: str, tmp_path: Path) -> None:
    path = written(frame(), tmp_path, kind)
    assert refusal(path).startswith(
        "data.path=FILE, column 4 (ward) holds text, such as 'east' in line 2: set "
        "data.categories=onehot"
    )
    made = frame()
    made.loc[2, "a"] = np.nan
    path = written(made, tmp_path, kind)
    assert "line 4, column 1 (a): '' is not a number" in refusal(path, categories="onehot")


@kinds
def test_an_index_that_numbers_the_rows_is_asked_about(kind: str, tmp_path: Path) -> None:
    path = written(frame().drop(columns="ward"), tmp_path, kind, index=True)
    said = refusal(path, label="sick")
    assert "without a name, as an index that numbers the rows has none: set data.index=drop" in said
    assert read(path, label="sick", index="drop").feature_names == ("a", "b", "count")


@kinds
def test_dates_are_named_unless_they_are_left_out(kind: str, tmp_path: Path) -> None:
    made = frame().drop(columns="ward")
    made.insert(1, "born", [dt.datetime(1960 + i, 1, 2) for i in range(N)])
    path = written(made, tmp_path, kind)
    said = refusal(path)
    assert "FILE, column 2 (born) holds 1960-01-02 00:00:00 in line 2, of type " in said
    assert said.endswith(
        ", which is neither a number nor text: leave it out with data.id_columns=[born], or write "
        "it as numbers."
    )
    assert read(path, id_columns=["born"]).feature_names == ("a", "b", "count")


def test_lists_in_parquet_are_no_features(tmp_path: Path) -> None:
    made = frame()
    made["ward"] = [[1, 2]] * N
    said = refusal(written(made, tmp_path, "parquet"))
    assert "column 4 (ward) holds [1, 2] in line 2, of type list, which is neither" in said


def test_types_of_parquet_become_their_numbers(tmp_path: Path) -> None:
    made = pd.DataFrame(
        {
            "bool": [True, None, True, False],
            "int": pd.array([2**53, 1, 3, 4], dtype="Int64"),
            "float32": np.array([0.1, 0.2, np.nan, 0.4], np.float32),
            "category": pd.Categorical(["x", "y", "x", "y"]),
            "y": pd.array([1, 2, 1, 2], dtype="Int64"),
        }
    )
    dataset = read(written(made, tmp_path, "parquet"), missing="", categories=["category"])
    expected = [[1, 2**53, np.float32(0.1), 1, 0], [0, 4, np.float32(0.4), 0, 1]]
    assert_array_equal(dataset.X, np.array(expected, dtype=float))
    assert dataset.classes == ("1", "2")
    assert dataset.dropped_rows == 2


def test_a_sheet_is_chosen_and_its_header_found(tmp_path: Path) -> None:
    path = tmp_path / "own.xlsx"
    made = frame().drop(columns="ward")
    with pd.ExcelWriter(path) as book:
        made.to_excel(book, sheet_name="first", index=False)
        made[["b", "sick"]].to_excel(book, sheet_name="second", index=False, header=False)
        pd.DataFrame().to_excel(book, sheet_name="empty", index=False)
    assert refusal(path) == (
        "data.path=FILE has the sheets first, second: choose one, as in data.sheet=first."
    )
    assert refusal(path, sheet="third") == (
        "data.sheet=third is not a sheet of data.path=FILE: it has first, second, empty."
    )
    assert_array_equal(read(path, sheet="first").X, made[["a", "b", "count"]])
    second = read(path, sheet="second")
    assert second.feature_names == ("x1",)
    assert_array_equal(second.X, made[["b"]])


@kinds
def test_labels_may_stand_alone(kind: str, tmp_path: Path) -> None:
    path = written(frame()[["sick"]], tmp_path, kind)
    dataset = read(path)
    assert dataset.X.shape == (N, 0)
    assert dataset.classes == ("no", "yes")


@kinds
def test_limits_of_size_hold(kind: str, tmp_path: Path) -> None:
    made = pd.DataFrame(np.zeros((400, 40))).add_prefix("x")
    made["y"] = ["a", "b"] * 200
    path = written(made, tmp_path, kind)
    assert path.stat().st_size < 60_000
    assert "more than the 0.06 MB it may (++data.max_bytes=N allows N bytes)" in refusal(
        path, max_bytes=60_000
    )
    assert read(path, max_bytes=3_000_000).X.shape == (400, 40)


@kinds
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_truncated_file_is_one_sentence(kind: str, share: float, tmp_path: Path) -> None:
    path = written(frame(), tmp_path, kind)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    said = refusal(path, format=kind)
    assert said.startswith("data.path=FILE is not a")
    assert "\n" not in said


@kinds
def test_without_the_extra_it_is_asked_for(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(frame(), tmp_path, kind)
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    package = {"parquet": "pyarrow", "xlsx": "openpyxl"}[kind]
    assert refusal(path) == (
        f"data.path=FILE needs {package}, which is not installed: pip install 'mklbench[files]'."
    )


@given(st.data())
@settings(deadline=None, max_examples=30)
def test_numbers_come_back_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    finite = st.floats(allow_nan=False, allow_infinity=False)
    X = data.draw(st.lists(st.tuples(finite, finite), min_size=2, max_size=9))
    made = pd.DataFrame(X, columns=["a", "b"])
    made["y"] = ["no", "yes", *["no"] * (len(X) - 2)]
    path = written(made, tmp_path_factory.mktemp("own"), "parquet")
    assert_array_equal(read(path, index="keep").X, made[["a", "b"]])
