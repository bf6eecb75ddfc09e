"""What has been measured, as a data frame."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest
from experiment_fakes import TINY
from report_fakes import TINY_TABLE, only_tables

import mklbench
from mklbench import cli
from mklbench.commands.reproduce import reproduce
from mklbench.errors import InputError
from mklbench.experiments.store import Store

RUN = ["run", *TINY, "results_dir=store", "progress=none", "out=rows.csv"]
PLACE = ["row", "column", "protocol"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the store of a tiny table, and its results."""
    directory = tmp_path_factory.mktemp("measured")
    with pytest.MonkeyPatch.context() as patch:
        only_tables(patch, directory, tiny=TINY_TABLE)
        results = str(directory / "results")
        assert reproduce(["tiny"], store=Store(directory / "store"), results_dir=results) == 0
    return directory


@pytest.fixture
def tiny(measured: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The same, its table the only one and its results those recorded with the program."""
    only_tables(monkeypatch, tmp_path, tiny=TINY_TABLE, tidy=TINY_TABLE)
    monkeypatch.setattr("mklbench.resources.recorded_results", lambda: measured / "results")
    return measured


def test_a_table_has_a_row_for_each_split_of_each_place(tiny: Path) -> None:
    frame = mklbench.records("tiny")
    assert list(frame.columns[:3]) == PLACE
    assert len(frame) == 2 * 2 * 2
    assert frame.groupby(PLACE).split.apply(list).to_dict() == {
        (row, column, "fixed"): [0, 1] for row in ("minmax", "none") for column in ("one", "ten")
    }
    assert frame.groupby("column").C.unique().map(list).to_dict() == {"one": [1.0], "ten": [10.0]}
    with (tiny / "results" / "tables" / "tiny.csv").open(encoding="utf-8") as stream:
        written = {
            (line["row"], line["column"]): float(line["measured_mean"])
            for line in csv.DictReader(stream)
            if line["metric"] == "accuracy"
        }
    means = (100 * frame.groupby(["row", "column"]).accuracy.mean()).to_dict()
    assert means == pytest.approx(written)


def test_the_store_of_a_table_says_the_same(tiny: Path) -> None:
    pd.testing.assert_frame_equal(
        mklbench.records("tiny", store=tiny / "store"), mklbench.records("tiny")
    )


def test_a_split_without_a_record_is_missing(tiny: Path, tmp_path: Path) -> None:
    frame = mklbench.records("tiny", store=tmp_path)
    assert set(frame.status) == {"missing"}
    assert len(frame) == 8
    assert frame.accuracy.isna().all()
    assert frame.n_train.isna().all()
    assert set(frame.key) == set(mklbench.records("tiny").key)


def test_a_store_says_what_the_csv_of_its_runs_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main([*RUN, "-m", "algo=svm,uniform", "search=cv", "search.folds=2"]) == 0
    frame = mklbench.records(store="store")
    read = pd.read_csv("rows.csv").astype(frame.dtypes.to_dict())
    assert list(frame.columns) == list(read.columns)
    pd.testing.assert_frame_equal(
        frame.sort_values(["key", "split"], ignore_index=True).fillna({"message": ""}),
        read.sort_values(["key", "split"], ignore_index=True).fillna({"message": ""}),
        check_dtype=False,
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, r"records\(\) needs the name of a table"),
        ({"table": "tinny"}, "table=tinny is not known: did you mean tiny"),
        ({"store": "nowhere"}, "store=nowhere is not a directory: name the results_dir"),
        ({"table": "tiny", "store": "nowhere"}, "store=nowhere is not a directory"),
        ({"table": "tidy"}, "table=tidy has no recorded results"),
    ],
)
@pytest.mark.usefixtures("tiny")
def test_what_is_not_there_is_said_in_one_sentence(arguments: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=rf"^{said}[^\n]*\.$"):
        mklbench.records(**arguments)
