"""A report as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mklbench.report.analysis.assemble import Report
from mklbench.report.document.markdown import to_markdown
from mklbench.report.layout.page import lay_out


def render(report: Report, figures: Mapping[str, Path], directory: Path | None) -> str:
    """Return the page, with links to the figures from `directory`."""
    return to_markdown(lay_out(report, figures), directory)
