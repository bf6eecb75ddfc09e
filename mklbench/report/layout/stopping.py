"""How the fits behind a table ended: before their rule was met, or by another than the gap.

Both come from the records alone. A fit that met its rule has a certified gap of at most the
tolerance of its cell where the rule is the certificate; a larger one shows that it was another
rule, such as a small change of the objective.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mklbench.experiments.record import Record
from mklbench.report.analysis.assemble import Report, SlotRecords
from mklbench.report.document.blocks import Block, Definitions, Entry, Grid, Heading, Paragraph
from mklbench.report.layout.entries import NOTHING
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Column, Protocol, Row

# Of a solution in closed form, which has no tolerance, the gap is rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Ending:
    """How the finished fits of one cell ended.

    Attributes
    ----------
    n_fits : int
        How many there are.
    n_stopped : int
        How many of them ended before their rule was met.
    stopped_gap : float or None
        The largest gap of those, or None where there are none or a gap is not known.
    met_gap : float or None
        The same of those that met their rule.
    tolerance : float
        The gap up to which the rule may have been the certificate.
    """

    n_fits: int
    n_stopped: int
    stopped_gap: float | None
    met_gap: float | None
    tolerance: float

    @classmethod
    def of(cls, found: SlotRecords) -> Ending:
        """Read it from the records of a cell."""
        stopped = [record for record in found.done if record.converged is False]
        met = [record for record in found.done if record.converged is True]
        return cls(
            n_fits=len(found.done),
            n_stopped=len(stopped),
            stopped_gap=_largest_gap(stopped),
            met_gap=_largest_gap(met),
            tolerance=_tolerance(found.tolerances),
        )

    @property
    def by_another_rule(self) -> bool:
        """Whether a fit that met its rule has a gap that no rule on the gap would have left."""
        return self.met_gap is not None and self.met_gap > self.tolerance


def ending_summary(report: Report) -> str:
    """Say how many fits met their rule, and where it is not the gap; empty where none is done."""
    endings = [Ending.of(found) for _, found in report.slots.values()]
    n_fits, n_stopped = sum(e.n_fits for e in endings), sum(e.n_stopped for e in endings)
    if n_fits == 0:
        return ""
    largest = _largest([ending.stopped_gap for ending in endings if ending.n_stopped])
    gaps = "" if largest is None else f", at gaps of up to {_gap(largest)}"
    text = f"{n_stopped:,} of {n_fits:,} fits ended before their stopping rule was met{gaps}."
    if n_stopped == 0:
        text = f"All {n_fits:,} fits met their stopping rule."
    others = _columns_by_another_rule(report)
    if others:
        of_others = (found for slot, found in report.slots.values() if slot.column in others)
        met = max(Ending.of(found).met_gap or 0.0 for found in of_others)
        text += (
            f" {len(others)} of {len(report.table.columns)} methods "
            f"{'stops' if len(others) == 1 else 'stop'} by another rule than the duality gap; the "
            f"largest gap of a fit that met it is {_gap(met)}."
        )
    return text


def ending_blocks(report: Report) -> Iterator[Block]:
    """Yield by cell what ended before its rule, and the gaps of what ended by another one."""
    stopped = list(_stopped_lines(report))
    others = _columns_by_another_rule(report)
    if stopped:
        yield Heading(2, "Fits that ended before their rule")
        yield Paragraph(
            "An iteration limit or a lack of progress ended them; they count above as any other. "
            + _GAP_MEANING
        )
        yield Grid(["Data", "Method", "Protocol", "fits", "largest gap"], stopped, 3)
    if others:
        yield Heading(2, "Fits that stopped by another rule than the duality gap")
        yield Paragraph(
            "The largest gap of a single fit that met its rule. It may be far above the mean over "
            "the splits." + ("" if stopped else f" {_GAP_MEANING}")
        )
        yield _gap_grid(report, others)
        yield Paragraph("Their tolerances:")
        yield Definitions(_rules(report, others))


_GAP_MEANING = (
    "The gap is relative, and certified from what was returned: the duality gap where the problem "
    "is convex, the KKT residual where it is not, as in learning a product of kernels."
)


def _stopped_lines(report: Report) -> Iterator[list[Entry]]:
    for slot, found in report.slots.values():
        ending = Ending.of(found)
        if ending.n_stopped:
            yield [
                Entry(slot.row.label),
                Entry(slot.column.label),
                Entry(slot.protocol.label),
                Entry(f"{ending.n_stopped}/{ending.n_fits}"),
                Entry(_gap(ending.stopped_gap)),
            ]


def _columns_by_another_rule(report: Report) -> list[Column]:
    names = {
        slot.column.name
        for slot, found in report.slots.values()
        if Ending.of(found).by_another_rule
    }
    return [column for column in report.table.columns if column.name in names]


def _gap_grid(report: Report, columns: Sequence[Column]) -> Grid:
    """One line a data set and protocol, one column a method."""
    table = report.table
    lines = []
    for row in table.rows:
        for protocol in table.protocols:
            gaps = [_met_gap(report, row, column, protocol) for column in columns]
            if any(gaps):
                lines.append([Entry(row.label), Entry(protocol.label), *map(Entry, gaps)])
    return Grid(["Data", "Protocol", *(column.label for column in columns)], lines, 2)


def _met_gap(report: Report, row: Row, column: Column, protocol: Protocol) -> str:
    """Print the gap at a place; empty where the table has no such place."""
    there = report.slots.get((row.name, column.name, protocol.name))
    return "" if there is None else _gap(Ending.of(there[1]).met_gap)


def _rules(report: Report, columns: Sequence[Column]) -> list[tuple[str, Sequence[str]]]:
    """Print the tolerances of columns, those with the same together."""
    labels: dict[str, list[str]] = {}
    for column in columns:
        labels.setdefault(_rule(report, column), []).append(column.label)
    return [(rule, ("; ".join(alike),)) for rule, alike in labels.items()]


def _rule(report: Report, column: Column) -> str:
    """Print the tolerances of a column; where its cells differ, all values."""
    values: dict[str, dict[str, None]] = {}
    for slot, found in report.slots.values():
        if slot.column == column:
            for name, value in found.tolerances.items():
                values.setdefault(name, {})[f"{value:g}"] = None
    return ", ".join(f"{name} = {' or '.join(found)}" for name, found in values.items()) or "none"


def _tolerance(tolerances: Mapping[str, float]) -> float:
    """Return the tolerance on the gap: `tol`, or LIBSVM's where a method is one SVM."""
    return tolerances.get("tol", tolerances.get("svm_tol", _ROUNDING))


def _largest_gap(records: Sequence[Record]) -> float | None:
    return _largest([record.gap for record in records])


def _largest(gaps: Sequence[float | None]) -> float | None:
    known = [gap for gap in gaps if gap is not None]
    return max(known) if known and len(known) == len(gaps) else None


def _gap(value: float | None) -> str:
    return NOTHING if value is None else METRICS["gap"].format(value)
