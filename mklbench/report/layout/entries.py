"""How numbers and verdicts are printed, and what is to be noted of times and of how fits ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from mklbench.experiments.record import DONE, Record
from mklbench.report.analysis.assemble import Number, NumberPlace, Report, SlotRecords
from mklbench.report.document import NOTHING, Part
from mklbench.report.table.metrics import METRICS, Metric
from mklbench.report.table.verdict import Published, Sample, Standing, Verdict

# The signs of the verdicts that judge.
SIGNS = {Verdict.MATCH: "✓", Verdict.CLOSE: "≈", Verdict.HIGHER: "▲", Verdict.LOWER: "▼"}

EMPHASES = {None: "", Standing.BETTER: "**", Standing.WORSE: "*"}

_LETTERS = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"


def mark(verdict: Verdict | None) -> str:
    """Return the sign of a judgement; other verdicts have none."""
    return SIGNS.get(verdict, "") if verdict else ""


def time_mark(report: Report, number: Number) -> str:
    """Return the letter of a time that was not measured on the main CPU model of the table alone.

    Every CPU model has its own, and so has every mixture of them within one run.
    """
    if not number.metric.is_time or number.measured is None:
        return ""
    others = report.timed_on.others
    models = report.timed_on.runs[number.slot.place]
    return letter(others.index(models)) if models in others else ""


def letter(position: int) -> str:
    """Return a, b, ..., z, aa, bb, ... for 0, 1, ..., raised."""
    return _LETTERS[position % len(_LETTERS)] * (position // len(_LETTERS) + 1)


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
    sample = format_sample(number.metric, number.measured) + time_mark(report, number)
    if number.status != DONE:
        if number.measured is None:
            return number.status
        return f"{sample} ({format_count(number)}, {number.status})"
    if number.measured is None:
        return sample
    n_splits = f"({number.n_splits})" if has_fewer_splits(number) else ""
    stars = EMPHASES[report.standings.get(place)]
    return f"{stars}{' '.join(filter(None, [sample, n_splits, mark(number.verdict)]))}{stars}"


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


def time_note(report: Report, metrics: Iterable[Metric]) -> Iterator[Part]:
    """Yield what the letters in a grid of `metrics` mean, if there is a time among these."""
    others = report.timed_on.others
    if others and any(metric.is_time for metric in metrics):
        each = [f"{' and '.join(of)}{', each in some splits' * (len(of) > 1)}" for of in others]
        parts = [f"{letter(i)} on {models}" for i, models in enumerate(each)]
        yield (
            f"Times without a letter were measured on {report.timed_on.main}; {'; '.join(parts)}. "
            "Times on two CPU models cannot be compared."
        )


@dataclass(frozen=True)
class Ending:
    """How the finished fits of one run, or of several, ended.

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
    """

    n_fits: int
    n_stopped: int
    stopped_gap: float | None
    met_gap: float | None

    @classmethod
    def of(cls, runs: Iterable[SlotRecords]) -> Ending:
        """Read it from the records of runs."""
        done = [record for found in runs for record in found.done]
        stopped = [record for record in done if record.converged is False]
        met = [record for record in done if record.converged is True]
        return cls(len(done), len(stopped), _largest_gap(stopped), _largest_gap(met))


def _largest_gap(records: Sequence[Record]) -> float | None:
    known = [record.gap for record in records if record.gap is not None]
    return max(known) if known and len(known) == len(records) else None


def ending_summary(report: Report) -> str:
    """Say how many fits met their rule, and at which gaps; empty where none is done."""
    ending = Ending.of(found for _, found in report.slots.values())
    if ending.n_fits == 0:
        return ""
    text = f"All {ending.n_fits:,} fits met their stopping rule"
    if ending.n_stopped:
        text = (
            f"{ending.n_stopped:,} of {ending.n_fits:,} fits ended before their stopping rule was "
            f"met{_up_to(ending.stopped_gap)}; the others met it"
        )
    return f"{text}{_up_to(ending.met_gap)}."


def _up_to(gap: float | None) -> str:
    return "" if gap is None else f", at gaps of up to {METRICS['gap'].format(gap)}"
