"""A report as one self-contained page of HTML."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mklbench.report.analysis.assemble import Report
from mklbench.report.document.html import to_html
from mklbench.report.layout.page import lay_out


def render(report: Report, figures: Mapping[str, Path], directory: Path | None) -> str:
    """Return the page, with the figures in it."""
    return to_html(lay_out(report, figures))
