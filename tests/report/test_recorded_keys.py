"""Every recorded run is the run of some place of its table: no change of a default loses one."""

from __future__ import annotations

import pytest

from mklbench import resources
from mklbench.experiments.records import read_records
from mklbench.report.analysis.places import RunFinder, recorded_source
from mklbench.report.loading import load_table


@pytest.mark.slow
@pytest.mark.parametrize("name", resources.choices("table"))
def test_the_runs_of_a_table_are_those_recorded(name: str) -> None:
    table = load_table(name)
    recorded = recorded_source(table)
    finder = RunFinder(recorded)
    keys = {record.key for record in read_records(recorded.path)}
    assert {finder.run(slot).key for slot in table.slots()} == keys
