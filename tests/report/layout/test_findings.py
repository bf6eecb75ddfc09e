"""Findings of a table: sentences with marks in the place of numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from report_fakes import TINY_TABLE

from mklbench.errors import InputError
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import assemble
from mklbench.report.analysis.places import RunFinder
from mklbench.report.layout.findings import findings
from mklbench.report.loading import read_table


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
