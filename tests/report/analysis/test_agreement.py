"""How many published numbers match, under the settings of a grid and by chance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from report_fakes import FakeFinder, found, records

from mklbench.report.analysis.agreement import by_chance, judged_numbers, matches
from mklbench.report.analysis.assemble import Report, assemble
from mklbench.report.loading import read_table

TABLE = """\
title: A table
citation: Someone
rows: [{name: a, label: A, overrides: [data=wdbc]}, {name: b, label: B, overrides: [data=wdbc]}]
columns: [{name: svm, label: SVM, overrides: [algo=svm]}]
protocols:
  - {name: as_it_is, label: as it is, overrides: []}
  - name: "{0}_{1:g}"
    label: "{0}, C = {1:g}"
    grid: {split.scaling: [none, unit], algo.C: [0.3, 10.0]}
    overrides: [search=fixed]
published: {a: {svm: {accuracy: [82.0, 1.0]}}, b: {svm: {accuracy: [91.0, 1.0]}}}
"""


def report(tmp_path: Path) -> Report:
    (tmp_path / "table.yaml").write_text(TABLE, encoding="utf-8")
    table = read_table(tmp_path / "table.yaml")
    other = records(accuracy=0.91)
    special = {
        ("a", "svm", "unit_10"): found(other),  # what is published of the other set
        ("b", "svm", "none_0.3"): found(other),
    }
    return assemble(table, FakeFinder(special))


def test_a_grid_is_one_protocol_for_every_combination(tmp_path: Path) -> None:
    protocols = report(tmp_path).table.protocols
    names = ["as_it_is", "none_0.3", "none_10", "unit_0.3", "unit_10"]
    assert [protocol.name for protocol in protocols] == names
    assert protocols[-1].label == "unit, C = 10"
    assert protocols[-1].overrides == ("search=fixed", "split.scaling=unit", "algo.C=10.0")
    assert protocols[-1].setting == {"split.scaling": "unit", "algo.C": "10.0"}


def test_matches_are_counted_by_setting_and_by_chance(tmp_path: Path) -> None:
    assembled = report(tmp_path)
    every = matches(assembled, "accuracy", assembled.table.protocols)
    assert np.trace(every, axis1=1, axis2=2).tolist() == [1, 2, 1, 1, 0]
    counts = by_chance(every, 100)
    assert {tuple(line) for line in counts.tolist()} == {(1, 2, 1, 1, 0), (1, 0, 1, 1, 2)}
    of_one = matches(assembled, "accuracy", assembled.table.protocols[:2], columns=("svm",))
    assert of_one[:, 1, 1].tolist() == [False, True]


def test_the_settings_of_a_grid_are_no_protocols_that_match(tmp_path: Path) -> None:
    """Something among many settings matches always."""
    first, second = judged_numbers([report(tmp_path)])
    assert first.matches
    assert not second.matches
