"""From a document to Markdown."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mklbench.report.document.blocks import (
    Block,
    CodeBlock,
    Definitions,
    Document,
    Entry,
    Grid,
    Heading,
    Paragraph,
    Picture,
)

MARKDOWN_EMPHASIS = {"": "", "bold": "**", "italic": "*"}


def to_markdown(document: Document, directory: Path | None = None) -> str:
    """Render a document as Markdown that also reads well on a terminal.

    Parameters
    ----------
    document : Document
        The blocks.
    directory : Path or None, default=None
        Where the file will stand; pictures are linked relative to it.
    """
    return "\n\n".join(_markdown_block(block, directory) for block in document) + "\n"


def _markdown_block(block: Block, directory: Path | None) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {text}"
        case Paragraph(text):
            return text
        case CodeBlock(text):
            return f"```\n{text}\n```"
        case Definitions(items):
            return "\n".join(_markdown_definition(term, lines) for term, lines in items)
        case Grid():
            return _markdown_grid(block)
        case Picture(path, caption):
            target = os.path.relpath(path, directory) if directory else str(path)
            return f"![{caption}]({Path(target).as_posix()})"


def _markdown_definition(term: str, lines: Sequence[str]) -> str:
    if len(lines) == 1:
        return f"- **{term}**: {lines[0]}"
    return "\n".join([f"- **{term}**", *(f"  - {line}" for line in lines)])


def _markdown_grid(grid: Grid) -> str:
    from tabulate import tabulate

    n_numbers = len(grid.headings) - grid.n_label_columns
    rows = [[_markdown_entry(entry) for entry in row] for row in grid.rows]
    return tabulate(
        rows,
        headers=list(grid.headings),
        tablefmt="pipe",
        disable_numparse=True,
        colalign=["left"] * grid.n_label_columns + ["right"] * n_numbers,
    )


def _markdown_entry(entry: Entry) -> str:
    stars = MARKDOWN_EMPHASIS[entry.emphasis]
    return f"{stars}{entry.text}{stars}".replace("|", "\\|")
