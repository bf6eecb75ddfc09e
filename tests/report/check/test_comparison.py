"""A rerun of a split beside its record, made on one machine or on two."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from experiment_fakes import tiny_cell
from narrowing import present

from mklbench.experiments.evaluation import run_split
from mklbench.experiments.provenance import blas_kernels, cpu_model
from mklbench.experiments.record import Record
from mklbench.report.check import comparison
from mklbench.report.check.comparison import Outcome
from mklbench.report.check.config import load_check


class TestComparing:
    """Two records of a split, made on one machine or on two."""

    config = load_check()

    def outcome(self, now: Record, before: Record, algorithm: str = "simplemkl") -> Outcome:
        return comparison.compare(now, before, self.config, algorithm)[0]

    @pytest.fixture
    def record(self) -> Record:
        return run_split(tiny_cell("algo=simplemkl", "kernel=feature_gaussians"), 0)

    @staticmethod
    def elsewhere(record: Record, **changes: Any) -> Record:
        provenance = {**record.provenance, "blas_kernels": "Other"}
        return replace(record, provenance=provenance, **changes)

    def test_the_same_to_the_digits_is_the_same_everywhere(self, record: Record) -> None:
        nearly = present(record.objective) * (1 + 1e-11)
        assert self.outcome(replace(record, objective=nearly), record) is Outcome.SAME
        assert self.outcome(record, self.elsewhere(record)) is Outcome.SAME

    @pytest.mark.parametrize("name", ["objective", "gap", "rmse", "svm_calls", "n_kernels"])
    def test_on_the_same_machine_every_number_counts(self, record: Record, name: str) -> None:
        value = getattr(record, name)
        moved = replace(record, **{name: value + (1 if isinstance(value, int) else 1e-3)})
        assert self.outcome(moved, record) is Outcome.MOVED

    def test_on_the_same_machine_weights_and_choices_count(self, record: Record) -> None:
        weights = [0.5 * weight for weight in present(record.weights)]
        assert self.outcome(replace(record, weights=weights), record) is Outcome.MOVED
        assert self.outcome(replace(record, params={"algo.C": 3}), record) is Outcome.MOVED
        assert self.outcome(replace(record, accuracy=0.0), record) is Outcome.MOVED

    def test_on_another_machine_the_stopping_rule_leaves_some_open(self, record: Record) -> None:
        moved = {"objective": present(record.objective) * (1 + 1e-4), "svm_calls": 7}
        assert self.outcome(record, self.elsewhere(record, **moved)) is Outcome.WITHIN
        far = self.elsewhere(record, objective=1.1 * present(record.objective))
        assert self.outcome(record, far) is Outcome.MOVED
        assert (
            "BLAS kernels for Other, here "
            in comparison.compare(record, far, self.config, "svm")[1]
        )

    def test_on_another_machine_another_choice_cannot_be_compared(self, record: Record) -> None:
        other = self.elsewhere(record, params={"algo.C": 3}, svm_calls=7)
        assert self.outcome(record, other) is Outcome.NOT_CHECKED

    def test_versions_of_libraries_count_as_another_machine(self, record: Record) -> None:
        versions = {**record.provenance["versions"], "numpy": "1.0"}
        before = replace(record, provenance={**record.provenance, "versions": versions})
        assert comparison.other_rounding(before, record, {}).startswith("numpy 1.0, here ")

    def test_processors_whose_kernels_are_known_need_not_name_them(self, record: Record) -> None:
        provenance = {**record.provenance, "blas_kernels": None}
        before = replace(record, provenance=provenance)
        assert comparison.other_rounding(before, record, {cpu_model(): str(blas_kernels())}) == ""
        assert "here" in comparison.other_rounding(before, record, {})

    def test_tolerances_are_of_algorithms_that_there_are(self) -> None:
        from mklbench import resources

        assert set(self.config.algorithms) <= set(resources.choices("algo"))
