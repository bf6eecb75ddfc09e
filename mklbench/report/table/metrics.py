"""The quantities a table can show: which field of a record, in which unit, judged or not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from mklbench.config.schemas import TABLE_SCORERS
from mklbench.experiments.record import Record

# From here on a gap is printed with its power of ten: no digit of it means anything.
_LARGE = 1e4


@dataclass(frozen=True)
class Metric:
    """One quantity of a record.

    Attributes
    ----------
    name : str
        Its name in a table's YAML and in the CSV.
    label : str
        Its heading.
    unit : str
        Printed after the label; may be empty.
    of : str
        Attribute of the record it is read from; its own name where it is empty.
    scale, offset : float
        The printed value is offset + scale times that of the record.
    scorer : bool
        Whether it is among the record's scores, under its name, where it was asked for.
    plus : tuple of str
        Attributes of the record that are added to it; one that the record has not counts 0.
    per : str or None
        Attribute of the record it is divided by, if any.
    decimals : int or None
        Digits after the point; None prints tenths, two significant digits below 1, and
        the power of ten from 1e4 on.
    compared_by_ratio : bool
        Whether a published value is set beside the measured one as a ratio only,
        because it belongs to a machine and not to a method.
    lower_is_better : bool
        Which of two values is the better one.
    """

    name: str
    label: str
    unit: str = ""
    of: str = ""
    scale: float = 1.0
    offset: float = 0.0
    plus: tuple[str, ...] = ()
    per: str | None = None
    decimals: int | None = 1
    compared_by_ratio: bool = False
    scorer: bool = False
    lower_is_better: bool = False

    @property
    def field(self) -> str:
        """Attribute of the record it is read from."""
        return self.of or self.name

    @property
    def heading(self) -> str:
        """Label and unit, for the head of a column."""
        return f"{self.label} {self.unit}".strip()

    @property
    def difference_unit(self) -> str:
        """Unit of a difference of two values."""
        return "percentage points" if self.unit == "%" else self.unit

    @property
    def sign(self) -> float:
        """1 where larger values are better, -1 where smaller ones are."""
        return -1.0 if self.lower_is_better else 1.0

    @property
    def is_time(self) -> bool:
        """Whether it is in seconds, which of two CPU models cannot be compared."""
        return self.unit == "s"

    def by_split(self, records: Iterable[Record]) -> dict[int, float]:
        """Read the quantity from records, by split; those that have none are left out."""
        values = {record.split: self.value(record) for record in records}
        return {split: value for split, value in values.items() if value is not None}

    def value(self, record: Record) -> float | None:
        """Read the quantity from a record, or None where the record has none."""
        raw = (record.scores or {}).get(self.name) if self.scorer else getattr(record, self.field)
        if raw is None:
            return None
        added = sum(float(getattr(record, name) or 0.0) for name in self.plus)
        value = self.offset + (float(raw) + added) * self.scale
        return value if self.per is None else value / float(getattr(record, self.per))

    def format(self, value: float) -> str:
        """Print a value of this quantity without its unit."""
        if self.decimals is not None:
            return f"{value:.{self.decimals}f}"
        if value >= _LARGE:
            return f"{value:.1e}"
        return f"{value:.1f}" if value >= 0.995 else f"{value:.2g}"


class _Metrics(dict[str, Metric]):
    """The metrics by name; scikit-learn's scorers join the first time that one is looked for."""

    def __missing__(self, name: str) -> Metric:
        if name not in self:
            raise KeyError(name)
        return self[name]

    def __contains__(self, name: object) -> bool:
        if not super().__contains__(name):
            from sklearn.metrics import get_scorer_names

            for scorer in get_scorer_names():
                self.setdefault(scorer, _scored(scorer))
        return super().__contains__(name)


def _scored(name: str) -> Metric:
    """Return the metric of a scorer; what scikit-learn has made negative is shown as it was."""
    positive = name.removeprefix("neg_")
    metric = Metric(name, positive.replace("_", " "), decimals=3, scorer=True)
    return metric if positive == name else replace(metric, scale=-1.0, lower_is_better=True)


def _seconds(name: str, label: str, *fields: str, by_ratio: bool = False) -> Metric:
    """Return the metric of a time, or of the sum of several."""
    of, *plus = fields
    seconds = Metric(name, label, "s", of, plus=tuple(plus), decimals=None, lower_is_better=True)
    return replace(seconds, compared_by_ratio=by_ratio)


_TO_TRAIN = ("fit_cpu_seconds", "kernel_seconds")

METRICS: dict[str, Metric] = _Metrics(
    (metric.name, metric)
    for metric in (
        *map(_scored, TABLE_SCORERS),
        Metric("accuracy", "accuracy", "%", scale=100.0),
        # A record's own "error" is what went wrong, so the error rate is read from the accuracy.
        Metric("error", "error", "%", "accuracy", scale=-100.0, offset=100.0, lower_is_better=True),
        Metric("rmse", "RMSE", decimals=3, lower_is_better=True),
        _seconds("time", "time", "fit_seconds", by_ratio=True),
        _seconds("training_time", "CPU time with kernels", *_TO_TRAIN),
        _seconds("total_time", "time of selection and training", *_TO_TRAIN, "search_seconds"),
        _seconds("cpu_time", "CPU time", "fit_cpu_seconds"),
        _seconds("search_time", "time of the search", "search_seconds"),
        _seconds("predict_time", "time to predict", "predict_seconds"),
        Metric("relevant_weight", "R", "%", scale=100.0),
        Metric("n_kernels", "kernels"),
        Metric("n_base_kernels", "kernels given", decimals=0),
        Metric("svm_calls", "SVM calls", decimals=0),
        Metric("calls_a_problem", "SVM calls a problem", "", "svm_calls", per="n_problems"),
        Metric("ascents", "ascents"),
        Metric("gap", "certified gap", decimals=None, lower_is_better=True),
        Metric("family_gap", "family gap", decimals=None, lower_is_better=True),
        Metric("objective", "objective / n", per="n_train", decimals=4),
        Metric("model_bytes", "model size", "kB", scale=1e-3, scorer=True, lower_is_better=True),
        Metric("n_support", "support vectors", lower_is_better=True),
        Metric("n_evaluations", "kernel evaluations a sample", decimals=0, lower_is_better=True),
    )
)
