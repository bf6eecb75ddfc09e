"""From a document to Markdown and HTML, and from a report to CSV."""

from __future__ import annotations

import base64
import csv
import html
import io
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mklbench.report.assemble import Number, NumberPlace, Report
from mklbench.report.document import (
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
from mklbench.report.stopping import Ending
from mklbench.report.style import PAGE_STYLE

CSV_COLUMNS = (
    "row",
    "column",
    "protocol",
    "metric",
    "published_mean",
    "published_std",
    "measured_mean",
    "measured_std",
    "n_splits",
    "difference",
    "verdict",
    "status",
    "standing",
    "published_standing",
    "n_stopped",
    "stopped_gap",
    "met_gap",
)

MARKDOWN_EMPHASIS = {"": "", "bold": "**", "italic": "*"}
HTML_EMPHASIS = {"": "", "bold": "strong", "italic": "em"}


def to_markdown(document: Document, directory: Path | None = None) -> str:
    """Render a document as Markdown that also reads well on a terminal.

    Parameters
    ----------
    document : the blocks.
    directory : where the file will stand; pictures are linked relative to it.
    """
    return "\n\n".join(_markdown_block(block, directory) for block in document) + "\n"


def to_html(document: Document) -> str:
    """Render a document as one self-contained page; pictures are embedded."""
    title = next((block.text for block in document if isinstance(block, Heading)), "mklbench")
    body = "\n".join(_html_block(block) for block in document)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{PAGE_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def to_csv(report: Report) -> str:
    """Render every number of a report as one line of CSV; what is not known stays empty.

    `measured_mean` and `measured_std` are full doubles in the printed unit, `n_splits` is the
    number of finished splits behind them, and `verdict` is empty unless the cell is done.
    `standing` and `published_standing` say which numbers are much better or worse than the table's
    baseline. `n_stopped` of the fits ended before their rule was met, with gaps of up to
    `stopped_gap`; those of the others reach up to `met_gap`.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    writer.writerows(_csv_line(report, *item) for item in report.numbers.items())
    return stream.getvalue()


def _csv_line(report: Report, place: NumberPlace, number: Number) -> list[object]:
    published, measured = number.published, number.measured
    row, column, protocol, metric = place
    _, found = report.slots[row, column, protocol]
    ending = Ending.of(found)
    return [
        *place,
        None if published is None else published.mean,
        None if published is None else published.std,
        None if measured is None else measured.mean,
        None if measured is None else measured.std,
        0 if measured is None else measured.n,
        number.difference,
        number.verdict,
        number.status,
        report.standings.get(place),
        report.published_standings.get((row, column, metric)),
        ending.n_stopped,
        ending.stopped_gap,
        ending.met_gap,
    ]


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


def _html_block(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"<h{level}>{_inline(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{_inline(text)}</p>"
        case CodeBlock(text):
            return f"<pre><code>{html.escape(text)}</code></pre>"
        case Definitions(items):
            return "<dl>\n" + "\n".join(_html_definitions(items)) + "\n</dl>"
        case Grid():
            return _html_grid(block)
        case Picture(path, caption):
            return _html_picture(path, caption)


def _html_definitions(items: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    for term, lines in items:
        yield f"<dt>{_inline(term)}</dt>"
        for line in lines:
            yield f"<dd>{_inline(line)}</dd>"


def _html_grid(grid: Grid) -> str:
    head = "".join(
        f"<th{_html_class(grid, i, '')}>{_inline(text)}</th>"
        for i, text in enumerate(grid.headings)
    )
    body = "\n".join(f"<tr>{_html_row(grid, row)}</tr>" for row in grid.rows)
    return (
        f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _html_row(grid: Grid, row: Sequence[Entry]) -> str:
    return "".join(
        f"<td{_html_class(grid, i, entry.tone)}>{_html_entry(entry)}</td>"
        for i, entry in enumerate(row)
    )


def _html_entry(entry: Entry) -> str:
    text, tag = _inline(entry.text), HTML_EMPHASIS[entry.emphasis]
    return f"<{tag}>{text}</{tag}>" if tag else text


def _html_class(grid: Grid, position: int, tone: str) -> str:
    names = " ".join(filter(None, ["label" if position < grid.n_label_columns else "", tone]))
    return f' class="{names}"' if names else ""


def _html_picture(path: Path, caption: str) -> str:
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    text = _inline(caption)
    return (
        f'<figure><img alt="{html.escape(caption)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{text}</figcaption></figure>"
    )


def _inline(text: str) -> str:
    """Escape a text, and turn addresses into links and spans in back-ticks into code."""
    escaped = html.escape(text)
    linked = re.sub(r"(https?://[^\s<>]+[^\s<>.,;)])", r'<a href="\1">\1</a>', escaped)
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", linked)
