"""What a table says of the sources that measured its cells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_fakes import TINY_TABLE, found, only_tables, record, records, table1

from mklbench.commands.reproduce import reproduce
from mklbench.commands.table import table as print_table
from mklbench.experiments.cell import Cell
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import Place, Report, SlotRecords, assemble
from mklbench.report.layout.origins import Origin, describe_origins, origin
from mklbench.report.table.paper_table import Slot

NOW = {"algorithm": "aa", "kernel": "bb", "runner": "cc"}
OLD = {**NOW, "kernel": "b0"}


def measured(sources: dict[str, str] | None) -> SlotRecords:
    """A finished cell whose records are of the sources given."""
    return replace(found(records(sources=sources)), key="0" * 12, sources=NOW)


def report(special: dict[Place, SlotRecords]) -> Report:
    """Table 1, measured by the sources at hand but for the places given."""

    def find(slot: Slot) -> SlotRecords:
        return special.get(slot.place) or measured(NOW)

    return assemble(table1(), find)


def test_origin_is_that_of_all_records_of_a_cell() -> None:
    of_now, of_then, of_none = (record(0, sources=item) for item in (NOW, OLD, None))
    assert origin([of_now, of_now], NOW) is Origin.AT_HAND
    assert origin([of_now, of_then], NOW) is Origin.OTHER
    assert origin([of_now, of_none], NOW) is Origin.NOT_RECORDED


def test_a_table_of_the_sources_at_hand_says_so() -> None:
    assert list(describe_origins(report({}))) == ["those at hand: all 210 cells"]


def test_cells_of_other_sources_are_named_with_what_differs() -> None:
    special = {("sonar", "mkl", "fixed"): measured(OLD), ("pima", "svm", "cv"): measured(None)}
    at_hand, other, unknown = describe_origins(report(special))
    assert at_hand.startswith("those at hand: 208 of 210 cells: ")
    assert other.startswith("others than those at hand, which differ in the kernel: 1 of 210 cells")
    assert "(Sonar, " in other
    assert unknown.startswith("not recorded: 1 of 210 cells: ")
    assert "(Pima, " in unknown


def test_a_whole_column_is_named_alone() -> None:
    places = [slot.place for slot in table1().slots() if slot.column.name == "mkl"]
    texts = list(describe_origins(report(dict.fromkeys(places, measured(OLD)))))
    label = next(column.label for column in table1().columns if column.name == "mkl")
    assert texts[1].endswith(f"{len(places)} of 210 cells: {label}")


def test_cells_without_results_have_no_sources() -> None:
    missing = SlotRecords("missing", (), 20, key="0" * 12, sources=NOW)
    assert list(describe_origins(report({s.place: missing for s in table1().slots()}))) == []


def test_records_say_by_which_sources_they_were_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    only_tables(monkeypatch, tmp_path, tiny=TINY_TABLE)
    store = Store(tmp_path / "s")
    reproduce(["tiny"], store=store, results_dir=str(tmp_path / "results"))
    assert "**sources**: those at hand: all 4 cells" in print_table("tiny", store=store)

    def edited(self: Cell) -> dict[str, Any]:
        return {"algorithm": "other", "kernel": "other", "runner": "other"}

    monkeypatch.setattr(Cell, "sources", property(edited))
    text = print_table("tiny", store=store)
    assert (
        "**sources**: others than those at hand, which differ in the algorithm, the kernel and "
        "what runs them: all 4 cells"
    ) in text
