"""A rerun of a split beside its record: what counts as moved, and what as another choice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from experiment_fakes import tiny_run
from report_fakes import record

from mklbench.config.schemas import RunConfig, SearchConfig, SplitConfig
from mklbench.experiments.evaluation import run_split
from mklbench.experiments.run import Run
from mklbench.report.check.comparison import Outcome, differences, is_near_tie, judged


# Of a fit with a gap of 1e-4 each: 2e-4 of the objective and 1.01 of 50 test samples may move.
def run(algo: str, **options: Any) -> Run:
    options |= {"name": algo, "_target_": f"mklbench.algorithms.{algo}.solve"}
    named = {"name": "any"}
    return Run(RunConfig(options, named, named, SplitConfig(n_splits=1), SearchConfig()))


CELL = run("mkl", tol=1e-4)
BEFORE = record(0, accuracy=0.80)
assert BEFORE.weights is not None


def test_ends_within_their_gaps_are_the_same() -> None:
    weights = [1.01 * weight for weight in BEFORE.weights or ()]
    now = record(0, accuracy=0.82, objective=50.0 * (1 + 1.9e-4), n_kernels=11, weights=weights)
    assert not list(differences(CELL, now, BEFORE))
    assert not list(differences(CELL, record(0, accuracy=0.80, gap=5e-4), BEFORE))


@pytest.mark.parametrize(
    "moved",
    [
        {"accuracy": 0.76},
        {"objective": 50.0 * (1 + 2.1e-4)},
        {"objective": None},
        {"gap": 6e-4},
        {"n_kernels": 14},
        {"weights": [1.05 * weight for weight in BEFORE.weights]},
    ],
    ids=lambda moved: next(iter(moved)),
)
def test_each_number_counts(moved: dict[str, Any]) -> None:
    (found,) = differences(CELL, record(0, **{"accuracy": 0.80, **moved}), BEFORE)
    assert found.startswith(next(iter(moved)).removeprefix("n_"))


def test_of_a_regression_the_rmse_counts() -> None:
    before = record(0, accuracy=None, rmse=1.0)
    assert not list(differences(CELL, record(0, accuracy=None, rmse=1.02), before))
    (found,) = differences(CELL, record(0, accuracy=None, rmse=1.05), before)
    assert found.startswith("rmse 1.05, recorded 1.0")


def test_a_gap_of_1_allows_rounding_alone() -> None:
    """It says nothing of where the optimum is, as of boosted trees."""
    trees, before = run("hist_gradient_boosting"), record(0, accuracy=0.80, gap=1.0)
    assert not list(differences(trees, record(0, accuracy=0.80, gap=1.0), before))
    for moved in ({"objective": 50.00001}, {"accuracy": 0.76}):
        now = record(0, **{"accuracy": 0.80, "gap": 1.0, **moved})
        assert len(list(differences(trees, now, before))) == 1


def test_another_local_minimum_is_told_from_a_change() -> None:
    """QN-PKL may end elsewhere, at about the same worth; a convex problem may not."""
    before = record(0, accuracy=0.80, n_test=63)
    elsewhere = record(0, accuracy=0.85, n_test=63, objective=47.0, gap=0.2, weights=[1.0] * 10)
    worse = record(0, accuracy=0.60, n_test=63)
    assert judged(run("qnpkl"), elsewhere, before)[0] is Outcome.ELSEWHERE
    assert judged(run("qnpkl"), worse, before)[0] is Outcome.MOVED
    assert judged(CELL, elsewhere, before)[0] is Outcome.MOVED


def test_an_objective_away_from_its_smallest_moves_with_the_weights() -> None:
    """Those of PWMK are shares of accuracies, of which one sample may change."""
    now = record(
        0, accuracy=0.80, objective=50.05, weights=[1.002 * w for w in BEFORE.weights or ()]
    )
    assert not list(differences(run("pwmk"), now, BEFORE))
    assert list(differences(run("uniform"), record(0, accuracy=0.80, objective=50.05), BEFORE))


@pytest.mark.parametrize(
    ("algo", "changed"),
    [
        ("algo=svm", "algo.C=2.0"),
        ("algo=uniform", "algo.C=2.0"),
        ("algo=mkl", "algo.tol=0.01"),
        ("algo=simplemkl", "algo.tol=1.0"),
        ("algo=svm", "algo.svm_tol=0.1"),
    ],
)
def test_a_solver_that_was_changed_is_found(algo: str, changed: str) -> None:
    """Twice the C, or a hundred times the tolerance."""
    options = ["kernel=feature_gaussians", algo]
    run = tiny_run(*options)
    before = run_split(run, 0)
    assert list(differences(run, run_split(tiny_run(*options, changed), 0), before))


class TestNearTie:
    """Cross-validation took another candidate than when the split was recorded."""

    @pytest.mark.parametrize(
        ("score", "near", "far"),
        [("accuracy", 0.81, 0.83), ("rmse", 0.81, 0.85), ("score", 0.81, 0.85)],
    )
    def test_scores_that_are_as_good(self, score: str, near: float, far: float) -> None:
        def chosen(C: float, value: float) -> Any:
            return record(0, params={"algo.C": C}, n_train=100, **{f"search_{score}": value})

        before = chosen(1, 0.80)
        assert is_near_tie(CELL, chosen(10, near), before)
        assert not is_near_tie(CELL, chosen(10, far), before)
        loose = Run(replace(CELL.config, search=SearchConfig(tol=0.02)))
        assert is_near_tie(loose, chosen(10, far), before)

    def test_of_shared_selections_each_is_looked_at(self) -> None:
        def chosen(*found: tuple[float, float]) -> Any:
            selections = [
                {"split": split, "params": {"algo.C": C}, "accuracy": accuracy, "seconds": 1.0}
                for split, (C, accuracy) in enumerate(found)
            ]
            return record(0, params={"algo.C": 1.0}, selections=selections)

        before = chosen((1, 0.80), (1, 0.70))
        assert is_near_tie(CELL, chosen((1, 0.80), (10, 0.71)), before)
        assert not is_near_tie(CELL, chosen((1, 0.80), (10, 0.60)), before)
