"""The claims in a paper's text: their kinds, and what the records say of a claim.

May import `report.table` and `analysis`; it is imported by `layout` and `loading`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from statistics import fmean, median

from mklbench.errors import InputError, check_known
from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Place, Report, compared_means, measured_difference
from mklbench.report.analysis.growth import Curve, curve
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Claim, PaperTable


@dataclass(frozen=True)
class Judged:
    """A claim and what was measured; `measured` and `holds` are None where there is nothing.

    `quantity` says what is measured, `claimed` the bound in words, `own_value` is what the paper's
    own numbers say, and `details` are between which values the number lies, and where.
    """

    claim: Claim
    quantity: str
    claimed: str
    own_value: float | None
    measured: float | None = None
    holds: bool | None = None
    details: str = ""


@dataclass(frozen=True)
class ClaimKind:
    """A kind of claim.

    Attributes
    ----------
    quantity : str
        What is measured, with {metric}, {heading}, {axis} (of the sweep) and the labels of the
        columns as {0} and {1} to be filled in.
    measure : callable
        Returns the values of a claim in a report, by what each is of; none before there are any.
    n_columns : int or None
        How many columns it is about; None for one or more.
    of_several : callable or None
        How one value is made of several; None takes the one that is worst for the claim.
    needs_sweep : bool
        Whether its table must have a sweep.
    """

    quantity: str
    measure: Callable[[Report, Claim], Mapping[str, float]]
    n_columns: int | None = None
    of_several: Callable[[Sequence[float]], float] | None = None
    needs_sweep: bool = False


def check_claim(claim: Claim, table: PaperTable, where: str) -> None:
    """Raise InputError for what a claim needs and does not have."""
    check_known(f"{where}: claims: kind", [claim.kind], KINDS)
    kind = KINDS[claim.kind]
    if (claim.at_most is None) == (claim.at_least is None):
        raise InputError(f"{where}: give a claim either at_most or at_least, and not both.")
    if not claim.columns or kind.n_columns not in (None, len(claim.columns)):
        raise InputError(
            f"{where}: columns={list(claim.columns)} of a claim of kind {claim.kind} must be "
            f"{kind.n_columns or 'one or more'}."
        )
    if kind.needs_sweep and table.sweep is None:
        raise InputError(f"{where}: a claim of kind {claim.kind} needs a sweep.")


def judge_claims(report: Report) -> list[Judged]:
    """Measure what each claim of the table is about, in the finished runs of `report`."""
    return [_judged(claim, report) for claim in report.table.claims]


def _judged(claim: Claim, report: Report) -> Judged:
    kind, metric, sweep = KINDS[claim.kind], METRICS[claim.metric], report.table.sweep
    axis = "" if sweep is None else METRICS[sweep.axis].label if sweep.axis else sweep.label
    labels = map(report.table.label_of, claim.columns)
    words = {"metric": metric.label, "heading": metric.heading, "axis": axis}
    quantity = kind.quantity.format(*labels, **words)
    is_upper = claim.at_most is not None
    bound = float(claim.at_most if claim.at_most is not None else claim.at_least or 0.0)
    of_several = kind.of_several or (max if is_upper else min)
    claimed, own = f"at {'most' if is_upper else 'least'} {bound:g}", None
    if claim.published:
        own = of_several(claim.published)
        claimed += f"; its own numbers {own:.3g}"
    values = kind.measure(report, claim)
    if not values:
        return Judged(claim, quantity, claimed, own)
    # Without the last digits, which would turn a tie into a difference.
    measured = round(of_several([*values.values()]), 9) + 0.0
    low, high = (pick(values, key=values.__getitem__) for pick in (min, max))
    details = f"{values[low]:.2g} ({low}) to {values[high]:.2g} ({high}), {len(values)} in all"
    holds = measured <= bound if is_upper else measured >= bound
    return Judged(claim, quantity, claimed, own, measured, holds, details)


def _places(table: PaperTable, columns: Sequence[str]) -> Iterator[tuple[str, list[Place]]]:
    """Yield the label of every row under every protocol, and the places of columns there."""
    for row in table.rows:
        for protocol in table.protocols:
            places = [(row.name, column, protocol.name) for column in columns]
            yield f"{row.label}, {protocol.label}", places


def _differences(report: Report, claim: Claim) -> dict[str, float]:
    """Return the differences of the means of two columns."""
    return {
        label: difference.value
        for label, (first, second) in _places(report.table, claim.columns)
        if (difference := measured_difference(report.slots, first, second, METRICS[claim.metric]))
    }


def _quotients(report: Report, claim: Claim) -> dict[str, float]:
    """Return the quotients of the means of two columns."""
    values = {}
    for label, places in _places(report.table, claim.columns):
        samples = compared_means(report.slots, places, METRICS[claim.metric])
        if samples is not None and samples[1].mean > 0:
            values[label] = samples[0].mean / samples[1].mean
    return values


def _largest(report: Report, claim: Claim) -> dict[str, float]:
    """Return the largest value of any split of each run in its columns."""
    metric = METRICS[claim.metric]
    return {
        f"{slot.row.label}, {slot.column.label}": max(values)
        for slot, found in report.slots.values()
        if slot.column.name in claim.columns
        and found.status == DONE
        and (values := found.values(metric))
    }


def _of_curves(
    of_one: Callable[[Curve], float | None], report: Report, claim: Claim
) -> dict[str, float]:
    """Return a value of the curve of one column along the sweep, for each row that has one."""
    values = {
        row.label: of_one(curve(report, row, claim.columns[0], claim.metric))
        for row in report.table.rows
    }
    return {label: value for label, value in values.items() if value is not None}


def rise_above_a_chord(line: Curve) -> float | None:
    """Return the largest rise of a mean above a chord of two others, as a share of it."""
    points = [(size, one.mean) for size, one in zip(line.sizes, line.samples, strict=True)]
    shares = [
        middle / (left + (right - left) * (at - begin) / (end - begin)) - 1.0
        for (begin, left), (at, middle), (end, right) in combinations(points, 3)
    ]
    return max(shares, default=None)


_exponents = partial(_of_curves, lambda line: line.exponent)
_rises = partial(_of_curves, rise_above_a_chord)

KINDS = {
    "median_difference": ClaimKind("median {metric} of {0} minus {1}", _differences, 2, median),
    "mean_difference": ClaimKind("mean {metric} of {0} minus {1}", _differences, 2, fmean),
    # As "up to so many times" means.
    "ratio": ClaimKind("largest {metric} of {0} / {1}", _quotients, 2, max),
    "median_ratio": ClaimKind("median {metric} of {0} / {1}", _quotients, 2, median),
    "largest": ClaimKind("largest {heading}", _largest, None, max),
    "growth": ClaimKind("exponent p of {metric} ~ ({axis})^p", _exponents, 1, needs_sweep=True),
    "above_a_chord": ClaimKind(
        "{metric} above a chord, as a share of it", _rises, 1, needs_sweep=True
    ),
}
