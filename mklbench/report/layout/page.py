"""The page of a table: the paper's table first, then all that was measured, and how it was made."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mklbench.experiments.record import Record
from mklbench.report.analysis.agreement import (
    judged_numbers,
    n_as_printed,
    n_matching,
    n_under_the_first,
)
from mklbench.report.analysis.assemble import Report
from mklbench.report.claims import Judged, judge_claims
from mklbench.report.document import NOTHING, Document, Grid, Part, definitions
from mklbench.report.layout.entries import ending_summary, setting
from mklbench.report.layout.evidence import evidence_parts
from mklbench.report.layout.ranking import comparison_parts, ranking_parts
from mklbench.report.layout.tables import every_protocol, measured_tables, mirror
from mklbench.report.table.paper_table import PaperTable
from mklbench.report.table.verdict import JUDGING

# The heading behind which a page goes beyond its first table; `first_part` ends there.
BEYOND = "## All that was measured"


def lay_out(
    report: Report,
    figures: Mapping[str, Path] | None = None,
    directory: Path | None = None,
    *,
    whole: bool = True,
) -> Document:
    """Arrange a report as a page; of a part of a table its tables alone.

    Parameters
    ----------
    report : Report
        The assembled table.
    figures : mapping of str to Path or None, default=None
        Picture files by the name of the figure; those of the table are shown.
    directory : Path or None, default=None
        Where the page will stand; pictures are linked relative to it.
    whole : bool, default=True
        Whether to go beyond the paper's table and its claims.
    """
    if report.table.is_part:
        return lay_out_tables(report)
    table = report.table
    page: list[Part] = [f"# {table.title}", f"{table.citation} {table.url}".strip()]
    page.append(_summary(report))
    tables, rest = _tables(report)
    page += [*tables, *_claims(report)]
    if not whole:
        return page
    page += [BEYOND, *filter(None, [ending_summary(report)])]
    page += [*table.notes, *rest]
    page += evidence_parts(report)
    page += comparison_parts(report)
    page += _pictures(report, figures or {}, directory)
    page += [*_chosen_values(report), *_unfinished(report), *_making(report), *_ledger(report)]
    if table.published:
        page += [
            "## Verdicts",
            f"Each published mean is taken as one over {_published_splits(report.table)}. The "
            "splits of one data set overlap, so the standard errors are rather too small: a match "
            "is a strict statement. No number is adjusted towards the paper's.",
        ]
    return page


def lay_out_tables(report: Report) -> Document:
    """Arrange what a paper prints of a report: its tables alone."""
    tables, rest = _tables(report)
    beyond = rest if report.table.is_part or not report.table.published else []
    return [f"# {report.table.title}", *tables, *beyond]


def first_part(markdown: str) -> str:
    """Return what a page in Markdown begins with: the paper's table, without what goes beyond."""
    return markdown.partition(f"\n{BEYOND}\n")[0].rstrip() + "\n"


def _tables(report: Report) -> tuple[list[Part], list[Part]]:
    """Return the tables that a page begins with, and those that go beyond them."""
    if report.table.published:
        first, rest = list(mirror(report)), list(every_protocol(report))
        grids = [[part for part in parts if isinstance(part, Grid)] for parts in (first, rest)]
        return first, ([] if grids[0] == grids[1] else rest)
    ranks = list(ranking_parts(report))
    tables, rest = measured_tables(report)
    counts = sorted({found.n_splits for _, found in report.slots.values()})
    n_splits = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    measured = [f"Mean ± standard deviation over {n_splits} splits.", *tables]
    if ranks:
        return ranks, ["## Measured", *measured, *rest]
    return ["## Measured", *measured], rest


def _summary(report: Report) -> str:
    n_runs, n_unfinished = len(report.slots), len(report.unfinished)
    runs = f"{n_runs - n_unfinished} of {n_runs} runs are done"
    if not report.table.published:
        return f"{runs}; there are no published numbers that could be judged."
    counts = report.verdict_counts
    judged = [verdict for verdict in JUDGING if counts[verdict]]
    total = sum(counts[verdict] for verdict in judged)
    if total == 0:
        return f"{runs}; no number can be judged, which takes a finished run and spreads of both."
    parts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in judged)
    if len(report.table.protocols) == 1:
        return f"{runs}; of {total} judged numbers: {parts}."
    numbers = judged_numbers([report])
    first, printed = report.table.protocols[0], report.table.printed_protocol
    how = "the first protocol, which is the paper's as printed"
    if first != printed:
        found, near = n_under_the_first(numbers)
        how = f'"{printed.label}", {found} under "{first.label}" ({near} match or are close)'
    return (
        f"{runs}; of {len(numbers)} published numbers that are judged {n_as_printed(numbers)} "
        f"match under {how}, and {n_matching(numbers)} under some protocol. Over all protocols: "
        f"{parts}."
    )


def _claims(report: Report) -> Iterator[Part]:
    """Yield the claims in the paper's text with what was measured and whether they hold."""
    if report.table.claims:
        yield "## Claims"
        yield (
            "What the text of the paper says, beside what the records behind this page say: of "
            "means over the splits; a largest value is that of any split."
        )
        yield definitions((one.claim.text, [_judged(one)]) for one in judge_claims(report))


def _judged(judged: Judged) -> str:
    verdicts = {
        None: "not done",
        True: "holds",
        False: "does not hold",
    }
    measured = NOTHING if judged.measured is None else f"{judged.measured:.3g}"
    text = f"{judged.quantity}: claimed {judged.claimed}; measured {measured}"
    details = f" ({judged.details})" if judged.details else ""
    return f"{text}{details}; {verdicts[judged.holds]}."


def _pictures(
    report: Report, figures: Mapping[str, Path], directory: Path | None
) -> Iterator[Part]:
    shown = [figure for figure in report.table.figures if figure.name in figures]
    if shown:
        yield "## Figures" if len(shown) > 1 else "## Figure"
    for figure in shown:
        path = figures[figure.name]
        target = os.path.relpath(path, directory) if directory else str(path)
        yield f"![{figure.title}]({Path(target).as_posix()})"


def _chosen_values(report: Report) -> Iterator[Part]:
    """Yield the hyperparameters of the runs that searched for them."""
    items = []
    for slot, found in report.slots.values():
        counts = Counter(tuple(sorted((record.params or {}).items())) for record in found.done)
        if any(counts):
            chosen = (f"{setting(params)} ({counts[params]})" for params in sorted(counts))
            text = "; ".join([*chosen, *([found.border] if found.border else [])])
            items.append((slot.label, [text]))
    if items:
        yield "## Chosen on the training parts"
        yield "With the number of splits; last, what of it is at the border of what was tried."
        yield from _borders(report)
        yield definitions(items)


def _borders(report: Report) -> Iterator[Part]:
    """Yield how often each method of a ranking chose at the border; older records do not say."""
    lines = []
    for column in report.table.columns if report.table.ranking else ():
        found = [of.done for slot, of in report.slots.values() if slot.column is column]
        said = [one.at_border for done in found for one in done if one.at_border is not None]
        counts = Counter(path.rpartition(".")[2] for paths in said for path in paths)
        shares = [f"{name} {100 * n / len(said):.0f} %" for name, n in sorted(counts.items())]
        if said:
            lines.append([column.label, str(len(said)), ", ".join(shares) or NOTHING])
    if lines:
        yield Grid(["Method", "splits", "at the border"], lines)


def _unfinished(report: Report) -> Iterator[Part]:
    if report.unfinished:
        yield "## Not done"
        yield "These runs count nowhere above as done, and none of their numbers is judged."
        yield definitions((slot.label, [found.state]) for slot, found in report.unfinished)


def _making(report: Report) -> Iterator[Part]:
    yield "## How it was made"
    command = f"mklbench reproduce {report.table.name}"
    if report.table.config_dir is not None:
        command += f" --config-dir {shlex.quote(report.table.config_dir)}"
    yield f"```\n{command}\n```"
    yield definitions(_provenance([r for _, found in report.slots.values() for r in found.done]))


def _provenance(records: Sequence[Record]) -> Iterator[tuple[str, list[str]]]:
    """Yield what made records, each with its distinct values, and the first and last date."""
    made = [record.provenance for record in records]
    for name in ("cpu", "blas", "git", "versions"):
        texts = (str(one[name]).strip("{}").replace("'", "") for one in made if one.get(name))
        yield name, ["; ".join(sorted(set(texts)))]
    dates = sorted(str(one["time"])[:10] for one in made if one.get("time"))
    yield "date", [" to ".join(sorted(set(dates[:1] + dates[-1:])))]


def _ledger(report: Report) -> Iterator[Part]:
    if report.table.ledger:
        yield "## Ledger"
        yield "Where the paper is silent or contradicts itself, what was chosen, and why."
        yield definitions(
            (
                entry.point,
                [f"Paper: {entry.paper}", f"Chosen: {entry.chosen}", f"Why: {entry.why}"],
            )
            for entry in report.table.ledger
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
