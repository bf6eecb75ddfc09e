"""What a step may take is known from records like it, and from what it has taken in this run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from experiment_fakes import tiny_cell
from narrowing import present

from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.estimates import GUESS, Estimates, fit_seconds
from mklbench.experiments.execution.plan import run_cells
from mklbench.experiments.execution.steps import Step
from mklbench.experiments.memory import bytes_of_step
from mklbench.experiments.record import Record
from mklbench.experiments.records import RecordFile, export_records
from mklbench.experiments.store import Store

SHARED = ("search=first_splits", "search.splits=2", "search.folds=2", "search.grid.algo.C=[2,3]")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def ended(cell: Cell, directory: Path, seconds: float) -> Record:
    """Run the first split of a cell, and return its record as if it had taken so long."""
    other = Store(directory / f"of-{cell.key}")
    if not other.path.exists():
        run_cells([cell], other)
    record = present(other.record(cell, 0))
    return replace(record, kernel_seconds=0.0, fit_seconds=seconds, predict_seconds=0.0,
                   search_seconds=0.0 if record.search_seconds is not None else None)  # fmt: skip


def recorded(directory: Path, cell: Cell, records: Sequence[Record]) -> RecordFile:
    source = Store(directory / f"recorded-{cell.key}-{len(records)}")
    for record in records:
        source.write(cell, record)
    path = directory / f"{source.path.name}.jsonl"
    export_records([cell], source, path)
    return RecordFile(path)


def test_nothing_is_known(store: Store) -> None:
    estimates = Estimates(store, list)
    assert estimates.seconds(Step(tiny_cell(), 0)) == GUESS


def test_fits_of_a_search_count(store: Store) -> None:
    estimates = Estimates(store, list)
    each = tiny_cell("search=cv", "search.folds=2", "search.grid.algo.C=[1,2,3]")
    assert estimates.seconds(Step(each, 0)) == 7 * GUESS
    shared = tiny_cell(*SHARED)
    assert estimates.seconds(Step(shared, 0, selects=True)) == 4 * GUESS
    assert estimates.seconds(Step(shared, 0)) == GUESS


def test_the_records_of_the_cell_itself_are_asked_first(store: Store, tmp_path: Path) -> None:
    cell = tiny_cell()
    record = ended(cell, tmp_path, 4.0)
    program = recorded(tmp_path, cell, [replace(record, fit_seconds=9.0)])
    assert Estimates(store, lambda: [program]).seconds(Step(cell, 3)) == 9.0
    store.write(cell, record)
    store.write(cell, replace(record, split=1, fit_seconds=8.0))
    assert Estimates(store, lambda: [program]).seconds(Step(cell, 3)) == 6.0


def test_a_cell_alike_in_name_tells_next(store: Store, tmp_path: Path) -> None:
    other, cell = tiny_cell("algo.C=3"), tiny_cell()
    program = recorded(tmp_path, other, [ended(other, tmp_path, 5.0)])
    assert Estimates(store, lambda: [program]).seconds(Step(cell, 0)) == 5.0


def test_a_step_of_the_same_method_is_scaled_by_its_size(store: Store, tmp_path: Path) -> None:
    small = tiny_cell()
    large = tiny_cell("data=ringnorm", "data.n_samples=120")
    program = recorded(tmp_path, small, [ended(small, tmp_path, 5.0)])
    n_small, n_large = (len(cell.rows(0)[0]) for cell in (small, large))
    expected = 5.0 * (n_large / n_small) ** 2
    estimate = Estimates(store, lambda: [program]).seconds(Step(large, 0))
    assert estimate == pytest.approx(expected)
    assert estimate > 15.0


def test_what_has_ended_in_this_run_counts_most(store: Store, tmp_path: Path) -> None:
    cell = tiny_cell()
    store.write(cell, ended(cell, tmp_path, 4.0))
    estimates = Estimates(store, list)
    assert estimates.seconds(Step(cell, 1)) == 4.0
    estimates.learn(Step(cell, 1), 1.0)
    estimates.learn(Step(cell, 2), 2.0)
    assert estimates.seconds(Step(cell, 3)) == 1.5
    assert estimates.seconds(Step(tiny_cell("algo.C=7"), 0)) == GUESS


def test_a_selection_takes_what_selections_took(store: Store, tmp_path: Path) -> None:
    cell = tiny_cell(*SHARED)
    run_cells([cell], store)
    estimates = Estimates(store, list)
    chosen = store.selections(cell)
    mean = sum(one.seconds for one in chosen.values()) / len(chosen)
    assert estimates.seconds(Step(cell, 0, selects=True)) == pytest.approx(mean)
    records = store.read(cell).done
    fits = [fit_seconds(record) for record in records]
    assert estimates.seconds(Step(cell, 0)) == pytest.approx(sum(fits) / len(fits))


def test_failures_tell_nothing(store: Store, tmp_path: Path) -> None:
    cell = tiny_cell()
    record = replace(ended(cell, tmp_path, 4.0), status="failed", error="it failed")
    store.write(cell, record)
    assert Estimates(store, list).seconds(Step(cell, 1)) == GUESS


def test_memory_is_that_of_one_of_several_processes(store: Store) -> None:
    cell = tiny_cell()
    n_train = len(cell.rows(2)[0])
    assert Estimates(store, list).bytes(Step(cell, 2)) == bytes_of_step(cell, 2, 2)(n_train)


@pytest.mark.slow
def test_the_records_of_the_program_are_asked(store: Store) -> None:
    cell = Cell.from_overrides(["algo=svm", "kernel=gaussian", "data=sonar"])
    assert 0 < Estimates(store).seconds(Step(cell, 0)) < GUESS
