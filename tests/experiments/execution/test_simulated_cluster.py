"""Whatever happens on a cluster: every step ends once, as if undisturbed; nothing is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.simulated_cluster import (
    STATED,
    Faults,
    Outcome,
    SimulatedCell,
    Size,
    drawn_cells,
    simulate,
)
from mklbench.experiments.execution.dispatch import Options

RETRIES = 3
# So often that in these minutes most jobs meet something.
ALL = Faults(
    killed=3, cancelled=3, silent=3, forgotten=3, orphaned=3, unreachable=3, driver=6,
    large=0.05, slow=0.1,
)  # fmt: skip
ONLY = {
    "killed": Faults(killed=10),
    "cancelled": Faults(cancelled=10),
    "silent": Faults(silent=10),
    "forgotten": Faults(forgotten=10),
    "orphaned": Faults(orphaned=10),
    "unreachable": Faults(unreachable=20),
    "driver": Faults(driver=30),
}


def run(seed: int, faults: Faults, directory: Path, size: Size | None = None) -> Outcome:
    cells = drawn_cells(8, 25, 20.0, seed)
    return simulate(cells, size or Size(8), faults, Options(5.0, RETRIES), seed, directory)


def check(outcome: Outcome) -> None:
    assert outcome.wrong == []
    assert outcome.left == []
    assert [result.status for result in outcome.results] == ["done"] * len(outcome.results)
    assert set(outcome.accuracies.values()).isdisjoint([None])


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))]
)
def test_everything_goes_wrong(seed: int, tmp_path: Path) -> None:
    disturbed = run(seed, ALL, tmp_path / "disturbed")
    check(disturbed)
    assert disturbed.hit.total() > 5
    undisturbed = run(seed, Faults(), tmp_path / "undisturbed")
    check(undisturbed)
    assert disturbed.accuracies == undisturbed.accuracies
    assert set(undisturbed.attempts.values()) == {1}
    # Beside the retries: a step of a node that fell silent does not count as begun in vain, nor
    # does a driver know what another has counted.
    more = disturbed.hit["silent"] + disturbed.hit["driver"] * (RETRIES + 1)
    assert max(disturbed.attempts.values()) <= RETRIES + 1 + more


@pytest.mark.slow
@pytest.mark.parametrize("name", ONLY)
def test_one_thing_goes_wrong_again_and_again(name: str, tmp_path: Path) -> None:
    outcome = run(5, ONLY[name], tmp_path)
    check(outcome)
    assert outcome.hit[name] > 1
    if name not in ("silent", "driver"):
        assert max(outcome.attempts.values()) <= RETRIES + 1


@pytest.mark.slow
def test_a_scheduler_that_tells_and_has_jobs_in_stock(tmp_path: Path) -> None:
    check(run(1, ALL, tmp_path, Size(8, 16, start=0.1, poll=2.0, tells=True)))


def test_what_cannot_be_done_is_recorded_with_its_reason(tmp_path: Path) -> None:
    troubled = [
        SimulatedCell(0, 12, 20.0, 20.0, trouble={3: "dies"}),
        SimulatedCell(1, 12, 20.0, 20.0, trouble={4: "endless"}),
        SimulatedCell(2, 12, 20.0, 20.0, trouble={11: "input"}),
    ]
    outcome = simulate(troubled, Size(4), Faults(), Options(5.0, 2), directory=tmp_path)
    assert (outcome.wrong, outcome.left) == ([], [])
    died, endless, refused = outcome.results
    assert [record.is_done for record in died.records].count(False) == 1
    assert "FAILED on node node0" in str(died.records[3].error)
    assert "after 3 attempts: the worker process died; log: the log of" in str(
        died.records[3].error
    )
    assert [record.is_done for record in endless.records].count(False) == 1
    assert "TIMEOUT on node" in str(endless.records[4].error)
    keys = [one.key for one in troubled]
    assert outcome.attempts[keys[0], 3, False] == outcome.attempts[keys[1], 4, False] == 3
    assert refused.error == "mend it"
    assert max(outcome.attempts[keys[2], split, False] for split in range(12)) == 1


def test_a_selection_that_fails_ends_its_cell(tmp_path: Path) -> None:
    cell = SimulatedCell(0, 5, 20.0, 20.0, n_selections=2)
    large = Faults(large=1.0)
    outcome = simulate([cell], Size(4), large, Options(5.0, retries=0), directory=tmp_path)
    assert (outcome.wrong, outcome.left) == ([], [])
    assert [result.status for result in outcome.results] == ["failed"]
    assert "model selection on split" in str(outcome.results[0].records[0].error)


@pytest.mark.slow
def test_the_slots_of_a_large_cluster_are_used(tmp_path: Path) -> None:
    """10,000 steps on 200 workers, as the documentation says."""
    cells = drawn_cells(100, 100, 60.0, 1)
    outcome = simulate(cells, Size(200, 250), STATED, Options(), 1, tmp_path)
    check(outcome)
    assert outcome.hit.total() > 30
    assert outcome.efficiency >= 0.9
