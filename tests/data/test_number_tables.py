"""Parquet files and matrices of numbers: the table that their CSV makes, with little memory."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from data_fakes import CONFIG_DIRECTORY
from numpy.testing import assert_array_equal

from mklbench.data import Dataset, load, number_tables, typed_tables
from mklbench.errors import DataError

pytest.importorskip("pyarrow")

N = 40


def frame() -> pd.DataFrame:
    generator = np.random.default_rng(0)
    made = pd.DataFrame(generator.standard_normal((N, 3)).astype(np.float32), columns=list("abc"))
    made["d"] = generator.standard_normal(N)
    made["count"] = (np.arange(N) ** 2).astype(np.uint8)
    made["flag"] = np.arange(N) % 3 == 0
    made["sick"] = np.arange(N) % 2 + 1
    return made


def read(path: Path, **options: Any) -> Dataset:
    config = yaml.safe_load((CONFIG_DIRECTORY / "csv.yaml").read_text())
    return load(config | {"path": str(path)} | options)


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read(path, **options)
    return str(caught.value).replace(str(path), "FILE")


def assert_same(one: Dataset, other: Dataset) -> None:
    assert_array_equal(one.X, other.X)
    assert_array_equal(one.y, other.y)
    for name in ("classes", "feature_names", "digest", "dropped_rows", "notes"):
        assert getattr(one, name) == getattr(other, name), name
    assert (one.targets is None) == (other.targets is None)
    if one.targets is not None and other.targets is not None:
        assert_array_equal(one.targets, other.targets)


@pytest.mark.parametrize(
    "options",
    [
        {"label": "sick"},
        {"label": 7, "id_columns": ["a", 4]},
        {"label": "flag"},
        {"label": "ward"},
        {"label": "ward", "label_names": {"east": "E"}},
        {"label": "d", "task": "regression"},
        {"label": "sick", "missing": ""},
        {"label": "sick", "index": "keep"},
    ],
    ids=str,
)
def test_it_is_the_table_of_cells(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read in batches of a few rows, with row groups that these do not fit into."""
    made = frame()
    if options["label"] == "ward":
        made["ward"] = ["east", " west"] * (N // 2)
    made.to_parquet(tmp_path / "own.parquet", index=False, row_group_size=13)
    monkeypatch.setattr(number_tables, "_ROWS", 5)
    with monkeypatch.context() as patched:
        patched.setattr(typed_tables, "table_of_values", None)  # not by way of cells
        found = read(tmp_path / "own.parquet", **options)
    monkeypatch.setattr(typed_tables, "numbers_of_parquet", lambda *others: None)
    assert_same(found, read(tmp_path / "own.parquet", **options))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda made: made.assign(d=made["d"].where(made.index != 17)),
        lambda made: made.assign(d=made["d"].where(made.index != 17, np.inf)),
        lambda made: made.assign(a=["low", "high"] * (N // 2)),
        lambda made: made.assign(e=pd.Timestamp("2026-01-01")),
        lambda made: made.assign(n=np.arange(N)),
        lambda made: made[["sick"]],
        lambda made: made[:0],
    ],
    ids=["missing", "infinite", "text", "date", "row numbers", "one column", "no rows"],
)
def test_what_is_refused_is_refused_in_the_same_words(
    spoil: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(frame()).to_parquet(tmp_path / "own.parquet", index=False)
    said = _outcome(tmp_path / "own.parquet")
    monkeypatch.setattr(typed_tables, "numbers_of_parquet", lambda *others: None)
    assert said == _outcome(tmp_path / "own.parquet")


def _outcome(path: Path) -> str:
    try:
        return read(path, label="sick").digest
    except DataError as error:
        return str(error)


def test_missing_values_drop_their_rows_as_ever(tmp_path: Path) -> None:
    made = frame()
    made.loc[[3, 30], "d"] = None
    made.to_parquet(tmp_path / "own.parquet", index=False)
    found = read(tmp_path / "own.parquet", label="sick", missing="")
    assert (len(found.y), found.dropped_rows) == (N - 2, 2)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95, 0.999])
@pytest.mark.parametrize("kind", ["parquet", "npy"])
def test_a_file_that_ends_early_is_refused_in_a_sentence(
    kind: str, share: float, tmp_path: Path
) -> None:
    path = tmp_path / f"own.{kind}"
    if kind == "npy":
        np.save(path, frame().to_numpy(dtype=np.float64))
    else:
        frame().to_parquet(path, index=False)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    said = refusal(path, label="last")
    assert said.startswith("data.path=FILE is not a")
    assert "it is damaged (" in said
    assert "\n" not in said


class TestMatrices:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_a_column_is_the_labels(
        self, dtype: Any, order: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        matrix = (9 * np.random.default_rng(1).standard_normal((N, 4))).astype(dtype)
        matrix[:, 3] = np.arange(N) % 2
        np.save(tmp_path / "own.npy", np.asarray(matrix, order=order))
        monkeypatch.setattr(number_tables, "_ROWS", 7)
        found = read(tmp_path / "own.npy")
        assert_array_equal(found.X, matrix[:, :3].astype(np.float64))
        assert_array_equal(found.y, matrix[:, 3] == 1)
        assert found.classes == ("0", "1")
        moved = np.roll(matrix, 1, axis=1)
        np.save(tmp_path / "own.npy", moved)
        assert_same(read(tmp_path / "own.npy", label=1), found)

    def test_a_number_that_is_none_is_named_by_its_place(self, tmp_path: Path) -> None:
        matrix = np.zeros((N, 3))
        matrix[31, 1] = np.nan
        np.save(tmp_path / "own.npy", matrix)
        assert refusal(tmp_path / "own.npy") == (
            "data.path=FILE, row 31 holds nan in column 2: remove or impute NaN and infinite "
            "values."
        )

    @pytest.mark.parametrize(
        "array", [np.zeros(5), np.zeros((5, 1)), np.zeros((0, 3)), np.array([["a", "b"]])], ids=str
    )
    def test_what_is_no_matrix_of_numbers_is_refused(self, array: Any, tmp_path: Path) -> None:
        np.save(tmp_path / "own.npy", array)
        assert "give a matrix of numbers, a column of which is the labels" in refusal(
            tmp_path / "own.npy"
        )

    def test_too_many_numbers_are_refused(self, tmp_path: Path) -> None:
        np.save(tmp_path / "own.npy", np.zeros((N, 4), np.int8))
        said = refusal(tmp_path / "own.npy", max_bytes=900)
        assert said.startswith(f"data.path=FILE has {N} rows of 3 inputs, which take more than")


_PEAK = """
import resource, sys, yaml
from mklbench.data import load
import pyarrow.parquet
config = yaml.safe_load(open(sys.argv[1]))
for path in sys.argv[2:]:
    load(config | {"path": path, "label": "y"})
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.slow
def test_a_parquet_file_takes_little_more_than_its_numbers(tmp_path: Path) -> None:
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0
    generator = np.random.default_rng(0)
    paths = []
    for n in (1000, 500_000):
        X = generator.standard_normal((n, 20), dtype=np.float32)
        made = pd.DataFrame(X, columns=[f"x{j}" for j in range(20)])
        made["y"] = np.arange(n) % 2
        paths.append(tmp_path / f"{n}.parquet")
        made.to_parquet(paths[-1], index=False)
    command = [sys.executable, "-c", _PEAK, str(CONFIG_DIRECTORY / "csv.yaml"), *map(str, paths)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    few, many = map(int, printed.split())
    numbers, file = 8 * X.size, paths[-1].stat().st_size
    # A text for each number would take 70 bytes.
    assert many - few < 1.5 * numbers + 3.0 * file
