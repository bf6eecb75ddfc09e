"""From a document to one HTML page.

A template of Jinja2 makes the same page, to the byte, but has 61 lines for the 50 that it replaces
here and takes three times as long (``benchmarks/pages.py``): a page is one loop over few blocks.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator, Sequence
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
from mklbench.report.document.style import PAGE_STYLE

HTML_EMPHASIS = {"": "", "bold": "strong", "italic": "em"}


def to_html(document: Document) -> str:
    """Render a document as one self-contained page; pictures are embedded."""
    title = next((block.text for block in document if isinstance(block, Heading)), "mklbench")
    body = "\n".join(html_block(block) for block in document)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{PAGE_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def html_block(block: Block) -> str:
    """Render one block."""
    match block:
        case Heading(level, text):
            return f"<h{level}>{inline(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{inline(text)}</p>"
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
        yield f"<dt>{inline(term)}</dt>"
        for line in lines:
            yield f"<dd>{inline(line)}</dd>"


def _html_grid(grid: Grid) -> str:
    head = "".join(
        f"<th{_html_class(grid, i, '')}>{inline(text)}</th>" for i, text in enumerate(grid.headings)
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
    text, tag = inline(entry.text), HTML_EMPHASIS[entry.emphasis]
    return f"<{tag}>{text}</{tag}>" if tag else text


def _html_class(grid: Grid, position: int, tone: str) -> str:
    names = " ".join(filter(None, ["label" if position < grid.n_label_columns else "", tone]))
    return f' class="{names}"' if names else ""


def _html_picture(path: Path, caption: str) -> str:
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    text = inline(caption)
    return (
        f'<figure><img alt="{html.escape(caption)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{text}</figcaption></figure>"
    )


def inline(text: str) -> str:
    """Escape a text, and turn addresses into links and spans in back-ticks into code."""
    escaped = html.escape(text)
    linked = re.sub(r"(https?://[^\s<>]+[^\s<>.,;)])", r'<a href="\1">\1</a>', escaped)
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", linked)
