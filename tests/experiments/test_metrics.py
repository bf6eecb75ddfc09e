"""Measures beyond the accuracy: asked for by name, kept with the record, in CSV and frames."""

from __future__ import annotations

import csv
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiment_fakes import three_classes, tiny_run
from narrowing import present
from numpy.testing import assert_array_equal
from sklearn.metrics import get_scorer_names, roc_auc_score

from mklbench import cli, multiclass
from mklbench import config as configs
from mklbench.data.preprocessing import fit_scaling
from mklbench.data.splits import folds
from mklbench.experiments.evaluation import run_selection, run_split
from mklbench.experiments.record import Record, Selection
from mklbench.experiments.records import RunRecords
from mklbench.experiments.rows import COLUMNS, csv_text, summary
from mklbench.experiments.run import Run
from mklbench.prediction import DecisionFunction
from mklbench.report.table.metrics import METRICS

ASKED = "metrics=[roc_auc,f1_macro,neg_brier_score]"


def fitted(run: Run, split: int) -> tuple[Any, ...]:
    """Return the kernels, the solutions, and the test part with its codes, the plain way."""
    data, (train, test) = run.dataset(), run.rows(split)
    scaling = fit_scaling("minmax", data.X[train])
    operator = configs.kernel(run.config.kernel)(scaling.transform(data.X[train]))
    solutions = multiclass.fit(
        configs.algorithm(run.config.algo), operator, data.y[train], len(data.classes)
    )
    return operator, solutions, scaling.transform(data.X[test]), data.y[test]


def test_scores_are_kept_with_the_record() -> None:
    run = tiny_run(ASKED)
    record = run_split(run, 1)
    *model, codes = fitted(run, 1)
    values = multiclass.decision_function(*model)
    scores = present(record.scores)
    assert list(scores) == ["roc_auc", "f1_macro", "neg_brier_score"]
    assert scores["roc_auc"] == pytest.approx(roc_auc_score(codes, values))
    # Calibrated probabilities are better than a coin, whose Brier score is a quarter.
    assert -0.25 < present(scores["neg_brier_score"]) < 0.0
    assert Record.from_json(record.to_json()) == record


def test_a_run_without_metrics_is_the_run_that_it_was() -> None:
    plain = tiny_run()
    assert plain.config.metrics == ()
    assert plain.key == tiny_run("metrics=[]").key != tiny_run("metrics=[roc_auc]").key
    assert run_split(plain, 0).scores is None
    measured = run_split(tiny_run(ASKED), 0)
    assert measured.accuracy == run_split(plain, 0).accuracy
    assert measured.objective == run_split(plain, 0).objective


def test_support_vectors_and_evaluations_are_counted() -> None:
    record = run_split(tiny_run("algo=mkl", "kernel=feature_gaussians", "algo.C=1"), 0)
    n_support, n_evaluations = present(record.n_support), present(record.n_evaluations)
    assert 0 < n_support <= present(record.n_train)
    assert n_evaluations == n_support * present(record.n_kernels)


def test_of_several_classes_each_machine_counts(tmp_path: Path) -> None:
    three_classes(tmp_path / "three.csv")
    given = ["data=csv", f"data.path={tmp_path / 'three.csv'}", "algo=svm", "kernel=gaussian"]
    record = run_split(Run.from_overrides([*given, "metrics=[roc_auc_ovr,average_precision]"]), 0)
    assert present(record.n_support) <= present(record.n_evaluations) <= 3 * present(record.n_train)
    assert all(0.9 < present(value) <= 1.0 for value in present(record.scores).values())


def test_a_search_by_a_scorer_takes_the_best_of_the_grid() -> None:
    grid = [0.01, 1.0, 100.0]
    run = tiny_run("search=cv", "search.score=roc_auc", f"search.grid.algo.C={grid}")
    found = run_selection(run, 0)
    data, (train, _) = run.dataset(), run.rows(0)
    X, codes = fit_scaling("minmax", data.X[train]).transform(data.X[train]), data.y[train]
    from mklbench.data.splits import split_seed

    seed = split_seed(run.data_digest, 0, run.config.split) + 1
    means = []
    for C in grid:
        total = 0.0
        for fit_rows, held in folds(codes, 5, seed):
            operator = configs.kernel(run.config.kernel)(X[fit_rows])
            solve = configs.algorithm({**run.config.algo, "C": C})
            solutions = multiclass.fit(solve, operator, codes[fit_rows], 2)
            values = multiclass.decision_function(operator, solutions, X[held])
            total += len(held) * roc_auc_score(codes[held], values)
        means.append(total / len(codes))
    assert found.params == {"algo.C": grid[int(np.argmax(means))]}
    assert found.score == pytest.approx(max(means))
    assert found.accuracy is None
    assert found.rmse is None


def test_a_selection_by_accuracy_is_written_as_before() -> None:
    assert "score" not in Selection({"algo.C": 1}, 0.5).to_json()
    kept = Selection({"algo.C": 1}, score=0.5)
    assert Selection.from_json(kept.to_json()) == kept


def test_rows_and_summaries_have_a_column_a_score() -> None:
    runs = [tiny_run(ASKED), tiny_run()]
    results = [RunRecords(run, [run_split(run, 0)]) for run in runs]
    rows = list(csv.DictReader(io.StringIO(csv_text(results))))
    assert list(rows[0]) == [*COLUMNS, "roc_auc", "f1_macro", "neg_brier_score"]
    assert float(rows[0]["roc_auc"]) == present(results[0].records[0].scores)["roc_auc"]
    assert rows[1]["roc_auc"] == rows[4]["roc_auc"] == ""
    assert "roc_auc" in summary(results).splitlines()[0]
    assert csv_text(results[1:]).splitlines()[0] == ",".join(COLUMNS)


def test_a_table_has_its_runs_measured_by_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own" / "table").mkdir(parents=True)
    (tmp_path / "own" / "table" / "mine.yaml").write_text(
        "title: T\ncitation: C\ncommon: [data=twonorm, data.n_samples=60, split.n_splits=2]\n"
        "metrics: [accuracy, roc_auc, neg_log_loss, n_support]\n"
        "rows: [{name: twonorm, label: Twonorm}]\n"
        "columns: [{name: svm, label: SVM, overrides: [algo=svm]}]\n"
        "protocols: [{name: p, label: P, overrides: [kernel=gaussian]}]\n"
    )
    assert cli.main(["reproduce", "mine", "--config-dir", "own"]) == 0
    capsys.readouterr()
    assert cli.main(["table", "mine", "--config-dir", "own", "--format", "csv"]) == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    means = {line["metric"]: float(line["measured_mean"]) for line in lines}
    assert list(means) == ["accuracy", "roc_auc", "neg_log_loss", "n_support"]
    assert 0.5 < means["roc_auc"] <= 1.0
    assert means["neg_log_loss"] > 0.0  # shown as the loss that it is


@pytest.mark.parametrize(
    "of",
    [
        ("algo=mkl", "kernel=feature_gaussians", "algo.C=1"),
        ("algo=qnpkl", "kernel=product", "search=fixed"),
    ],
)
def test_the_size_of_a_model_is_that_of_the_pickle_of_what_predicts(of: tuple[str, ...]) -> None:
    run = tiny_run(*of, "metrics=[model_bytes,roc_auc]")
    record = run_split(run, 0)
    operator, solutions, new, _ = fitted(run, 0)
    model = DecisionFunction.of(operator, solutions)
    pickled = pickle.dumps(model, protocol=pickle.HIGHEST_PROTOCOL)
    scores = present(record.scores)
    assert list(scores) == ["model_bytes", "roc_auc"]
    assert scores["model_bytes"] == pytest.approx(len(pickled), rel=0.01)  # but for seconds in it
    assert_array_equal(pickle.loads(pickled)(new), model(new))
    # At least a coefficient and a feature of each support vector, each a number of 8 bytes.
    assert present(scores["model_bytes"]) > 2 * 8 * present(record.n_support)
    assert Record.from_json(record.to_json()) == record


def test_every_scorer_is_a_metric_of_tables() -> None:
    assert all(name in METRICS for name in get_scorer_names())
    assert METRICS["neg_mean_absolute_error"].lower_is_better
    assert METRICS["neg_mean_absolute_error"].label == "mean absolute error"
    with pytest.raises(KeyError):
        METRICS["nonsense"]
