"""What the records say of the claims in a paper's text: a measured number beside each."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Report, measured_difference
from mklbench.report.analysis.baseline import N_STANDARD_ERRORS
from mklbench.report.analysis.growth import curve
from mklbench.report.document.blocks import Block, Entry, Grid, Heading, Paragraph
from mklbench.report.layout.entries import NOTHING
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Claim


@dataclass(frozen=True)
class Judged:
    """A claim and what was measured; `measured` and `holds` are None where no cell is done.

    `details` say where the number was measured, and how usual it is.
    """

    claim: Claim
    quantity: str
    measured: float | None
    details: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the measured number is on the claimed side of the bound."""
        if self.measured is None:
            return None
        if self.claim.at_most:
            return self.measured <= self.claim.bound
        return self.measured >= self.claim.bound


def judge_claims(report: Report) -> list[Judged]:
    """Measure what each claim of the table is about, in the finished cells of `report`."""
    judges: dict[str, Callable[[Report, Claim], Judged]] = {
        "growth": _growth,
        "ratio": _ratio,
        "every_ratio": _ratio,
        "largest": _largest,
        "difference": _difference,
        "mean_difference": _difference,
    }
    return [judges[claim.kind](report, claim) for claim in report.table.claims]


def claim_blocks(report: Report) -> Iterator[Block]:
    """Yield the claims with what was measured and whether they hold."""
    if not report.table.claims:
        return
    lines = [_line(judged) for judged in judge_claims(report)]
    yield Heading(2, "Claims")
    yield Paragraph(
        "What the text of the paper says, beside what the records behind this page say: of means "
        "over the splits; a largest value is that of any split."
    )
    headings = ["Claim", "Quantity", "Where", "claimed", "measured", "verdict"]
    yield Grid(headings, lines, n_label_columns=3)


def _line(judged: Judged) -> list[Entry]:
    claim = judged.claim
    side = "at most" if claim.at_most else "at least"
    verdicts = {None: ("not done", "unfinished"), True: ("holds", "match")}
    verdict, tone = verdicts.get(judged.holds, ("does not hold", "differs"))
    return [
        Entry(claim.text),
        Entry(judged.quantity),
        Entry(judged.details),
        Entry(f"{side} {claim.bound:g}", "published"),
        Entry(NOTHING if judged.measured is None else f"{judged.measured:.3g}"),
        Entry(verdict, tone),
    ]


def _growth(report: Report, claim: Claim) -> Judged:
    """The exponent along the sweep, of the row where it is worst for the claim."""
    table, (column,) = report.table, claim.columns
    assert table.sweep is not None  # checked when the table is read
    exponents = {
        row.label: curve(report, table.sweep, row, column, claim.metric).exponent
        for row in table.rows
    }
    known = {label: p for label, p in exponents.items() if p is not None}
    axis = table.sweep.label if table.sweep.axis is None else METRICS[table.sweep.axis].label
    quantity = f"exponent p of {METRICS[claim.metric].label} ~ ({axis})^p"
    if not known:
        return Judged(claim, quantity, None)
    worst = max(known.values()) if claim.at_most else min(known.values())
    details = ", ".join(f"{label} {p:.2f}" for label, p in known.items())
    return Judged(claim, quantity, worst, details)


def _ratio(report: Report, claim: Claim) -> Judged:
    """The largest quotient of two means, as "up to so many times" means, or the smallest."""
    table, metric = report.table, METRICS[claim.metric]
    over, under = claim.columns
    quotients = {}
    for row in table.rows:
        for protocol in table.protocols:
            dividend, divisor = (
                report.finished_mean((row.name, column, protocol.name, metric.name))
                for column in (over, under)
            )
            if dividend is not None and divisor is not None and divisor > 0:
                quotients[f"{row.label}, {protocol.label}"] = dividend / divisor
    extreme, name = (max, "largest") if claim.kind == "ratio" else (min, "smallest")
    quantity = f"{name} {metric.label} of {_label(report, over)} / {_label(report, under)}"
    if not quotients:
        return Judged(claim, quantity, None)
    place = extreme(quotients, key=lambda name: quotients[name])
    usual = statistics.median(quotients.values())
    details = f"{place}; median of {len(quotients)} cells {usual:.2g}"
    return Judged(claim, quantity, quotients[place], details)


def _largest(report: Report, claim: Claim) -> Judged:
    """The largest value of any split."""
    metric = METRICS[claim.metric]
    values = {
        f"{slot.row.label}, {slot.column.label}": found.values(metric)
        for slot, found in report.slots.values()
        if slot.column.name in claim.columns and found.status == DONE and found.values(metric)
    }
    quantity = f"largest {metric.heading}"
    if not values:
        return Judged(claim, quantity, None)
    place = max(values, key=lambda name: max(values[name]))
    every = [value for of_cell in values.values() for value in of_cell]
    details = f"{place}; median of {len(every)} splits {statistics.median(every):.3g}"
    return Judged(claim, quantity, max(values[place]), details)


def _difference(report: Report, claim: Claim) -> Judged:
    """The difference of two means, split by split, on the row where it is worst, or its mean."""
    table, metric = report.table, METRICS[claim.metric]
    minuend, subtrahend = claim.columns
    differences = {}
    for row in table.rows:
        for protocol in table.protocols:
            first, second = ((row.name, c, protocol.name) for c in claim.columns)
            difference = measured_difference(report.slots, first, second, metric)
            if difference is not None:
                differences[f"{row.label}, {protocol.label}"] = difference
    extreme, name = (max, "largest") if claim.at_most else (min, "smallest")
    is_mean = claim.kind == "mean_difference"
    quantity = (
        f"{'mean' if is_mean else name} {metric.label} of "
        f"{_label(report, minuend)} minus {_label(report, subtrahend)}"
    )
    if not differences:
        return Judged(claim, quantity, None)
    where = place = extreme(differences, key=lambda place: differences[place].value)
    measured = differences[place].value
    if is_mean:
        where = f"{name} {measured:.2g} on {place}"
        measured = statistics.fmean(one.value for one in differences.values())
    clear = sum(
        one.standard_error is not None and one.value > N_STANDARD_ERRORS * one.standard_error
        for one in differences.values()
    )
    details = (
        f"{where}; above {N_STANDARD_ERRORS:g} standard errors in {clear} of {len(differences)}"
    )
    # Without the last digits, which would turn a tie into a difference.
    return Judged(claim, quantity, round(measured, 9) + 0.0, details)


def _label(report: Report, name: str) -> str:
    return next(column.label for column in report.table.columns if column.name == name)
