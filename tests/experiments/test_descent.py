"""The course of a fit that a record keeps."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import pytest
from experiment_fakes import tiny_run
from narrowing import present

from mklbench.experiments.evaluation import MOST_ENTRIES, compact, run_split
from mklbench.experiments.record import Record
from mklbench.iterations import History


def falling(n: int, **values: float) -> History:
    return [
        {"n_svm_calls": k + 1.0, "objective": 1.0 + 1.0 / (k + 1.0), **values} for k in range(n)
    ]


def test_a_short_course_is_kept_as_it_is() -> None:
    kept = present(compact([falling(3, gap=0.25)]))
    assert kept == {"svm_calls": [1, 2, 3], "objective": [2, 1.5, 1.3333333], "gap": [0.25] * 3}


def test_of_a_long_course_the_ends_and_the_early_part_are_kept() -> None:
    kept = present(compact([falling(100_000, gap=1e-300)]))
    calls = [int(present(value)) for value in kept["svm_calls"]]
    assert len(calls) <= MOST_ENTRIES
    assert (calls[0], calls[-1]) == (1, 100_000)
    steps = [after - before for before, after in pairwise(calls)]
    assert steps == sorted(steps)
    assert all(step > 0 for step in steps)
    assert len(json.dumps(kept)) < 1000


def test_of_several_problems_it_is_that_of_the_longest() -> None:
    assert present(compact([falling(2), falling(5), falling(5, gap=1.0)])) == compact([falling(5)])


def test_one_iteration_is_no_course() -> None:
    assert compact([falling(1), []]) is None
    assert compact([]) is None


def test_what_json_does_not_have_is_none() -> None:
    history = [{"n_svm_calls": 1.0, "objective": math.inf, "gap": math.nan}, *falling(1, gap=0.5)]
    kept = present(compact([history]))
    assert kept["objective"] == [None, 2]
    assert kept["gap"] == [None, 0.5]


@pytest.mark.parametrize("algo", ["mkl", "simplemkl", "vskl"])
def test_a_record_has_the_course_of_its_fit(algo: str) -> None:
    """The last entry is what the record says of the solution, the first is before any step."""
    run = tiny_run(f"algo={algo}", "kernel=feature_gaussians")
    record = run_split(run, 0)
    course = present(record.descent)
    assert course["svm_calls"][-1] == record.svm_calls
    assert course["objective"][-1] == pytest.approx(record.objective, rel=1e-6)
    assert course["gap"][-1] == pytest.approx(record.gap, rel=6e-3)
    assert present(course["objective"][0]) > present(course["objective"][-1])
    content = record.to_json()
    assert len(json.dumps(content["descent"])) < 1000
    assert Record.from_json(json.loads(json.dumps(content))) == record
