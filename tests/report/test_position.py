"""What the papers print, beside the numbers of a run."""

from __future__ import annotations

import pytest
from narrowing import present
from report_fakes import records

from mklbench.experiments.run import Run
from mklbench.report.position import Nearest, position_of


def position(*overrides: str) -> Nearest | None:
    return position_of(Run.from_overrides(overrides))


def test_a_run_that_is_a_position_is_judged_under_its_protocol() -> None:
    grid = "search.grid.algo.C=[1,3,10,30,100]"
    found = present(position("algo=qnpkl", "data=sonar", "split.n_splits=3"))
    assert (found.slot.place, found.differences) == (("sonar", "qnpkl", "iterations"), (grid,))
    searched = ["search=iterations", grid]
    found = present(position("algo=qnpkl", "data=sonar", "split.n_splits=3", *searched))
    assert found.slot.place == ("sonar", "qnpkl", "iterations")
    assert found.beside(records(20, accuracy=0.5)).splitlines() == [
        "Picard et al. 2012, Table 1: accuracy 86.6 ± 3.4 %; here 50.0 ± 0.0 %: differs (lower) "
        "(protocol: C and iterations by CV)",
        "  whole table: mklbench table picard2012_table1 --recorded",
    ]


@pytest.mark.parametrize(
    ("overrides", "place", "differences"),
    [
        (["algo=svm", "data=banana"], ("banana", "svm", "paper"), ("search=first_splits",)),
        # One option away from the SVM of the table, too, which is no learning at all.
        (
            ["algo=qnpkl", "data=sonar", "search=cv", "algo.tol=0.02"],
            ("sonar", "qnpkl", "stop3"),
            ("algo.tol=0.001", "search.grid.algo.C=[0.01,0.1,1,10,100]"),
        ),
    ],
)  # fmt: skip
def test_another_protocol_is_said_to_be_one(
    overrides: list[str], place: tuple[str, str, str], differences: tuple[str, ...]
) -> None:
    found = present(position(*overrides))
    assert (found.slot.place, found.differences) == (place, differences)


def test_a_run_of_no_paper_has_no_position() -> None:
    assert position("algo=qnpkl", "data=wdbc") is None
