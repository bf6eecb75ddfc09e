"""How numbers and verdicts are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Number, NumberPlace, Report
from mklbench.report.analysis.baseline import Standing
from mklbench.report.document.blocks import Entry
from mklbench.report.layout.repeated import repeat_mark
from mklbench.report.layout.timed_on import time_mark
from mklbench.report.table.metrics import Metric
from mklbench.report.table.verdict import Published, Sample, Verdict

NOTHING = "–"

JUDGEMENTS = {
    Verdict.MATCH: ("✓", "match"),
    Verdict.CLOSE: ("≈", "close"),
    Verdict.HIGHER: ("▲", "differs"),
    Verdict.LOWER: ("▼", "differs"),
}

EMPHASES = {Standing.BETTER: "bold", Standing.WORSE: "italic"}


def mark(verdict: Verdict | None) -> str:
    """Return the sign of a judgement; other verdicts have none."""
    return JUDGEMENTS[verdict][0] if verdict in JUDGEMENTS else ""


def tone(verdict: Verdict | None) -> str:
    """Return the style of a verdict; without one the number is unfinished."""
    if verdict is None:
        return "unfinished"
    return JUDGEMENTS[verdict][1] if verdict in JUDGEMENTS else ""


def format_sample(metric: Metric, sample: Published | Sample | None) -> str:
    """Print ``mean ± std``, the mean alone where there is no spread, or a dash.

    A published number has the digits that the paper prints.
    """
    if sample is None:
        return NOTHING
    if isinstance(sample, Published) and sample.decimals is not None:
        metric = replace(metric, decimals=sample.decimals)
    if sample.std is None:
        return metric.format(sample.mean)
    return f"{metric.format(sample.mean)} ± {metric.format(sample.std)}"


def format_measured(report: Report, place: NumberPlace, standing: Standing | None = None) -> Entry:
    """Print what was measured at a place; nothing where the table has no such place.

    The number of splits follows where the paper has more; an unfinished cell shows its state
    instead of a verdict.
    """
    number = report.numbers.get(place)
    if number is None:
        return Entry("")
    sample = measured_text(report, number)
    if number.status != DONE:
        if number.measured is None:
            return Entry(number.status, "unfinished")
        text = f"{sample} ({format_count(number)}, {number.status}) {repeat_mark(report, number)}"
        return Entry(text.rstrip(), "unfinished")
    if number.measured is None:
        return Entry(sample)
    parts = [sample, f"({number.n_splits})" if has_fewer_splits(number) else ""]
    parts += [mark(number.verdict), repeat_mark(report, number)]
    text = " ".join(filter(None, parts))
    return Entry(text, tone(number.verdict), emphasis(standing))


def measured_text(report: Report, number: Number) -> str:
    """Print ``mean ± std``, with the letter of the CPU model of a time that needs one."""
    return format_sample(number.metric, number.measured) + time_mark(report, number)


def has_fewer_splits(number: Number) -> bool:
    """Tell whether the cell has fewer splits than stand behind the paper's means of its row."""
    return number.published_n_splits is not None and number.n_splits < number.published_n_splits


def emphasis(standing: Standing | None) -> str:
    """Return the emphasis of a number that is much better or much worse than the baseline."""
    return "" if standing is None else EMPHASES[standing]


def format_difference(number: Number) -> str:
    """Print measured minus published, or their ratio for what is compared by ratio."""
    if number.ratio is not None:
        return f"{number.ratio:.2g} ×"
    if number.difference is None:
        return NOTHING
    return f"{number.difference:+.{number.metric.decimals or 1}f}"


def format_count(number: Number) -> str:
    """Print how many of the splits are behind the measured mean."""
    n_done = 0 if number.measured is None else number.measured.n
    return f"{n_done}/{number.n_splits}"


def setting(params: Sequence[tuple[str, object]]) -> str:
    """Print hyperparameters by their names alone: C = 10, gamma = 0.04."""
    return ", ".join(f"{path.rpartition('.')[2]} = {_value(value)}" for path, value in params)


def _value(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, int | float) else str(value)
