"""``mklbench export model``: the file predicts elsewhere what was recorded here."""

from __future__ import annotations

from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from experiment_fakes import TINY
from narrowing import present

import mklbench
from mklbench import cli
from mklbench.commands.export import fitted
from mklbench.errors import InputError
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store

CELL = [*TINY, "algo=svm", "search=cv", "search.grid.algo.C=[0.01,10]", "split.n_splits=2"]


@pytest.fixture(autouse=True)
def _run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["run", *CELL, "results_dir=store", "progress=none"]) == 0
    capsys.readouterr()


def export(*arguments: str) -> int:
    return cli.main(["export", "model", *CELL, "results_dir=store", *arguments])


def test_the_model_on_the_training_part_of_a_split_predicts_what_was_recorded() -> None:
    run = Run.from_overrides(CELL)
    data, (train, test), record = run.dataset(), run.rows(1), present(Store("store").record(run, 1))
    model = fitted(run, run.config.with_values(present(record.params)), train)
    labels = np.asarray(data.classes)[data.y[test]]
    assert np.mean(model.predict(data.X[test]) == labels) == record.accuracy


def test_all_rows_are_fitted_with_what_most_splits_chose(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert export("--out", "model.joblib") == 0
    model = joblib.load("model.joblib")
    records = Store("store").read(Run.from_overrides(CELL)).done
    assert model[-1].C in {present(record.params)["algo.C"] for record in records}
    assert model[-1].n_features_in_ == Run.from_overrides(CELL).dataset().X.shape[1]
    assert "on all 60 rows" in capsys.readouterr().out


@pytest.mark.parametrize("file", ["model.joblib", "model.skops"])
def test_an_exported_model_is_loaded_and_says_what_rows_it_takes(file: str) -> None:
    assert export("--out", file) == 0
    X = Run.from_overrides(CELL).dataset().X
    model = mklbench.load(file)
    assert set(model.predict(X)) <= set(Run.from_overrides(CELL).dataset().classes)
    said = f"X has 3 features, but StandardScaler is expecting {X.shape[1]} features as input."
    with pytest.raises(ValueError, match=said):
        model.predict(X[:, :3])
    Path(file).write_bytes(Path(file).read_bytes()[:-100])
    with pytest.raises(InputError, match=f"{file} is damaged, was cut short, or needs"):
        mklbench.load(file)


def test_an_exported_model_takes_the_raw_table_and_no_other() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(80)],
            "income": rng.normal(size=80),
            "colour": rng.choice(["red", "green", "blue"], 80),
            "grade": rng.integers(1, 4, 80),
        }
    )
    frame["ill"] = np.where(frame["income"] + (frame["colour"] == "red") > 0.5, "yes", "no")
    frame.to_csv("mine.csv", index=False)
    options = "[colour,grade]"
    line = ["data=csv", "data.path=mine.csv", "data.label=ill", "data.drop=[id]"]
    run = [*line, f"data.categories={options}", "algo=svm", "split.n_splits=1", "search=fixed"]
    assert cli.main(["run", *run, "results_dir=store", "progress=none"]) == 0
    arguments = ["export", "model", *run, "results_dir=store", "--out", "model.joblib"]
    assert cli.main(arguments) == 0
    model, data = mklbench.load("model.joblib"), Run.from_overrides(run).dataset()
    expected = model.decision_function(data.X)
    raw = pd.read_csv("mine.csv")
    np.testing.assert_array_equal(model.decision_function(raw), expected)
    turned = raw[["grade", "colour", "income"]].astype({"grade": float})
    np.testing.assert_array_equal(model.decision_function(turned), expected)
    encoded = pd.DataFrame(data.X, columns=data.feature_names)
    np.testing.assert_array_equal(model.decision_function(encoded), expected)
    for bad, said in (
        (raw.drop(columns="income"), "X has no column 'income'"),
        (raw.assign(colour="violet"), "'violet' at row 0, column 'colour', where the model knows"),
        (raw.assign(income=np.nan), "holds nan at row 0, column 'income'"),
        (raw.assign(income="high"), "the column 'income' with 'high', which is no number"),
        (raw.to_numpy(), "a data frame with the columns 'income', 'colour', 'grade'"),
    ):
        with pytest.raises(InputError, match=said):
            model.predict(bad)


def test_an_exported_model_imputes_as_its_run() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "sex": rng.choice(["f", "m"], 60)})
    frame["ill"] = np.where(frame["x"] + (frame["sex"] == "f") > 0.5, "yes", "no")
    frame.loc[3, "x"] = frame.loc[5, "sex"] = None
    frame.to_csv("mine.csv", index=False)
    run = ["data=csv", "data.path=mine.csv", "data.impute=mean", "data.categories=onehot"]
    run += ["algo=svm", "split.n_splits=1", "search=fixed", "results_dir=store"]
    assert cli.main(["run", *run, "progress=none"]) == 0
    assert cli.main(["export", "model", *run, "--out", "model.joblib"]) == 0
    model, raw = mklbench.load("model.joblib"), pd.read_csv("mine.csv")
    filled = raw.fillna({"x": raw["x"].mean()}).drop(index=5)
    expected = model.decision_function(filled)
    np.testing.assert_allclose(model.decision_function(raw)[filled.index], expected, rtol=1e-12)
    with pytest.raises(InputError, match="holds inf at row 0, column 'x'"):
        model.predict(raw.assign(x=np.inf))
