"""A report as CSV."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mklbench.report.analysis.assemble import Report
from mklbench.report.layout.csv import to_csv


def render(report: Report, figures: Mapping[str, Path], directory: Path | None) -> str:
    """Return one line a number."""
    return to_csv(report)
