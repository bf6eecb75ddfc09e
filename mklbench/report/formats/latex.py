"""The tables of a report as LaTeX, for a paper: `\\input` them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mklbench.report.analysis.assemble import Report
from mklbench.report.document.latex import to_latex
from mklbench.report.layout.page import lay_out_tables

IS_RESULT = False  # whether `reproduce` writes a file of it


def render(report: Report, figures: Mapping[str, Path], directory: Path | None) -> str:
    """Return the tables alone, with what the preamble needs in a comment."""
    return to_latex(lay_out_tables(report))
