"""The quantities a table can show: which field of a record, in which unit, judged or not."""

from __future__ import annotations

from dataclasses import dataclass

from mklbench.experiments.record import Record


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
    field : str
        Attribute of the record it is read from.
    scale, offset : float
        The printed value is offset + scale times that of the record.
    plus : str or None
        Attribute of the record that is added to it, if any.
    per : str or None
        Attribute of the record it is divided by, if any.
    decimals : int or None
        Digits after the point; None prints tenths, and two significant digits below 1.
    compared_by_ratio : bool
        Whether a published value is set beside the measured one as a ratio only,
        because it belongs to a machine and not to a method.
    lower_is_better : bool
        Which of two values is the better one.
    """

    name: str
    label: str
    unit: str
    field: str
    scale: float = 1.0
    offset: float = 0.0
    plus: str | None = None
    per: str | None = None
    decimals: int | None = 1
    compared_by_ratio: bool = False
    lower_is_better: bool = False

    @property
    def heading(self) -> str:
        """Label and unit, for the head of a column."""
        return f"{self.label} {self.unit}".strip()

    @property
    def difference_unit(self) -> str:
        """Unit of a difference of two values."""
        return "percentage points" if self.unit == "%" else self.unit

    def value(self, record: Record) -> float | None:
        """Read the quantity from a record, or None where the record has none."""
        raw = getattr(record, self.field)
        if raw is None:
            return None
        raw = float(raw) if self.plus is None else float(raw) + float(getattr(record, self.plus))
        value = self.offset + raw * self.scale
        return value if self.per is None else value / float(getattr(record, self.per))

    def format(self, value: float) -> str:
        """Print a value of this quantity without its unit."""
        if self.decimals is not None:
            return f"{value:.{self.decimals}f}"
        return f"{value:.1f}" if value >= 0.995 else f"{value:.2g}"


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "accuracy", "%", "accuracy", scale=100.0),
        # A record's own "error" is what went wrong, so the error rate is read from the accuracy.
        Metric("error", "error", "%", "accuracy", scale=-100.0, offset=100.0, lower_is_better=True),
        Metric("rmse", "RMSE", "", "rmse", decimals=3, lower_is_better=True),
        Metric("time", "time", "s", "fit_seconds", decimals=None, compared_by_ratio=True),
        Metric(
            "training_time",
            "CPU time with kernels",
            "s",
            "fit_cpu_seconds",
            plus="kernel_seconds",
            decimals=None,
            lower_is_better=True,
        ),
        Metric("cpu_time", "CPU time", "s", "fit_cpu_seconds", decimals=None),
        Metric("relevant_weight", "R", "%", "relevant_weight", scale=100.0),
        Metric("n_kernels", "kernels", "", "n_kernels"),
        Metric("n_base_kernels", "kernels given", "", "n_base_kernels", decimals=0),
        Metric("svm_calls", "SVM calls", "", "svm_calls", decimals=0),
        Metric("calls_a_problem", "SVM calls a problem", "", "svm_calls", per="n_problems"),
        Metric("ascents", "ascents", "", "ascents"),
        Metric("gap", "certified gap", "", "gap", decimals=None, lower_is_better=True),
        Metric("objective", "objective / n", "", "objective", per="n_train", decimals=4),
    )
}
