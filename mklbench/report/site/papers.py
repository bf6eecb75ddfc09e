"""The pages of the papers: their tables, claims, figures, ledgers, and how to run them again."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from itertools import takewhile
from pathlib import Path
from typing import Any

from PIL import Image

from mklbench.report.analysis.agreement import JudgedNumber, judged_numbers
from mklbench.report.analysis.assemble import Number, Report
from mklbench.report.claims import judge_claims
from mklbench.report.document import Part, is_table, to_fragment, to_inline, to_markdown
from mklbench.report.figures.draw import RESOLUTION
from mklbench.report.layout.entries import format_measured, format_sample, mark
from mklbench.report.layout.findings import findings
from mklbench.report.layout.page import BEYOND, lay_out
from mklbench.report.layout.tables import mirrored
from mklbench.report.site.collected import Collected
from mklbench.report.site.content import Runs, number_content
from mklbench.report.table.metrics import METRICS, Metric
from mklbench.report.table.paper_table import PaperTable
from mklbench.report.table.verdict import JUDGING, Standing

# The classes of the page, by verdict.
KINDS = {verdict: verdict.name.lower() for verdict in JUDGING}
UNJUDGED, UNFINISHED = "unjudged", "unfinished"
_EMPHASES: Mapping[Standing | None, str] = {Standing.BETTER: "better", Standing.WORSE: "worse"}

# Sections of `layout` that stand on the page otherwise: as a table that can be sorted, as a list,
# or in what is said below the table.
REPLACED = (
    "Beside the paper", "Measured", "Ledger", "Figure", "Figures", "Claims", BEYOND.lstrip("# ")
)  # fmt: skip
# Those of the others that are not folded away.
OPEN = ("Ranks", "Comparisons", "Not done")


@dataclass
class PaperPage:
    """The tables of one paper, each as what the template shows of it."""

    slug: str
    label: str
    citation: str
    url: str
    tables: list[dict[str, Any]] = field(default_factory=list)

    @cached_property
    def judged(self) -> list[JudgedNumber]:
        """Its published numbers that were judged, each once; asked when all tables are there."""
        return judged_numbers(page["report"] for page in self.tables)

    @property
    def counts(self) -> Counter[str]:
        """How many of them are of each kind, under the protocol as printed."""
        return Counter(KINDS[one.as_printed] for one in self.judged if one.as_printed is not None)


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
        page = pages.setdefault(one.table.url, _paper(one.table))
        page.tables.append(_table(one, runs, numbers, figures.get(one.table.name, {})))
    for page in pages.values():
        page.tables.sort(key=lambda each: _position_in_paper(each["table"]))
    return sorted(pages.values(), key=lambda page: (not page.url, -len(page.judged), page.label))


def _position_in_paper(table: PaperTable) -> tuple[bool, str, int, str]:
    """Sort tables: those that the paper numbers first, then those with the most of its numbers."""
    number = re.search(r", Table (\d+)", table.title)
    return number is None, number[1] if number else "", -len(table.published), table.name


def _paper(table: PaperTable) -> PaperPage:
    """Return the empty page of the paper of a table; those of no paper share one."""
    if not table.url:
        return PaperPage("own", "Beyond the papers", table.citation, "")
    found = re.search(r"(?:Beyond )?(.+? \d{4})", table.title)
    label = found[1].removeprefix("Beyond ") if found else table.title
    citation = re.sub(r"^Algorithm \d+ of ", "", table.citation)
    return PaperPage(table.name.partition("_")[0], label, citation, table.url)


def _table(
    one: Collected,
    runs: Runs,
    numbers: list[dict[str, object]],
    figures: Mapping[str, Path],
) -> dict[str, Any]:
    """Return what the template shows of a table; what is told of its numbers joins `numbers`."""

    def told(number: Number) -> int:
        slot, found = report.slots[number.slot.place]
        run = runs.number(slot, found, own=one.recorded is None)
        numbers.append(number_content(report, number, run))
        return len(numbers) - 1

    report = one.shown
    table, heads = report.table, _heads(report)
    groups = [(row, _lines(report, row.name, heads, told)) for row in table.rows]
    summary, *sections = _sections(report)
    by_title = dict(sections)
    beyond = by_title.get(BEYOND.lstrip("# "), [])
    notes = [*by_title.get("Beside the paper", []), *by_title.get("Measured", [])]
    return {
        "table": table,
        "report": report,
        "heads": heads,
        "groups": [(row, lines) for row, lines in groups if lines],
        "notes": [to_fragment(str(part)) for part in notes if not is_table(part)],
        "lead": _html(summary[1]),
        "how_to_read": _html(list(takewhile(lambda part: not is_table(part), beyond))),
        "findings": [to_inline(text) for text in findings(report)],
        "claims": judge_claims(report),
        "pictures": [
            {"name": figure.name, "title": figure.title, **_picture(figures.get(figure.name))}
            for figure in table.figures
        ],
        "sections": [
            (title, _html(parts), title in OPEN)
            for title, parts in sections
            if title not in REPLACED
        ],
    }


Told = Callable[[Number], int]


@dataclass(frozen=True)
class Head:
    """The head of one column: a method and a metric; whether the paper prints it."""

    name: str
    label: str
    metric: Metric
    is_published: bool


@dataclass(frozen=True)
class Entry:
    """What stands in one place; `kind` is how it is coloured, `value` what it is sorted by.

    `number` is the place of its number among those of the page; None of published ones.
    """

    text: str = ""
    kind: str = ""
    emphasis: str = ""
    value: float | None = None
    number: int | None = None


@dataclass(frozen=True)
class Line:
    """One line of a data set: what was published, or measured under one protocol.

    `is_short` where it is among the few that are shown at first.
    """

    name: str
    label: str
    entries: Sequence[Entry]
    is_short: bool


def _heads(report: Report) -> list[Head]:
    of_paper = {(column, metric) for _, column, metric in report.table.published}
    shown = of_paper | {(column, metric) for _, column, _, metric in report.numbers}
    return [
        Head(column.name, column.label, METRICS[name], (column.name, name) in of_paper)
        for column in report.table.columns
        for name in column.metrics
        if (column.name, name) in shown
    ]


def _lines(report: Report, row: str, heads: Sequence[Head], told: Told) -> list[Line]:
    """Return the lines of a data set; `told` gives the place of what is told of a number."""
    table, shown_first, lines = report.table, mirrored(report), []
    if any(place[0] == row for place in table.published):
        published = [_published(report, (row, head.name, head.metric.name)) for head in heads]
        lines.append(Line("published", "published", published, is_short=True))
    for protocol in table.protocols:
        places = [(row, head.name, protocol.name, head.metric.name) for head in heads]
        numbers = [report.numbers.get(place) for place in places]
        if any(numbers):
            entries = [_measured(report, one, told) if one else Entry() for one in numbers]
            lines.append(Line(protocol.name, protocol.label, entries, protocol in shown_first))
    return lines


def _published(report: Report, place: tuple[str, str, str]) -> Entry:
    found = report.table.published.get(place)
    if found is None:
        return Entry()
    emphasis = _EMPHASES.get(report.published_standings.get(place), "")
    text = format_sample(METRICS[place[-1]], found)
    return Entry(text, "", "better" if found.is_bold else emphasis, found.mean)


def _measured(report: Report, number: Number, told: Told) -> Entry:
    place = (*number.slot.place, number.metric.name)
    return Entry(
        format_measured(report, place).strip("*").removesuffix(mark(number.verdict)).rstrip(),
        KINDS.get(number.verdict, UNJUDGED) if number.verdict else UNFINISHED,
        _EMPHASES.get(report.standings.get(place), ""),
        None if number.measured is None else number.measured.mean,
        told(number),
    )


def _sections(report: Report) -> Iterator[tuple[str, list[Part]]]:
    """Yield the parts of `layout` by their headings; first what stands before any."""
    title, parts = "", list[Part]()
    for part in lay_out(report)[2:]:
        if isinstance(part, str) and part.startswith("## "):
            yield title, parts
            title, parts = part.removeprefix("## "), []
        else:
            parts.append(part)
    yield title, parts


def _html(parts: Sequence[Part]) -> str:
    """Render the parts of a section, whose headings stand two levels lower on this page."""
    lower = [f"##{p}" if isinstance(p, str) and p.startswith("#") else p for p in parts]
    return to_fragment(to_markdown(lower)) if parts else ""


def _picture(path: Path | None) -> dict[str, Any]:
    """Return the address of a picture, with all of it in it, and its size in pixels."""
    if path is None:
        return {"address": ""}
    with Image.open(path) as image:  # in 64 colours it takes a quarter of the space
        width, height = (round(dots * 96 / RESOLUTION) for dots in image.size)
        few = image.convert("RGB").quantize(64, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.convert("RGB").save(stream := BytesIO(), "webp", lossless=True)
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    return {"address": f"data:image/webp;base64,{data}", "width": width, "height": height}
