"""What follows the tables: cells that are not done, how fits ended, the ledger, the counts."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

from mklbench.report.analysis.assemble import Report
from mklbench.report.document.blocks import (
    Block,
    CodeBlock,
    Definitions,
    Entry,
    Grid,
    Heading,
    Paragraph,
)
from mklbench.report.layout.entries import mark, setting, tone
from mklbench.report.layout.measured_on import provenance_items
from mklbench.report.layout.stopping import ending_blocks
from mklbench.report.table.paper_table import PaperTable, Slot
from mklbench.report.table.verdict import Verdict

PLACE_HEADINGS = ("Data", "Method", "Protocol")

VERDICT_RULES = {
    Verdict.MATCH: "within two standard errors of the difference of the two means",
    Verdict.CLOSE: "not a match, but within one published standard deviation",
    Verdict.HIGHER: "further away, measured above published",
    Verdict.LOWER: "further away, measured below published",
    Verdict.NO_SPREAD: "published without a spread, so there is nothing to judge by",
    Verdict.RATIO_ONLY: "seconds on another machine: only measured / published is shown",
    Verdict.NOT_PUBLISHED: "measured, but not in the paper",
}


def appendix(report: Report) -> Iterator[Block]:
    """Yield the blocks that stand below the tables and figures."""
    yield from _chosen_values(report)
    yield from _unfinished(report)
    yield from ending_blocks(report)
    yield from _making(report)
    yield from _ledger(report)
    if report.table.published:
        yield from _verdicts(report)


def _chosen_values(report: Report) -> Iterator[Block]:
    """Yield the hyperparameters of the cells that searched for them."""
    lines = []
    for slot, found in report.slots.values():
        counts = Counter(tuple(sorted((record.params or {}).items())) for record in found.done)
        if any(counts):
            chosen = (f"{setting(params)} ({counts[params]})" for params in sorted(counts))
            lines.append([*_place(slot), Entry("; ".join(chosen)), Entry(found.border)])
    if lines:
        yield Heading(2, "Chosen on the training parts")
        headings = [*PLACE_HEADINGS, "chosen (number of splits)", "of these at the border"]
        yield Grid(headings, lines, n_label_columns=5)


def _unfinished(report: Report) -> Iterator[Block]:
    if not report.unfinished:
        return
    lines = [
        [
            *_place(slot),
            Entry(found.status, "unfinished"),
            Entry(found.message),
            Entry(f"{len(found.done)}/{found.n_splits}"),
        ]
        for slot, found in report.unfinished
    ]
    yield Heading(2, "Not done")
    yield Paragraph("These cells count nowhere above as done, and none of their numbers is judged.")
    yield Grid([*PLACE_HEADINGS, "state", "why", "splits"], lines, n_label_columns=5)


def _place(slot: Slot) -> list[Entry]:
    return [Entry(slot.row.label), Entry(slot.column.label), Entry(slot.protocol.label)]


def _making(report: Report) -> Iterator[Block]:
    yield Heading(2, "How it was made")
    command = f"mklbench reproduce {report.table.name}"
    if report.table.config_dir is not None:
        command += f" --config-dir {shlex.quote(report.table.config_dir)}"
    yield CodeBlock(command)
    records = [record for _, found in report.slots.values() for record in found.done]
    items = provenance_items(records)
    if items:
        yield Definitions(items)


def _ledger(report: Report) -> Iterator[Block]:
    if not report.table.ledger:
        return
    yield Heading(2, "Ledger")
    yield Paragraph("Where the paper is silent or contradicts itself, what was chosen, and why.")
    items: list[tuple[str, Sequence[str]]] = []
    for entry in report.table.ledger:
        lines = (f"Paper: {entry.paper}", f"Chosen: {entry.chosen}", f"Why: {entry.why}")
        items.append((entry.point, lines))
    yield Definitions(items)


def _verdicts(report: Report) -> Iterator[Block]:
    """Count the verdicts of each protocol and of the whole table."""
    protocols = report.table.protocols
    counts = Counter(
        (number.slot.protocol.name, number.verdict) for number in report.numbers.values()
    )
    rules: list[tuple[Verdict | None, str]] = [*VERDICT_RULES.items(), (None, "not done, or void")]
    lines = []
    for verdict, rule in rules:
        name = "no verdict" if verdict is None else f"{verdict} {mark(verdict)}".strip()
        of_protocols = [counts[protocol.name, verdict] for protocol in protocols]
        numbers = [Entry(str(count)) for count in (*of_protocols, sum(of_protocols))]
        lines.append([Entry(name, tone(verdict)), Entry(rule), *numbers])
    headings = ["Verdict", "Meaning", *(protocol.label for protocol in protocols), "all"]
    yield Heading(2, "Verdicts")
    yield Grid(headings, lines, n_label_columns=2)
    yield Paragraph(
        f"Each published mean is taken as one over {_published_splits(report.table)}. The "
        "splits of one data set overlap, so the standard errors are rather too small: a match is "
        "a strict statement. No number is adjusted towards the paper's."
    )


def _published_splits(table: PaperTable) -> str:
    """Say how many splits stand behind the published means, and where it is another number."""
    others: dict[int, list[str]] = {}
    for row in table.rows:
        n_splits = table.published_n_splits_of(row)
        if n_splits != table.published_n_splits:
            others.setdefault(n_splits, []).append(row.label)
    exceptions = "; ".join(f"{n} on {', '.join(labels)}" for n, labels in others.items())
    text = f"{table.published_n_splits} splits"
    return f"{text} ({exceptions})" if exceptions else text
