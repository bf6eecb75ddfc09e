"""CSV files as pandas and others write them: read back as they were meant, or refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from data_fakes import CONFIG_DIRECTORY
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mklbench.data import Dataset, load
from mklbench.errors import DataError, InputError

N = 12
X = np.arange(36.0).reshape(N, 3) ** 2 / 8
LABELS = ["yes", "no"] * 6


def frame() -> pd.DataFrame:
    made = pd.DataFrame(X.copy(), columns=["a", "b", "c"])  # which older pandas would share
    made["sick"] = LABELS
    return made


def load_csv(path: Path, **options: Any) -> Dataset:
    config = yaml.safe_load((CONFIG_DIRECTORY / "csv.yaml").read_text())
    return load(config | {"path": str(path)} | options)


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "own.csv").write_text(text, encoding="utf-8")
    return tmp_path / "own.csv"


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("index", [True, False])
def test_what_pandas_writes_is_read_back(
    sep: str, decimal: str, index: bool, tmp_path: Path
) -> None:
    frame().to_csv(tmp_path / "own.csv", sep=sep, decimal=decimal, index=index)
    if index:
        with pytest.raises(DataError, match=r"column 1 without a name, .*data\.index=drop"):
            load_csv(tmp_path / "own.csv")
    dataset = load_csv(tmp_path / "own.csv", **({"index": "drop"} if index else {}))
    assert_array_equal(dataset.X, X)
    assert dataset.feature_names == ("a", "b", "c")
    assert dataset.classes == ("no", "yes")
    assert_array_equal(dataset.y, [1, 0] * 6)


def test_an_index_that_is_kept_is_learned_from(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "own.csv")
    assert load_csv(tmp_path / "own.csv", index="keep").X.shape == (N, 4)


@pytest.mark.parametrize("numbers", [range(N), range(1, N + 1), range(N - 1, -1, -1)])
@pytest.mark.parametrize("header", ["id,a,sick\n", ""])
def test_a_column_that_counts_the_rows_is_noticed(
    numbers: Any, header: str, tmp_path: Path
) -> None:
    lines = "\n".join(
        f"{k},{x},{label}" for k, x, label in zip(numbers, X[:, 0], LABELS, strict=True)
    )
    path = written(tmp_path, header + lines)
    name = "column 1 (id)" if header else "column 1"
    with pytest.raises(DataError, match=re.escape(f"has {name}, which numbers the rows, as an")):
        load_csv(path)
    dropped = load_csv(path, index="drop")
    assert_array_equal(dropped.X, X[:, :1])
    assert dropped.notes[0] == f"{name} left out, as data.index=drop says"


def test_an_index_with_holes_of_dropped_rows_is_noticed(tmp_path: Path) -> None:
    made = frame()
    made.loc[4, "b"] = np.nan
    made.to_csv(tmp_path / "own.csv", index_label="id")
    with pytest.raises(DataError, match=re.escape("column 1 (id), which numbers the rows")):
        load_csv(tmp_path / "own.csv", missing="")
    dataset = load_csv(tmp_path / "own.csv", missing="", index="drop")
    assert_array_equal(dataset.X, np.delete(X, 4, axis=0))
    assert "1 rows with a missing value dropped" in dataset.notes


def test_numbers_that_are_no_index_are_not_asked_about(tmp_path: Path) -> None:
    made = frame()
    made["years"] = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
    made[["years", "a", "sick"]].to_csv(tmp_path / "own.csv", index=False)
    assert load_csv(tmp_path / "own.csv").X.shape == (N, 2)


def test_an_index_that_is_not_there_cannot_be_dropped(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "own.csv", index=False)
    with pytest.raises(DataError, match=r"data\.index=drop finds no column"):
        load_csv(tmp_path / "own.csv", index="drop")


class TestCategories:
    def made(self, tmp_path: Path) -> Path:
        made = frame()
        made.insert(1, "colour", ["red", "blue", "green", "red"] * 3)
        made.insert(0, "code", [7, 5, 7, 5] * 3)
        made.to_csv(tmp_path / "own.csv", index=False)
        return tmp_path / "own.csv"

    def test_they_are_named_in_the_refusal(self, tmp_path: Path) -> None:
        with pytest.raises(DataError) as caught:
            load_csv(self.made(tmp_path))
        assert str(caught.value).endswith(
            "own.csv, column 3 (colour) holds text, such as 'red' in line 2: set "
            "data.categories=onehot to make features of the values (3), or "
            "data.id_columns=[colour] to leave out what identifies a row."
        )

    def test_each_value_becomes_a_feature(self, tmp_path: Path) -> None:
        dataset = load_csv(self.made(tmp_path), categories="onehot")
        assert dataset.feature_names == (
            "code", "a", "colour=blue", "colour=green", "colour=red", "b", "c",
        )  # fmt: skip
        made = pd.read_csv(tmp_path / "own.csv")
        expected = pd.get_dummies(made["colour"]).to_numpy(float)
        assert_array_equal(dataset.X[:, 2:5], expected)
        assert_array_equal(dataset.X[:, [1, 5, 6]], X)

    def test_columns_that_are_listed_may_hold_numbers(self, tmp_path: Path) -> None:
        dataset = load_csv(self.made(tmp_path), categories=["code", "colour"])
        assert dataset.feature_names[:2] == ("code=5", "code=7")
        assert_array_equal(dataset.X[:, 1], [1, 0] * 6)

    def test_what_identifies_a_row_is_no_category(self, tmp_path: Path) -> None:
        made = frame()
        made["name"] = [f"p{k}" for k in range(N)]
        made[["name", "a", "sick"]].to_csv(tmp_path / "own.csv", index=False)
        with pytest.raises(DataError, match=r"leave out what identifies a row.*=\[name\]"):
            load_csv(tmp_path / "own.csv")
        with pytest.raises(DataError, match=r"12 different values in 12 rows: leave it out"):
            load_csv(tmp_path / "own.csv", categories="onehot")
        assert load_csv(tmp_path / "own.csv", id_columns=["name"]).X.shape == (N, 1)

    def test_an_empty_cell_is_no_value(self, tmp_path: Path) -> None:
        path = written(tmp_path, "c,s\nred,a\n,b\nred,a\nblue,b\nblue,a\nred,b\n")
        with pytest.raises(DataError, match=r"line 3, column 1 \(c\) is empty: fill it in"):
            load_csv(path, categories="onehot")
        assert load_csv(path, categories="onehot", missing="").X.shape == (5, 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1,5;2.5;a\n2,5;1;b\n", "numbers with a comma, 1,5, and with a point, 2.5"),
        ("1,234;2;a\n5,678;1;b\n", "may stand before decimals or after thousands: set data.decim"),
        ("a,b;c,d\nd,e;f,g\n", "can be split at ',' or at ';': set data.delimiter"),
        ("1;2;a\n3;4\n5;6;b\n", "line 2 has 2 cells where 3 were expected"),
    ],
)
def test_what_may_be_meant_in_two_ways_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=re.escape(reason)):
        load_csv(written(tmp_path, text))


def test_real_targets_are_told_from_classes(tmp_path: Path) -> None:
    made = frame()
    made["sick"] = np.arange(N) % 11 + 0.5
    made.to_csv(tmp_path / "own.csv", index=False, decimal=",", sep=";")
    with pytest.raises(InputError, match=r"set data\.task=regression"):
        load_csv(tmp_path / "own.csv")
    targets = load_csv(tmp_path / "own.csv", task="regression").targets
    assert_array_equal(targets, np.arange(N) % 11 + 0.5)


@pytest.mark.parametrize("name", ["", "state\n"])
@pytest.mark.parametrize("labels", [LABELS, ["1", "2"] * 6])
def test_labels_alone(name: str, labels: list[str], tmp_path: Path) -> None:
    dataset = load_csv(written(tmp_path, name + "\n".join(labels)))
    assert dataset.X.shape == (N, 0)
    assert_array_equal(dataset.y, [int(label == max(labels)) for label in labels])


_numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)


@st.composite
def _frames(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(2, 14))
    columns: dict[str, Any] = {}
    for k in range(draw(st.integers(1, 3))):
        columns[f"x{k}"] = draw(st.lists(_numbers, min_size=n, max_size=n))
    labels = draw(
        st.lists(st.sampled_from(["a b", 'c"d', "e;f", "g,h", "é"]), min_size=n, max_size=n)
    )
    assume(len(set(labels)) > 1)
    columns["label"] = labels
    return pd.DataFrame(columns)


@given(_frames(), st.sampled_from([",", ";", "\t"]), st.sampled_from([".", ","]), st.booleans())
@settings(deadline=None)
def test_any_frame_is_read_back_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    made: pd.DataFrame,
    sep: str,
    decimal: str,
    index: bool,
) -> None:
    """Never is anything else read than was written."""
    path = tmp_path_factory.mktemp("own") / "own.csv"
    made.to_csv(path, sep=sep, decimal=decimal, index=index)
    try:
        dataset = load_csv(path, index="drop" if index else "ask")
    except DataError as error:
        refusal = str(error)
    else:
        assert_array_equal(dataset.X, made.drop(columns="label").to_numpy())
        assert [dataset.classes[code] for code in dataset.y] == made["label"].tolist()
        return
    assert re.search(r"set data\.|numbers with a comma|different labels", refusal), refusal
