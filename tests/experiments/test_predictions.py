"""``predictions=FILE`` and sweeps over files: each test row as the table has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mklbench import cli

N = 30


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    made = pd.DataFrame({"name": [f"s{k}" for k in range(N)], "kind": ["a", "b", "c"] * (N // 3)})
    made["x"] = generator.standard_normal(N) + (made["kind"] == "a")
    made["y"] = generator.standard_normal(N) - (made["kind"] == "b")
    made.loc[4, "x"] = np.nan  # so that rows and numbers of rows differ
    return made


def run(*overrides: str, into: str = "p.csv") -> int:
    common = ["data=csv", "data.drop=[name]", "split=kfold", "split.folds=3", "results_dir=store"]
    return cli.main(["run", *common, *overrides, "progress=none", f"predictions={into}"])


def test_are_those_of_the_records_by_row_of_the_table(table: pd.DataFrame) -> None:
    table.to_csv("own.csv", index=False)
    asked = ["algo=svm", "data.path=own.csv", "data.label=kind", "search=cv", "out=r.csv"]
    assert run(*asked) == run(*asked, into="p.parquet") == 0
    found, rows = pd.read_csv("p.csv"), pd.read_csv("r.csv")
    pd.testing.assert_frame_equal(pd.read_parquet("p.parquet"), found, check_dtype=False)
    assert sorted(found["row"]) == [k for k in range(N) if k != 4]
    assert found["label"].tolist() == table["kind"].iloc[found["row"]].tolist()
    assert found["sample"].tolist() == table["name"].iloc[found["row"]].tolist()
    right = (found["label"] == found["prediction"]).groupby(found["split"]).mean()
    np.testing.assert_allclose(right, rows["accuracy"])
    decision = found[[f"decision_{kind}" for kind in "abc"]].to_numpy()
    assert found["prediction"].tolist() == ["abc"[k] for k in decision.argmax(axis=1)]


def test_of_targets_over_files_that_match(table: pd.DataFrame) -> None:
    for name in ("one", "two"):
        table.drop(columns="kind").to_csv(f"{name}.csv", index=False)
    asked = ["-m", "algo=krr", "data.path=*.csv", "data.label=y", "data.task=regression"]
    assert run(*asked, "split.stratified=false", "out=r.csv") == 0
    assert set(pd.read_csv("r.csv")["setting"]) == {"data.path=one.csv", "data.path=two.csv"}
    found = pd.read_csv("p.csv")
    assert found.groupby("setting").size().to_dict() == {
        "data.path=one.csv": N - 1, "data.path=two.csv": N - 1
    }  # fmt: skip
    np.testing.assert_array_equal(found["label"], table["y"].iloc[found["row"]])
    assert cli.main(["run", "-m", "algo=krr", "data=csv", "data.path=*.tsv"]) == 2
