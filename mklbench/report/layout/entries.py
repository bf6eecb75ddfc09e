"""How numbers and verdicts are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Number, NumberPlace, Report
from mklbench.report.analysis.baseline import Standing
from mklbench.report.document import NOTHING
from mklbench.report.table.metrics import METRICS, Metric
from mklbench.report.table.verdict import Published, Sample, Verdict

JUDGEMENTS = {
    Verdict.MATCH: ("✓", "match"),
    Verdict.CLOSE: ("≈", "close"),
    Verdict.HIGHER: ("▲", "differs"),
    Verdict.LOWER: ("▼", "differs"),
}

EMPHASES = {None: "", Standing.BETTER: "**", Standing.WORSE: "*"}

# The marks of numbers whose splits were run again here.
_REPEATED = {"confirmed": "●", "moved": "✗", "recorded": "○"}

_LETTERS = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"


def mark(verdict: Verdict | None) -> str:
    """Return the sign of a judgement; other verdicts have none."""
    return JUDGEMENTS[verdict][0] if verdict in JUDGEMENTS else ""


def time_mark(report: Report, number: Number) -> str:
    """Return the letter of a time that was not measured on the main CPU model of the table alone.

    Every CPU model has its own, and so has every mixture of them within one run.
    """
    if not number.metric.is_time or number.measured is None:
        return ""
    others = report.timed_on.others
    models = report.timed_on.cells[number.slot.place]
    return letter(others.index(models)) if models in others else ""


def letter(position: int) -> str:
    """Return a, b, ..., z, aa, bb, ... for 0, 1, ..., raised."""
    return _LETTERS[position % len(_LETTERS)] * (position // len(_LETTERS) + 1)


def state(report: Report, number: Number) -> tuple[str, int]:
    """Return "confirmed", "moved" or "recorded", and how many splits say so; "" without records."""
    found = None if report.repeated is None else report.repeated.get(number.slot.place)
    if found is None or number.measured is None:
        return "", 0
    if not number.metric.is_time:
        if found.moved:
            return "moved", len(found.moved)
        if found.n_same:
            return "confirmed", found.n_same
    return "recorded", 0


def repeat_mark(report: Report, number: Number) -> str:
    """Return the mark of a number whose splits were run again; "" where nothing was."""
    name, n_splits = state(report, number)
    return f"{_REPEATED.get(name, '')}{n_splits or ''}"


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


def format_published(report: Report, place: tuple[str, str, str]) -> str:
    """Print what the paper has at a row, column and metric, in bold as it prints it."""
    found = report.table.published.get(place)
    is_bold = found is not None and found.is_bold
    stars = "**" if is_bold else EMPHASES[report.published_standings.get(place)]
    return f"{stars}{format_sample(METRICS[place[-1]], found)}{stars}"


def format_measured(report: Report, place: NumberPlace) -> str:
    """Print what was measured at a position; nothing where the table has no such position.

    The number of splits follows where the paper has more; an unfinished run shows its state
    instead of a verdict. Bold and italic are much better and much worse than the baseline.
    """
    number = report.numbers.get(place)
    if number is None:
        return ""
    sample = measured_text(report, number)
    if number.status != DONE:
        if number.measured is None:
            return number.status
        text = f"{sample} ({format_count(number)}, {number.status}) {repeat_mark(report, number)}"
        return text.rstrip()
    if number.measured is None:
        return sample
    parts = [sample, f"({number.n_splits})" if has_fewer_splits(number) else ""]
    parts += [mark(number.verdict), repeat_mark(report, number)]
    stars = EMPHASES[report.standings.get(place)]
    return f"{stars}{' '.join(filter(None, parts))}{stars}"


def measured_text(report: Report, number: Number) -> str:
    """Print ``mean ± std``, with the letter of the CPU model of a time that needs one."""
    return format_sample(number.metric, number.measured) + time_mark(report, number)


def has_fewer_splits(number: Number) -> bool:
    """Tell whether the run has fewer splits than stand behind the paper's means of its row."""
    return number.published_n_splits is not None and number.n_splits < number.published_n_splits


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
