"""Model selection: what is chosen, from which rows, and how often kernels are built."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import experiment_fakes
import numpy as np
import pytest
from experiment_fakes import Call, three_classes, tiny_run
from narrowing import present
from numpy.typing import NDArray

from mklbench import config as configs
from mklbench import kernels, multiclass
from mklbench.algorithms import mkl, svm
from mklbench.data.splits import folds
from mklbench.errors import SingularError
from mklbench.experiments import search
from mklbench.experiments.evaluation import run_split
from mklbench.experiments.execution.plan import run_all
from mklbench.experiments.record import Selection
from mklbench.experiments.run import Run
from mklbench.experiments.search import Responses
from mklbench.experiments.store import Store
from mklbench.kernels import KernelOperator
from mklbench.kernels.base import Array
from mklbench.solution import Solution

SEED = 11


class Counting:
    """An operator that counts its restrictions, around a real one."""

    def __init__(self, operator: KernelOperator) -> None:
        self._operator = operator
        self.restrictions = 0

    def take(self, rows: NDArray[np.intp]) -> KernelOperator:
        self.restrictions += 1
        return self._operator.take(rows)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._operator, name)


def problem() -> tuple[Array, NDArray[np.int64]]:
    generator = np.random.default_rng(5)
    codes = np.repeat([0, 1], 30)
    return generator.normal(size=(60, 3)) + 0.9 * codes[:, None], codes


def select(*overrides: str) -> tuple[Selection, list[Counting]]:
    """Return the selection and the operators it built, on a small noisy problem."""
    X, codes = problem()
    built = []

    def build(builder: Callable[..., Any]) -> KernelOperator:
        built.append(Counting(builder(X)))
        return cast(KernelOperator, built[-1])

    config = tiny_run(*overrides).config
    return search.select(config, build, Responses(codes, 2), SEED), built


def by_hand(gamma: float, C: float) -> float:
    """Return the share of held-out rows classified correctly, everything done the plain way."""
    X, codes = problem()
    correct = 0
    for fit_rows, held_out in folds(codes, 5, SEED):
        operator = kernels.gaussian(X[fit_rows], gamma)
        y = np.where(codes[fit_rows] == 1, 1.0, -1.0)
        decision = multiclass.decision_function(operator, [svm.solve(operator, y, C)], X[held_out])
        correct += int(np.count_nonzero((decision > 0) == (codes[held_out] == 1)))
    return correct / len(codes)


GRID = ("search=cv", "search.grid.algo.C=[0.1,1,10]", "+search.grid.kernel.gamma=[0.01,0.3,5.0]")


@pytest.mark.parametrize(
    "overrides",
    [
        ("algo=late_fusion", "kernel=feature_gaussians"),
        ("algo=late_fusion", "algo.vote=true", "kernel=feature_gaussians"),
        ("algo=alignf", "kernel=normalised"),
        ("algo=svm", "kernel=combination", "kernel.how=polynomial"),
    ],
    ids=" ".join,
)
def test_held_out_rows_are_classified_as_new_samples_are(
    overrides: tuple[str, str, str] | tuple[str, str],
) -> None:
    """The search reads them from the Gram matrix of the whole training part."""
    selection, _ = select(*overrides, "search=cv", "search.grid.algo.C=[1]")
    X, codes = problem()
    config = tiny_run(*overrides).config
    operator, correct = configs.kernel(config.kernel)(X), 0
    for fit_rows, held_out in folds(codes, 5, SEED):
        part = operator.take(fit_rows)
        solutions = multiclass.fit(configs.algorithm(config.algo), part, codes[fit_rows], 2)
        decision = multiclass.decision_function(part, solutions, X[held_out])
        correct += int(np.count_nonzero(multiclass.predict(decision) == codes[held_out]))
    assert selection.accuracy == correct / len(codes)


def test_the_choice_is_that_of_a_plain_cross_validation() -> None:
    selection, _ = select(*GRID)
    scores = {(g, C): by_hand(g, C) for g in (0.01, 0.3, 5.0) for C in (0.1, 1, 10)}
    assert len(set(scores.values())) > 2  # the grid matters
    assert selection.accuracy == pytest.approx(max(scores.values()))
    chosen = (selection.params["kernel.gamma"], selection.params["algo.C"])
    assert scores[chosen] == max(scores.values())


def test_kernels_that_a_solver_has_found_predict_the_rows_held_out() -> None:
    X, codes = problem()
    correct = 0
    for fit_rows, held_out in folds(codes, 5, SEED):
        family = kernels.product_gaussians(X[fit_rows])
        solution = experiment_fakes.solve_found(family, np.where(codes[fit_rows] == 1, 1.0, -1.0))
        K = sum(
            weight * family.cross(theta, X[held_out])
            for weight, theta in zip(solution.weights, present(solution.thetas), strict=True)
        )
        decision = K @ solution.dual_coef + solution.intercept
        correct += int(np.count_nonzero((decision > 0) == (codes[held_out] == 1)))
    found = ["algo._target_=experiment_fakes.solve_found", "~algo.svm_tol", "kernel=product"]
    selection, _ = select(*found, "search=cv", "search.grid.algo.C=[1.0]")
    assert 0.6 < present(selection.accuracy) < 1.0
    assert selection.accuracy == correct / len(codes)


def test_kernels_are_built_once_a_setting_and_restricted_once_a_fold() -> None:
    _, built = select(*GRID)
    assert len(built) == 3
    assert [operator.restrictions for operator in built] == [5, 5, 5]


@pytest.mark.parametrize("grid", ["[2,1,4]", "[4,2,1]", "[1,2,4]"])
def test_ties_go_to_the_smaller_C(grid: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiclass, "predict", lambda decision: np.zeros(len(decision), int))
    selection, _ = select("search=cv", f"search.grid.algo.C={grid}")
    assert selection.params == {"algo.C": 1}
    selection, _ = select("search=cv", f"search.grid.algo.C={grid}", "+search.ties=larger")
    assert selection.params == {"algo.C": 4}


@pytest.mark.parametrize("scale", [1.0, 1e-4])
def test_the_choice_of_auto_does_not_depend_on_the_scale_of_the_kernels(scale: float) -> None:
    X, codes = problem()
    K = scale * kernels.gaussian(X, 0.3).combine([1.0])[None]
    config = tiny_run("algo=uniform", "search=cv").config
    chosen = search.select(config, lambda _: kernels.PrecomputedBank(K), Responses(codes, 2), SEED)
    assert chosen.params == {"algo.C": pytest.approx(100.0 / scale)}
    assert chosen.at_border == []
    plain = config.with_values({"search.grid": {"algo.C": [1.0 / scale, 10.0 / scale]}})
    chosen = search.select(plain, lambda _: kernels.PrecomputedBank(K), Responses(codes, 2), SEED)
    assert chosen.at_border == ["algo.C"]


def test_the_record_has_what_was_chosen_and_the_refit_uses_it() -> None:
    run = tiny_run("search=cv", "search.grid.algo.C=[0.25]")
    record = run_split(run, 0)
    assert record.params == {"algo.C": 0.25}
    assert record.C == 0.25
    assert present(record.search_seconds) > 0
    assert record.accuracy == run_split(tiny_run("algo.C=0.25"), 0).accuracy
    assert record.objective == run_split(tiny_run("algo.C=0.25"), 0).objective


def test_medians_are_values_of_the_grid_each_hyperparameter_by_itself() -> None:
    pairs = [(10, 0.3), (0.1, 5.0), (1, 0.01), (10, 0.3)]
    choices = [{"algo.C": C, "kernel.gamma": gamma} for C, gamma in pairs]
    assert search.medians(choices) == {"algo.C": 1, "kernel.gamma": 0.3}
    assert search.medians(choices[:3]) == {"algo.C": 1, "kernel.gamma": 0.3}
    assert search.medians(choices[:1]) == choices[0]
    assert search.medians(choices, "smallest") == choices[1]
    assert search.medians(choices, "largest") == choices[0]
    assert search.medians(choices, "joint") == choices[2]


FIRST = [option for option in GRID if option != "search=cv"]


def test_shared_hyperparameters_are_the_medians_of_what_the_first_splits_choose(
    tmp_path: Path,
) -> None:
    noisy = ["data.noise_features=6", "split.n_splits=6", *FIRST]
    searched = tiny_run(*noisy, "search=cv")
    alone = [present(run_split(searched, split).params) for split in range(5)]
    assert len({repr(params) for params in alone}) > 1  # or every rule would do
    shared = {path: sorted(params[path] for params in alone)[2] for path in alone[0]}
    for n_splits in (2, 6):  # the selections do not depend on how many splits are run
        run = tiny_run(*noisy, "search=first_splits", f"split.n_splits={n_splits}")
        (result,) = run_all([run], Store(tmp_path / str(n_splits)))
        assert [record.params for record in result.records] == [shared] * n_splits
        for record in result.records:
            assert [item["params"] for item in present(record.selections)] == alone
            assert [item["split"] for item in present(record.selections)] == [0, 1, 2, 3, 4]


def test_shared_hyperparameters_are_used_and_their_cost_is_noted_once(tmp_path: Path) -> None:
    run = tiny_run("search=first_splits", "search.splits=2", "search.grid.algo.C=[0.25]")
    (result,) = run_all([run], Store(tmp_path))
    fixed = run_split(tiny_run("algo.C=0.25"), 3)
    assert result.records[3].C == 0.25
    assert result.records[3].objective == fixed.objective
    spent = [item["seconds"] for item in present(result.records[3].selections)]
    assert [record.search_seconds for record in result.records] == [*spent, 0.0, 0.0]
    assert min(spent) > 0


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """The calls of a solver that takes a start, made the algorithm of `WARM`."""
    noted: list[Call] = []
    monkeypatch.setattr(experiment_fakes, "CALLS", noted)
    return noted


WARM = ("algo._target_=experiment_fakes.solve_from", "~algo.svm_tol", "search=cv")


def test_starts_are_the_means_of_the_C_before_and_of_the_fold_before(calls: list[Call]) -> None:
    select(*WARM, "search.grid.algo.C=[10,0.1,1]")
    assert [C for C, *_ in calls] == [0.1, 1, 10] * 5
    starts, weights = [call[2] for call in calls], [call[3] for call in calls]
    assert starts[0] is None
    for position in range(1, 15):
        before = weights[position - 1 : position] if position % 3 else []
        same = weights[position - 3 : position - 2] if position >= 3 else []
        np.testing.assert_array_equal(starts[position], np.mean([*before, *same], axis=0))


def test_entries_that_differ_in_more_than_C_are_paths_of_their_own(calls: list[Call]) -> None:
    grid = ["search.grid.algo.C=[1,2]", "+search.grid.algo.tol=[0.1,0.01]"]
    select(*WARM, *grid, "+search.grid.kernel.gamma=[0.1,1.0]", "search.folds=2")
    assert [C for C, *_ in calls] == [1, 2] * 8
    without = [position for position, call in enumerate(calls) if call[2] is None]
    assert without == [0, 2, 8, 10]  # the first of both paths, for both kernels


def test_each_class_starts_at_its_own_weights(calls: list[Call], tmp_path: Path) -> None:
    three_classes(tmp_path / "colours.csv")
    data = ["data=csv", f"data.path='{tmp_path}/colours.csv'", "split.n_splits=1"]
    run = Run.from_overrides(["algo=svm", *WARM, "search.grid.algo.C=[1,2]", *data])
    record = run_split(run, 0)
    starts, weights = [call[2] for call in calls], [call[3] for call in calls]
    assert starts[:3] == [None] * 3
    np.testing.assert_array_equal(starts[3:6], weights[:3])  # the C before
    np.testing.assert_array_equal(starts[6:9], weights[:3])  # the fold before
    np.testing.assert_array_equal(starts[9:12], np.add(weights[3:6], weights[6:9]) / 2)  # both
    assert starts[30:] == [None] * 3  # the fit on the clock starts from nothing
    assert record.weights == np.stack(weights[30:]).tolist()


def real_problem() -> tuple[Array, Responses]:
    X, codes = problem()
    targets = X @ [1.0, -2.0, 0.5] + np.sin(X[:, 0]) + 0.1 * np.cos(7 * X[:, 1])
    return X, Responses(np.zeros_like(codes), 0, targets)


def select_ridge(*overrides: str) -> Selection:
    """Return the selection for a ridge regression on real targets."""
    X, responses = real_problem()
    config = tiny_run("algo=krr", "search=fixed", *overrides).config
    return search.select(config, lambda builder: builder(X), responses, SEED)


def test_targets_are_searched_by_their_rmse() -> None:
    X, responses = real_problem()
    targets, errors = present(responses.targets), {}
    for gamma in (0.01, 0.3):
        for lam in (1e-3, 1.0):
            squared = 0.0
            for fit_rows, held_out in folds(responses.codes, 5, SEED):
                K = kernels.gaussian(X, gamma).gram([1.0])
                alpha = np.linalg.solve(
                    K[np.ix_(fit_rows, fit_rows)] + lam * np.eye(len(fit_rows)), targets[fit_rows]
                )
                residual = K[np.ix_(held_out, fit_rows)] @ alpha - targets[held_out]
                squared += float(residual @ residual)
            errors[gamma, lam] = np.sqrt(squared / len(X))
    selection = select_ridge(
        "+search.grid.algo.lam=[1.0,0.001]", "+search.grid.kernel.gamma=[0.3,0.01]"
    )
    assert selection.accuracy is None
    assert selection.rmse == pytest.approx(min(errors.values()))
    chosen = (selection.params["kernel.gamma"], selection.params["algo.lam"])
    assert errors[chosen] == min(errors.values())


def test_a_path_solved_at_once_chooses_as_one_solved_entry_by_entry(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grid = ("+search.grid.algo.lam=[0.01,0.1,1.0]", "+search.grid.algo.degree=[1,2]")
    at_once = select_ridge(*grid)
    monkeypatch.setattr(configs, "path_algorithm", lambda config: None)
    one_by_one = select_ridge(*grid)
    assert at_once.params == one_by_one.params
    assert at_once.rmse == pytest.approx(one_by_one.rmse)


def test_a_ridge_that_is_too_small_is_not_chosen() -> None:
    twice = ("kernel=gaussian", "kernel.gamma=1e-13")  # all rows nearly alike
    selection = select_ridge(*twice, "+search.grid.algo.lam=[1e-30,0.1]")
    assert selection.params == {"algo.lam": 0.1}
    with pytest.raises(SingularError, match=r"lam=1e-30 is too small"):
        select_ridge(*twice, "+search.grid.algo.lam=[1e-30]")


@pytest.mark.parametrize(
    ("override", "option", "value"),
    [("search.tol=0.5", "tol", 0.5), ("+search.fits.algo.max_iter=3", "max_iter", 3)],
)
def test_the_fits_of_a_search_may_have_options_of_their_own(
    monkeypatch: pytest.MonkeyPatch, override: str, option: str, value: float
) -> None:
    grid = ("algo=mkl", "kernel=gaussians", "search=cv", "search.grid.algo.C=[1,100]")
    values: list[float] = []
    solve = mkl.solve

    def noting(*args: Any, **options: Any) -> Solution:
        values.append(options[option])
        return solve(*args, **options)

    monkeypatch.setattr(mkl, "solve", noting)
    select(*grid, override)
    assert set(values) == {value}
    assert tiny_run(*grid, override).config.algo[option] != value  # what the fit after it has
    assert tiny_run(*grid, override).key != tiny_run(*grid).key


def test_a_search_without_options_of_its_fits_keeps_the_keys_of_records() -> None:
    run = tiny_run("search=cv")
    assert run.config.search.fits is None
    assert "fits" not in run.identity["search"]
    limit = run.config.algo["svm_tol"]
    assert tiny_run("search=cv", f"+search.fits.algo.svm_tol={limit}").key == run.key


def test_of_several_classes_the_squared_error_is_the_mean_over_the_problems() -> None:
    responses = Responses(np.array([0, 2, 1]), 3)
    decision = np.array([[1.0, -1.0, -1.0], [0.0, -1.0, 1.0], [-1.0, 1.0, 2.0]])
    np.testing.assert_allclose(responses.squared_errors(decision), [0.0, 1 / 3, 3.0])
    assert responses.loss("accuracy", decision) == 1


EARLY = ("algo=qnpkl", "kernel=product", "search=iterations", "search.grid.algo.C=[1,100]")


def test_iterations_are_chosen_along_one_descent_as_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = tiny_run(*EARLY)
    at_once = run_split(run, 0)
    monkeypatch.setattr(configs, "path_algorithm", lambda config: None)
    one_by_one = run_split(run, 0)
    assert at_once.params == one_by_one.params
    assert set(present(at_once.params)) == {"algo.C", "algo.iterations"}
    assert at_once.search_accuracy == one_by_one.search_accuracy


def test_ties_go_to_fewer_iterations_before_the_smaller_C(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        multiclass, "predict", lambda decision: np.zeros(len(decision), dtype=np.intp)
    )
    chosen = run_split(tiny_run(*EARLY, "search.grid.algo.iterations=[3,null,1]"), 0).params
    assert chosen == {"algo.C": 1, "algo.iterations": 1}
