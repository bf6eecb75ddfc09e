"""The pages of the papers: their tables, claims, figures, ledgers, and how to run them again."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from itertools import takewhile
from pathlib import Path

from PIL import Image

from mklbench import resources
from mklbench.report.analysis.agreement import (
    JudgedNumber,
    judged_numbers,
    n_matching,
    n_under_the_first,
)
from mklbench.report.analysis.assemble import Report
from mklbench.report.claims import Judged, judge_claims
from mklbench.report.document import Grid as DocumentGrid
from mklbench.report.document import Part, to_fragment, to_inline, to_markdown
from mklbench.report.figures.draw import RESOLUTION
from mklbench.report.layout.evidence import EVIDENCE
from mklbench.report.layout.findings import findings
from mklbench.report.layout.page import BEYOND, lay_out
from mklbench.report.site.collected import Collected
from mklbench.report.site.content import number_content
from mklbench.report.site.grid import KINDS, Grid, grid_of
from mklbench.report.site.runs import Runs, run_command
from mklbench.report.table.paper_table import LedgerEntry, PaperTable

# Sections of `layout` in place of which the page has a table or a list of its own; what is said
# below the grids stays.
REPLACED = (
    "Beside the paper", "Measured", "Ledger", "Figure", "Figures", "Claims", BEYOND.lstrip("# ")
)  # fmt: skip
# Those of the others that are not folded away.
OPEN = ("Ratios", "Ranks", "Comparisons", "Not done")


@dataclass(frozen=True)
class Section:
    """A part of a table's page, as HTML."""

    title: str
    html: str
    is_open: bool


@dataclass(frozen=True)
class Picture:
    """A figure of a table: an address with all of it in it, or none, and what it shows.

    Its `width` and `height` in pixels keep its place free until it is drawn.
    """

    name: str
    title: str
    address: str
    width: int = 0
    height: int = 0


@dataclass(frozen=True)
class Unfinished:
    """A cell that is not done, and the command that would run it."""

    where: str
    status: str
    why: str
    command: str


@dataclass(frozen=True)
class TablePage:
    """All that is shown of one table; `offset` is where its numbers begin among all of the page."""

    table: PaperTable
    lead: Sequence[str]
    grid: Grid
    notes: Sequence[str]
    offset: int
    report: Report
    claims: Sequence[Judged]
    pictures: Sequence[Picture]
    sections: Sequence[Section]
    ledger: Sequence[tuple[LedgerEntry, str]]
    findings: Sequence[str]
    unfinished: Sequence[Unfinished]

    @property
    def name(self) -> str:
        """Its name, which is that of its part of the page as well."""
        return self.table.name


@dataclass
class PaperPage:
    """The tables of one paper."""

    slug: str
    label: str
    citation: str
    url: str
    tables: list[TablePage] = field(default_factory=list)

    @cached_property
    def judged(self) -> list[JudgedNumber]:
        """Its published numbers that were judged, each once; asked when all tables are there."""
        return judged_numbers(page.report for page in self.tables)

    @property
    def counts(self) -> Counter[str]:
        """How many of them are of each kind, under the protocol as printed."""
        return Counter(KINDS[one.as_printed] for one in self.judged if one.as_printed is not None)

    @property
    def under_the_first(self) -> str:
        """What is said of the first protocol, where another one is the paper's as printed."""
        table = self.tables[0].table
        if table.printed_protocol == table.protocols[0]:
            return ""
        matching, near = n_under_the_first(self.judged)
        label = table.protocols[0].label
        return f", {matching} under “{label}” ({near} match or are close)"

    @property
    def n_matching(self) -> int:
        """How many match under some protocol."""
        return n_matching(self.judged)

    @property
    def claims(self) -> list[Judged]:
        """The claims of all its tables."""
        return [claim for page in self.tables for claim in page.claims]


def paper_pages(
    collected: Sequence[Collected],
    runs: Runs,
    numbers: list[dict[str, object]],
    figures: Mapping[str, Mapping[str, Path]],
) -> list[PaperPage]:
    """Arrange the tables by paper, those with the most judged numbers first.

    Parameters
    ----------
    collected : sequence of Collected
        The tables.
    runs : Runs
        Where their runs are added.
    numbers : list of dict
        Where what is told of their numbers is added.
    figures : mapping of str to mapping of str to Path
        By the name of the table, its figures as files by their names.
    """
    pages: dict[str, PaperPage] = {}
    for one in collected:
        table = one.table
        page = pages.setdefault(table.url or "", _paper(table))
        evidence = recorded_evidence(table.name) if one.recorded else None
        pictures = figures.get(table.name, {})
        page.tables.append(_table_page(one, runs, numbers, pictures, evidence))
    for page in pages.values():
        page.tables.sort(key=_position_in_paper)
    return sorted(pages.values(), key=lambda page: (not page.url, -len(page.judged), page.label))


def _position_in_paper(page: TablePage) -> tuple[bool, str, int, str]:
    """Sort tables: those that the paper numbers first, then those with the most of its numbers."""
    number = re.search(r", Table (\d+)", page.table.title)
    return (
        number is None,
        number[1] if number else "",
        -len(page.table.published),
        page.name,
    )


def _paper(table: PaperTable) -> PaperPage:
    """Return the empty page of the paper of a table; those of no paper share one."""
    if not table.url:
        return PaperPage("own", "Beyond the papers", table.citation, "")
    found = re.search(r"(?:Beyond )?(.+? \d{4})", table.title)
    label = found[1].removeprefix("Beyond ") if found else table.title
    citation = re.sub(r"^Algorithm \d+ of ", "", table.citation)
    return PaperPage(table.name.partition("_")[0], label, citation, table.url)


def _table_page(
    one: Collected,
    runs: Runs,
    numbers: list[dict[str, object]],
    figures: Mapping[str, Path],
    evidence: str | None,
) -> TablePage:
    report = one.shown
    table, grid, offset = report.table, grid_of(report), len(numbers)
    for number in grid.numbers:
        slot, found = report.slots[number.slot.place]
        numbers.append(
            number_content(report, number, runs.number(slot, found, own=one.recorded is None))
        )
    lead, sections = _sections(report, draws=evidence is None)
    return TablePage(
        table=table,
        lead=lead,
        grid=grid,
        notes=[
            to_fragment(part)
            for title, parts in sections
            if title in ("Beside the paper", "Measured")
            for part in parts
            if isinstance(part, str) and not part.startswith("#")
        ],
        offset=offset,
        report=report,
        claims=judge_claims(report),
        pictures=[
            _picture(figure.name, figure.title, figures.get(figure.name))
            for figure in table.figures
        ],
        sections=[
            Section(title, _html(parts) or evidence or "", title in OPEN)
            for title, parts in sections
            if title not in REPLACED
        ],
        ledger=[(entry, _scope(table, entry)) for entry in table.ledger],
        findings=[to_inline(text) for text in findings(report)],
        unfinished=list(_unfinished(report)),
    )


def _sections(report: Report, draws: bool) -> tuple[list[str], list[tuple[str, list[Part]]]]:
    """Return the parts of `layout`: what is said of the whole, and the others by their headings."""
    lead: list[Part] = []
    sections: list[tuple[str, list[Part]]] = []
    for part in lay_out(report, draws=draws)[2:]:
        if isinstance(part, str) and part.startswith("## "):
            sections.append((part.removeprefix("## "), []))
        elif sections:
            sections[-1][1].append(part)
        else:
            lead.append(part)
    for title, parts in sections:
        if title == BEYOND.lstrip("# "):
            lead += takewhile(lambda part: not _is_table(part), parts)
    return [to_fragment(str(part)) for part in lead], sections


def _is_table(part: Part) -> bool:
    return isinstance(part, DocumentGrid) or part.startswith("#")


def _html(parts: Sequence[Part]) -> str:
    """Render the parts of a section, whose headings stand two levels lower on this page."""
    if not parts:
        return ""
    lower = [f"##{p}" if isinstance(p, str) and p.startswith("#") else p for p in parts]
    return to_fragment(to_markdown(lower))


def recorded_evidence(name: str) -> str | None:
    """Return the section `EVIDENCE` of a recorded table, whose draws take seconds; None without."""
    path = resources.recorded_results() / "tables" / f"{name}.md"
    if not path.is_file():
        return None
    found = re.search(f"\n## {EVIDENCE}\n(.*?)\n## ", path.read_text("utf-8"), re.DOTALL)
    return None if found is None else to_fragment(found[1])


def _picture(name: str, title: str, path: Path | None) -> Picture:
    if path is None:
        return Picture(name, title, "")
    with Image.open(path) as image:  # in 64 colours it takes a quarter of the space
        width, height = (round(dots * 96 / RESOLUTION) for dots in image.size)
        few = image.convert("RGB").quantize(64, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.save(stream := BytesIO(), "png")
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    return Picture(name, title, f"data:image/png;base64,{data}", width, height)


def _scope(table: PaperTable, entry: LedgerEntry) -> str:
    """Name the numbers that an entry of the ledger is limited to; empty for the whole table."""
    labels = {
        "row": {row.name: row.label for row in table.rows},
        "column": {column.name: column.label for column in table.columns},
        "protocol": {protocol.name: protocol.label for protocol in table.protocols},
    }
    parts = [
        ", ".join(labels.get(what, {}).get(name, name) for name in names)
        for what, names in entry.scope.items()
        if names is not None
    ]
    return "; ".join(parts)


def _unfinished(report: Report) -> list[Unfinished]:
    several = len(report.table.protocols) > 1
    found = [
        Unfinished(
            " · ".join(
                [slot.row.label, slot.column.label, *([slot.protocol.label] if several else [])]
            ),
            records.status,
            records.message or f"{len(records.done)} of {records.n_splits} splits are done",
            run_command(slot),
        )
        for slot, records in report.unfinished
    ]
    absent = [row for row in report.table.rows if not row.at_hand]
    return found + [
        Unfinished(
            row.label, "not at hand", "its data are not at hand; published numbers alone", ""
        )
        for row in absent
    ]
