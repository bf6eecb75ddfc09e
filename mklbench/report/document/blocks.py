"""A report as a list of blocks, so that Markdown and HTML say the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title."""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; `text` may hold spans of code in back-ticks."""

    text: str


@dataclass(frozen=True)
class CodeBlock:
    """A command to type."""

    text: str


@dataclass(frozen=True)
class Definitions:
    """A list of terms, each with its lines of text."""

    items: Sequence[tuple[str, Sequence[str]]]


@dataclass(frozen=True)
class Entry:
    """What stands in one place of a grid.

    `tone` is a style of the HTML page, `emphasis` is "bold" or "italic"; both may be empty.
    """

    text: str
    tone: str = ""
    emphasis: str = ""


@dataclass(frozen=True)
class Grid:
    """A table. The first `n_label_columns` columns are text, the others are numbers."""

    headings: Sequence[str]
    rows: Sequence[Sequence[Entry]]
    n_label_columns: int = 1


@dataclass(frozen=True)
class Picture:
    """A figure on disk."""

    path: Path
    caption: str


Block = Heading | Paragraph | CodeBlock | Definitions | Grid | Picture
Document = Sequence[Block]
