"""What a run is identified by, and what the record of a split says."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import experiment_fakes
import numpy as np
import pytest
from experiment_fakes import TINY, fake_run, three_classes, tiny_run
from narrowing import present

from mklbench import kernels
from mklbench.contract import FORMER_NAMES
from mklbench.errors import InputError
from mklbench.experiments.evaluation import run_split
from mklbench.experiments.record import Record
from mklbench.experiments.records import RunRecords
from mklbench.experiments.rows import summary
from mklbench.experiments.run import Run
from mklbench.experiments.run_checks import check_run


@pytest.mark.parametrize("same", ["split.n_splits=9", "algo.C=1", "algo.title=other", "jobs=7"])
def test_the_key_ignores_what_does_not_change_a_result(same: str) -> None:
    assert tiny_run(same).key == tiny_run().key


@pytest.mark.parametrize(
    "different",
    [
        "algo.C=2",
        "algo=uniform",
        "kernel.gamma=0.1",
        "data.noise_features=2",
        "data.seed=1",
        "split.seed=1",
        "split.scaling=none",
        "search=cv",
    ],
)
def test_the_key_tells_results_apart(different: str) -> None:
    assert tiny_run(different, "kernel=gaussian").key != tiny_run().key


def test_the_key_knows_on_how_many_splits_hyperparameters_are_chosen() -> None:
    shared = tiny_run("search=first_splits")
    assert shared.key != tiny_run("search=first_splits", "search.splits=3").key
    alone = tiny_run("search=first_splits", "search.splits=null", "search.name=cv")
    assert alone.key == tiny_run("search=cv").key


def test_the_splits_of_a_search_are_checked_before_running() -> None:
    check_run(tiny_run("search=first_splits"), [1])
    with pytest.raises(InputError, match="folds=40"):
        check_run(tiny_run("search=first_splits", "search.folds=40"), [9])


def test_a_new_version_of_the_algorithm_has_a_new_key(
    tmp_path: Path, redeclare: Callable[..., None]
) -> None:
    before = fake_run(tmp_path).key
    redeclare(experiment_fakes, "VERSION", 2)
    assert fake_run(tmp_path).key != before


def test_an_option_that_came_later_keeps_the_keys_of_records() -> None:
    run = Run.from_overrides(["algo=qnpkl", "data=sonar"])
    assert run.config.algo["max_evals"] is None
    before = {name: value for name, value in run.config.algo.items() if name != "max_evals"}
    assert Run(replace(run.config, algo=before)).key == run.key
    limited = Run.from_overrides(["algo=qnpkl", "data=sonar", "algo.max_evals=100"])
    assert limited.key != run.key


def test_an_option_may_state_which_value_old_records_were_made_with() -> None:
    """Of these options that is 0, not the default; without them means the default."""
    run, none = (
        Run.from_overrides(["algo=ikl", "data=sonar", *own])
        for own in (
            [],
            ["algo.n_global_ascents=0", "algo.n_joint_steps=0", "algo.n_product_starts=0"],
        )
    )
    assert none.key != run.key
    for former in ("explore", "slide", "multiply"):
        new = FORMER_NAMES[former]
        without = {name: value for name, value in run.config.algo.items() if name != new}
        assert former not in none.identity["algo"]
        assert run.identity["algo"][former] == run.config.algo[new] > 0
        assert Run(replace(run.config, algo=without)).key == run.key


def test_a_renamed_option_keeps_the_keys_of_records() -> None:
    own = ["algo=ikl", "data=sonar", "algo.n_round_ascents=9"]
    run = Run.from_overrides([*own, "+search.fits.algo.n_joint_steps=0"])
    assert run.identity["algo"]["look"] == 9
    assert run.identity["search"]["fits"] == {"algo.slide": 0}


def test_a_new_version_of_a_kernel_has_a_new_key(monkeypatch: pytest.MonkeyPatch) -> None:
    named, base = ["kernel=gaussian"], ["kernel=normalised", "kernel.base=gaussian"]
    keys = [run_of(*overrides).key for overrides in (named, base, ["kernel=product"])]
    monkeypatch.setattr(kernels.gaussian, "version", 2)
    changed = [run_of(*overrides).key for overrides in (named, base, ["kernel=product"])]
    assert [old == new for old, new in zip(keys, changed, strict=True)] == [False, False, True]


def run_of(*overrides: str) -> Run:
    return Run.from_overrides([*TINY, "algo=svm", *overrides])


def test_the_key_needs_no_data_where_their_digest_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_data(self: Run) -> None:
        raise AssertionError("the data were loaded")

    monkeypatch.setattr(Run, "dataset", no_data)
    assert Run.from_overrides(["algo=svm", "data=sonar"]).key


def test_a_record_is_complete_and_is_json() -> None:
    run = tiny_run()
    record = run_split(run, 1)
    assert Record.from_json(json.loads(json.dumps(record.to_json(), allow_nan=False))) == record
    assert (record.status, record.error, record.split) == ("done", None, 1)
    assert (record.n_train, record.n_test) == (42, 18)
    assert record.key == run.key
    assert record.C == 1.0
    assert record.params == {}
    assert 0.5 < present(record.accuracy) <= 1.0
    assert record.svm_calls == 1
    assert record.weights == [1.0]
    assert present(record.fit_seconds) >= present(record.svm_seconds) > 0
    assert record.data_source == "generated"
    assert record.provenance["versions"]["numpy"] == np.__version__
    assert record.provenance["time"].endswith("+00:00")


def test_accuracy_and_rmse_are_those_of_the_test_part() -> None:
    run = tiny_run()
    record = run_split(run, 0)
    train, test = run.rows(0)
    data = run.dataset()
    low, high = data.X[train].min(axis=0), data.X[train].max(axis=0)
    scaled = 2 * (data.X - low) / (high - low) - 1
    distances = ((scaled[:, None] - scaled[None]) ** 2).sum(axis=2)
    from sklearn.svm import SVC

    machine = SVC(kernel="precomputed", C=1.0)
    K = np.exp(-distances / data.X.shape[1])
    machine.fit(K[np.ix_(train, train)], data.y[train])
    decision = machine.decision_function(K[np.ix_(test, train)])
    signs = np.where(data.y[test] == 1, 1.0, -1.0)
    assert record.accuracy == np.mean((decision > 0) == (signs > 0))
    assert record.n_support == machine.n_support_.sum() < len(train)
    assert record.rmse == pytest.approx(np.sqrt(np.mean((decision - signs) ** 2)), rel=1e-2)


def test_the_share_of_relevant_weight_needs_one_feature_a_kernel() -> None:
    noisy = ["algo=uniform", "data.noise_features=5", "split.n_splits=1"]
    per_feature = run_split(tiny_run(*noisy, "kernel=product"), 0)
    assert per_feature.relevant_weight == pytest.approx(20 / 25)
    assert run_split(tiny_run(*noisy), 0).relevant_weight is None


@pytest.mark.parametrize(("n_features", "kept"), [(2000, True), (2001, False)])
def test_the_weights_of_up_to_2000_kernels_are_recorded(
    tmp_path: Path, n_features: int, kept: bool
) -> None:
    X = np.random.default_rng(0).normal(size=(12, n_features))
    rows = [",".join([f"{value:.3f}" for value in x] + [str(i % 2)]) for i, x in enumerate(X)]
    (tmp_path / "wide.csv").write_text("\n".join(rows) + "\n")
    run = Run.from_overrides(
        ["algo=uniform", "kernel=linear_features", "data=csv", f"data.path='{tmp_path}/wide.csv'"]
    )
    record = run_split(run, 0)
    assert (record.status, record.n_kernels) == ("done", n_features)
    assert (record.weights is not None) is kept
    assert (record.relevant_weight is not None) is kept
    assert record.active_weights is None  # not fewer than all


def test_of_very_many_kernels_those_in_use_are_recorded_by_name() -> None:
    run = tiny_run(
        "algo=mkl", "algo.C=100", "kernel=feature_widths", "kernel.n_widths=500", "split.n_splits=1"
    )
    record = run_split(run, 0)
    assert (record.weights, record.n_base_kernels) == (None, 10_000)
    active = present(record.active_weights)
    assert isinstance(active, dict)
    assert len(active) == record.n_kernels
    assert sum(active.values()) == pytest.approx(1.0)
    assert all(" on " in name and value > 0 for name, value in active.items())


def test_the_most_ascents_of_an_iteration_are_recorded() -> None:
    coupled = ["algo=vskl", "kernel=feature_gaussians", "algo.groups=features", "algo.q=2"]
    assert present(run_split(tiny_run(*coupled), 0).ascents) > 1
    assert run_split(tiny_run(*coupled, "algo.groups=one"), 0).ascents == 1
    assert run_split(tiny_run(), 0).ascents is None


FOUND = ("algo=svm", "algo._target_=experiment_fakes.solve_found", "~algo.svm_tol")


def test_kernels_found_in_a_family_are_counted_among_infinitely_many() -> None:
    run = tiny_run(*FOUND, "kernel=product", "split.n_splits=1")
    record = run_split(run, 0)
    assert record.weights in ([0.5, 0.0], [0.5, 0.0, 0.25])
    assert record.n_kernels == np.count_nonzero(record.weights)
    assert (record.n_base_kernels, record.relevant_weight) == (None, None)
    assert present(record.accuracy) > 0.6
    assert Record.from_json(json.loads(json.dumps(record.to_json(), allow_nan=False))) == record
    assert "kernels" in summary([RunRecords(run, [record])])


def test_each_class_has_kernels_of_its_own(tmp_path: Path) -> None:
    three_classes(tmp_path / "colours.csv")
    data = ["data=csv", f"data.path='{tmp_path}/colours.csv'"]
    record = run_split(Run.from_overrides([*FOUND, "kernel=product", *data]), 0)
    assert sorted(map(len, present(record.weights))) == [
        2,
        2,
        3,
    ]  # the first sample is of one class
    assert record.n_kernels == pytest.approx((1 + 1 + 2) / 3)
    assert present(record.accuracy) > 0.9


def test_gram_matrices_from_a_file_are_cut_to_the_splits(tmp_path: Path) -> None:
    X = tiny_run().dataset().X
    np.save(tmp_path / "K.npy", np.exp(-((X[:, None] - X[None]) ** 2).sum(2) / 20)[None])
    given = ["kernel=precomputed", f"kernel.K='{tmp_path}/K.npy'"]
    from_file = run_split(tiny_run(*given), 2)
    computed = run_split(tiny_run("split.scaling=none"), 2)
    assert from_file.accuracy == computed.accuracy
    assert from_file.objective == pytest.approx(computed.objective, rel=1e-6)
    searched = run_split(tiny_run(*given, "search=cv"), 2)
    assert present(searched.search_accuracy) > 0.8


def test_a_number_of_splits_that_is_stated_needs_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "dataset", lambda self: pytest.fail("the data were loaded"))
    given = ["algo=uniform", "data=rosmap", "split=given", "split.n_splits=20", "search=cv"]
    assert Run.from_overrides(given).n_splits == 20


def test_parts_that_are_given_are_taken_again_with_other_folds_of_a_search(tmp_path: Path) -> None:
    data, path = tiny_run().dataset(), tmp_path / "own.npz"
    X, y = data.X, data.y
    np.savez(path, x_train=X[:40], y_train=y[:40], x_test=X[40:], y_test=y[40:])
    given = ["algo=svm", "kernel=gaussian", "data=csv", f"data.path='{path}'", "split=given"]
    with pytest.raises(InputError, match="more than the 1 of split=given"):
        Run.from_overrides([*given, "split.n_splits=9", "search=fixed"])
    run = Run.from_overrides([*given, "split.n_splits=9", "search=cv"])
    records = [run_split(run, split) for split in range(9)]
    assert {(record.split_source, record.n_train, record.n_test) for record in records} == {
        ("official", 40, len(y) - 40)
    }
    assert len({record.search_accuracy for record in records}) > 1
    with pytest.raises(InputError, match="split=given needs data with a training and a test part"):
        check_run(tiny_run("split=given", "split.n_splits=9", "search=cv"), [0])


@pytest.mark.parametrize(
    "given",
    [
        ("kernel=precomputed", "kernel.K='{}'"),
        ("kernel=normalised", "kernel.base=precomputed", "+kernel.options.K='{}'"),
    ],
)
def test_the_key_of_gram_matrices_is_that_of_their_content(
    given: tuple[str, str, str] | tuple[str, str], tmp_path: Path
) -> None:
    keys = []
    for name, scale in (("one", 1.0), ("copy", 1.0), ("other", 2.0)):
        np.save(tmp_path / f"{name}.npy", scale * np.eye(60)[None])
        keys.append(tiny_run(*(text.format(tmp_path / f"{name}.npy") for text in given)).key)
    assert keys[0] == keys[1] != keys[2]


def test_a_split_without_one_of_the_classes_is_found_before_running(tmp_path: Path) -> None:
    rows = [f"{i}.5,{'rare' if i == 9 else 'often'}" for i in range(40)]
    (tmp_path / "rare.csv").write_text("\n".join(rows) + "\n")
    run = Run.from_overrides(["algo=svm", "data=csv", f"data.path='{tmp_path}/rare.csv'"])
    with pytest.raises(InputError, match="class"):
        check_run(run)


def test_rows_that_are_trained_and_tested_on_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{i / 10},{i % 7 / 2},{'ab'[i % 2]}\n" for i in range(20)]
    path = tmp_path / "twice.csv"
    path.write_text("".join(rows + rows))
    run = Run.from_overrides(["algo=svm", "data=csv", f"data.path={path}"])
    check_run(run)
    train, test = run.rows(0)
    n = len(np.intersect1d(train % 20, test % 20))
    assert n > 0
    assert f"repeated  {n} of the 12 test rows of split 0 equal a tr" in capsys.readouterr().err
