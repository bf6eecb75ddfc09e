"""The marks of times that were measured on other CPU models than most of a table, and their note.

A table whose times are all of one CPU model has neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mklbench.report.analysis.assemble import Number, Report
from mklbench.report.analysis.cpu_models import Models
from mklbench.report.document.blocks import Block, Definitions, Paragraph
from mklbench.report.table.metrics import Metric

_LETTERS = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"


def time_mark(report: Report, number: Number) -> str:
    """Return the letter of a time that was not measured on the main CPU model of the table alone.

    Every CPU model has its own, and so has every mixture of them within one cell.
    """
    if not number.metric.is_time or number.measured is None:
        return ""
    others = report.timed_on.others
    models = report.timed_on.cells[number.slot.place]
    return _letter(others.index(models)) if models in others else ""


def time_note(report: Report, metrics: Iterable[Metric]) -> Iterator[Block]:
    """Yield what the letters in a grid of `metrics` mean, if there is a time among these."""
    others = report.timed_on.others
    if others and any(metric.is_time for metric in metrics):
        parts = [f"{_letter(i)} on {_named(models)}" for i, models in enumerate(others)]
        yield Paragraph(
            f"Times without a letter were measured on {report.timed_on.main}; {'; '.join(parts)}. "
            "Times on two CPU models cannot be compared."
        )


def picture_note(report: Report, metric: Metric) -> Iterator[Block]:
    """Yield a warning below a figure of `metric` if that is a time of several CPU models."""
    if report.timed_on.others and metric.is_time:
        yield Paragraph("These times are of several CPU models, which the tables tell apart.")


def limit_notes(limits: Mapping[str, str]) -> Iterator[Block]:
    """Yield what holds of a grid of quotients that does not use all times, by its place there."""
    items = [(place, (limit,)) for place, limit in limits.items() if limit]
    if items:
        yield Definitions(items)


def _letter(position: int) -> str:
    """Return a, b, ..., z, aa, bb, ... for 0, 1, ..."""
    return _LETTERS[position % len(_LETTERS)] * (position // len(_LETTERS) + 1)


def _named(models: Models) -> str:
    if len(models) == 1:
        return models[0]
    return f"{' and '.join(models)}, each in some splits"
