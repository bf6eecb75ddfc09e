"""What the page says of a store of the reader's own, and of runs that are not done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from report_fakes import TINY_TABLE

from mklbench.errors import InputError
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store, copy_records
from mklbench.report.analysis.assemble import assemble
from mklbench.report.analysis.places import RunFinder, recorded_source
from mklbench.report.layout.findings import findings
from mklbench.report.loading import load_table, read_table
from mklbench.report.site.collected import Collected, compare
from mklbench.report.site.content import Runs, run_command
from mklbench.report.site.papers import PaperPage, paper_pages
from mklbench.report.table.paper_table import PaperTable

NAME = "picard2012_speed"


@pytest.fixture(scope="module")
def recorded() -> tuple[PaperTable, RunFinder]:
    table = load_table(NAME)
    return table, RunFinder(recorded_source(table))


def store_of(
    recorded: tuple[PaperTable, RunFinder], path: Path, change: float = 0.0
) -> tuple[Store, Run]:
    """Return a store with the first run of the table, in which one accuracy is another."""
    table, finder = recorded
    run = finder.run(next(table.slots()))
    store = Store(path)
    if change:
        first = finder.source.read(run).records[0]
        assert first.accuracy is not None
        store.write(run, replace(first, accuracy=first.accuracy + change))
    copy_records([run], finder.source, store)
    return store, run


def collected(recorded: tuple[PaperTable, RunFinder], store: Store) -> list[Collected]:
    table, finder = recorded
    return [Collected(table, assemble(table, finder), assemble(table, RunFinder(store)))]


def test_the_same_records_are_no_difference(
    recorded: tuple[PaperTable, RunFinder], tmp_path: Path
) -> None:
    store, _ = store_of(recorded, tmp_path)
    found = list(compare(collected(recorded, store)))
    assert {one["metric"]: one["moved"] for one in found} == {
        "SVM calls": False,
        "accuracy %": False,
    }
    assert {one["splits"] for one in found} == {"20 of 20"}


def test_a_changed_record_is_marked_with_its_difference(
    recorded: tuple[PaperTable, RunFinder], tmp_path: Path
) -> None:
    store, _ = store_of(recorded, tmp_path, change=-0.2)
    found = {one["metric"]: one for one in compare(collected(recorded, store))}
    assert not found["SVM calls"]["moved"]
    assert found["accuracy %"]["moved"]
    assert found["accuracy %"]["largest"] == "20"  # points, on one of 20 splits


@pytest.fixture
def tiny(tmp_path: Path) -> PaperPage:
    (tmp_path / "table").mkdir()
    path = tmp_path / "table" / "tiny_table.yaml"
    path.write_text(TINY_TABLE, encoding="utf-8")
    table = replace(read_table(path), config_dir=str(tmp_path))
    report = assemble(table, RunFinder(Store(tmp_path / "store")))
    (page,) = paper_pages([Collected(table, None, report)], Runs(), [], {})
    return page


def test_a_run_that_is_missing_has_the_command_that_would_run_it(
    tiny: PaperPage, tmp_path: Path
) -> None:
    (page,) = tiny.tables
    slots = [slot for slot, _ in page["report"].unfinished]
    assert len(slots) == 4
    command = run_command(slots[0])
    assert command.startswith("mklbench run split.n_splits=2 algo=svm search=fixed")
    assert command.endswith(f"--config-dir {tmp_path}")


@pytest.mark.parametrize(
    "finding",
    ["{measured minmax one fixed}", "{nonsense}", "{}", "{count all}", "{published a b accuracy}"],
)
def test_a_finding_with_a_wrong_mark_is_refused(finding: str, tmp_path: Path) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text(f"{TINY_TABLE}findings: ['{finding}']\n", encoding="utf-8")
    report = assemble(read_table(path), RunFinder(Store(tmp_path / "store")))
    with pytest.raises(InputError, match="a finding has a mark that cannot be read: "):
        findings(report)
