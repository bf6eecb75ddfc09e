"""What a paper table is: rows, columns, protocols, published numbers and the ledger."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from mklbench.errors import InputError
from mklbench.experiments.record import Record
from mklbench.report.table.metrics import METRICS, Metric
from mklbench.report.table.verdict import Published, Sample, Verdict, judge

# In place of a name that a figure needs and does not give: no table has it.
NOT_GIVEN = "None"


@dataclass(frozen=True)
class Row:
    """One data set.

    `larger_class` is the share of its larger class, where a figure needs it; `published_n_splits`
    the number of splits behind the paper's means, where it is not that of the whole table. Of a set
    that is not `at_hand` the published numbers are shown alone.
    """

    name: str
    label: str
    overrides: tuple[str, ...] = ()
    larger_class: float | None = None
    published_n_splits: int | None = None
    at_hand: bool = True


@dataclass(frozen=True)
class Column:
    """One method.

    `row_overrides` adds overrides on single rows; `rows` and `protocols` limit it to some of them.
    """

    name: str
    label: str
    overrides: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    row_overrides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rows: tuple[str, ...] | None = None
    protocols: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Protocol:
    """One way to measure the whole table.

    `columns`, where given, limits the protocol to those columns and adds overrides to each;
    `row_overrides` adds overrides on single rows, and `rows` limits it to some of them. `left_out`
    are, by row, columns that are not measured, such as those that take too long. One setting of a
    grid has the values of the grid's options in `setting`.
    """

    name: str
    label: str
    overrides: tuple[str, ...] = ()
    columns: Mapping[str, tuple[str, ...]] | None = None
    row_overrides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rows: tuple[str, ...] | None = None
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    setting: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sweep:
    """One option along its values; each value is a protocol of the table.

    `axis` is the metric that stands for the value where results are shown against it, such as the
    number of kernels that a number of widths makes; the value itself where it is None.
    """

    option: str
    label: str
    values: tuple[float, ...]
    axis: str | None = None

    def protocols(self) -> tuple[Protocol, ...]:
        """One protocol a value."""
        return tuple(
            Protocol(
                name=f"{self.label}={value:g}",
                label=f"{self.label} = {value:g}",
                overrides=(f"{self.option}={value!r}",),
            )
            for value in self.values
        )


@dataclass(frozen=True)
class Baseline:
    """The column that the others are held against, in one metric.

    A number is much better or much worse than the baseline's on the same row where the two differ
    by more than two standard errors of the difference and by at least `margin`, in the printed
    unit of the metric.
    """

    column: str
    metric: str
    margin: float


@dataclass(frozen=True, kw_only=True)
class Figure(ABC):
    """A figure of a table, drawn from its runs or its data.

    Each kind is a subclass with its own options, in a module of `mklbench.report.figures`; its
    `kind` is what the YAML calls it. Its options called `row`, `metric`, `protocol`, `columns` and
    `marks` must be names of the table. A report is a `mklbench.report.analysis.assemble.Report`.
    """

    name: str
    kind: str
    title: str
    needs_sweep: ClassVar[bool] = False
    of_records: ClassVar[bool] = True  # or else of the data, which have to be at hand
    kinds: ClassVar[dict[str, type[Figure]]] = {}

    def __init_subclass__(cls) -> None:
        cls.kinds[vars(cls)["kind"]] = cls

    def check(self, table: PaperTable, where: str) -> None:
        """Raise InputError for what the figure needs and the table does not have."""
        if self.needs_sweep and table.sweep is None:
            raise InputError(f"{where}: figure {self.name} of kind {self.kind} needs a sweep.")

    def needs(self, report: Any) -> Collection[tuple[str, str, str]]:
        """Return the places that must be done; none where it is drawn of what there is."""
        return ()

    @abstractmethod
    def draw(self, report: Any) -> Any:
        """Return the figure of matplotlib."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of the paper that the records confirm or not.

    What is measured, in `metric` and for `columns`, is that of its kind (`mklbench.report.claims`);
    the claim holds where that is `at_most`, or `at_least`, a bound. `published` are the paper's own
    values of it, one a data set, where it prints them: the rule by which several become one has to
    be one that they pass.
    """

    text: str
    kind: str
    metric: str
    columns: tuple[str, ...] = ()
    at_most: float | None = None
    at_least: float | None = None
    published: tuple[float, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """The question whether `column` is better than `against` in `metric`, on each of the rows."""

    label: str
    column: str
    against: str
    metric: str


@dataclass(frozen=True)
class Ranking:
    """Methods ranked over the rows in `metric` under `protocol`.

    They are held against each of `references`; `learners` are those that learn a combination of
    kernels, of which the question is asked whether it pays. Differences of up to `rope`, in the
    printed unit, count as none in practice; `groups` are rows by a label, to be looked at apart.
    On the rows `rule` a rule is made that is tested on the others; `also` are further protocols.
    """

    metric: str
    protocol: str
    references: tuple[str, ...] = ()
    learners: tuple[str, ...] = ()
    rope: float = 1.0
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rule: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class LedgerEntry:
    """A point where the paper is silent or contradicts itself, what was chosen, and why.

    It holds for the whole table, or for the numbers of some `rows`, `columns`, `protocols` and
    `metrics` alone.
    """

    point: str
    paper: str
    chosen: str
    why: str
    rows: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None
    protocols: tuple[str, ...] | None = None
    metrics: tuple[str, ...] | None = None

    def concerns(self, *number: str) -> bool:
        """Tell whether it speaks of a number, by the names of its place, but not of all numbers."""
        limits = (self.rows, self.columns, self.protocols, self.metrics)
        pairs = zip(limits, number, strict=True)
        return any(limits) and all(names is None or name in names for names, name in pairs)


@dataclass(frozen=True)
class Slot:
    """One position of a table and the Hydra overrides of the run that fills it.

    `config_dir` is that of the table.
    """

    row: Row
    column: Column
    protocol: Protocol
    overrides: tuple[str, ...]
    config_dir: str | None = None

    @property
    def place(self) -> tuple[str, str, str]:
        """Names of row, column and protocol."""
        return (self.row.name, self.column.name, self.protocol.name)

    @property
    def label(self) -> str:
        """Their labels."""
        return f"{self.row.label}, {self.column.label}, {self.protocol.label}"


@dataclass(frozen=True, kw_only=True)
class PaperTable:
    """A table of a paper, as one YAML of ``configs/table`` describes it.

    Attributes
    ----------
    name : str
        Name of the YAML without its ending.
    title, citation, url : str
        What it is and where it was published.
    common : tuple of str
        Overrides of every run.
    rows, columns, protocols : tuple
        What the runs are the product of.
    as_printed : str or None
        The protocol that is the paper's as printed; None for the first one.
    published : mapping
        Numbers of the paper by (row, column, metric).
    published_n_splits : int
        Number of splits assumed behind each published mean, but for the rows that
        state their own (`published_n_splits_of`).
    same_split : bool
        Whether the paper has one split, and it is this table's: its accuracies are then compared
        digit by digit.
    figures, claims, comparisons, ledger, notes : tuple
        What else the report shows.
    findings : tuple of str
        What came out, in sentences whose numbers are looked up when they are shown
        (`mklbench.report.layout.findings`).
    sweep : Sweep or None
        The option whose values are the protocols, or None.
    baseline : Baseline or None
        The column that the others are held against, or None.
    ranking : Ranking or None
        How the columns are ranked over the rows, or None.
    config_dir : str or None
        The user's own configs, among which the overrides look for names first, or None.
    is_part : bool
        Whether it is some positions of a table alone (`mklbench.report.table.part`).
    """

    name: str
    sweep: Sweep | None = None
    protocols: tuple[Protocol, ...] = ()
    as_printed: str | None = None
    title: str
    citation: str
    url: str = ""
    common: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    columns: tuple[Column, ...] = ()
    published: Mapping[tuple[str, str, str], Published] = field(default_factory=dict)
    published_n_splits: int = 20
    same_split: bool = False
    figures: tuple[Figure, ...] = ()
    claims: tuple[Claim, ...] = ()
    ledger: tuple[LedgerEntry, ...] = ()
    notes: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    baseline: Baseline | None = None
    comparisons: tuple[Comparison, ...] = ()
    ranking: Ranking | None = None
    config_dir: str | None = None
    is_part: bool = False

    @property
    def names(self) -> dict[str, Collection[str]]:
        """What the parts of the table may refer to, by the word for it."""
        return {
            "row": [row.name for row in self.rows],
            "column": [column.name for column in self.columns],
            "protocol": [protocol.name for protocol in self.protocols],
            "metric": METRICS,
        }

    @property
    def printed_protocol(self) -> Protocol:
        """The paper's protocol as printed."""
        named = [protocol for protocol in self.protocols if protocol.name == self.as_printed]
        return [*named, *self.protocols][0]

    def label_of(self, name: str) -> str:
        """Return the label of a column."""
        return next(column.label for column in self.columns if column.name == name)

    @property
    def rows_are_methods(self) -> bool:
        """Whether the paper's rows are methods that are not run here, beside those that are."""
        published = {row for row, _, _ in self.published}
        at_hand = {row.name for row in self.rows if row.at_hand}
        return bool(published) and bool(at_hand) and not published & at_hand

    def published_n_splits_of(self, row: Row) -> int:
        """Return the number of splits behind the paper's means of one row."""
        return row.published_n_splits or self.published_n_splits

    def judge(
        self,
        row: Row,
        metric: Metric,
        published: Published | None,
        measured: Sample,
        records: Sequence[Record],
    ) -> Verdict:
        """Return the verdict on a measured number of a row, of finished records."""
        step = None
        if self.same_split and published is not None and metric.field == "accuracy":
            digits = metric.decimals if published.decimals is None else published.decimals
            step = (10.0 ** -(digits or 0), abs(metric.scale) / (records[0].n_test or 1))
        return judge(published, self.published_n_splits_of(row), measured, step)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics that any column shows, in order of appearance."""
        return tuple(dict.fromkeys(name for column in self.columns for name in column.metrics))

    def slots(self) -> Iterator[Slot]:
        """Yield every position of the table, protocol by protocol, row by row."""
        for protocol in self.protocols:
            for row in (row for row in self.rows if row.at_hand):
                for column in self.columns:
                    limits = (
                        (row.name, column.rows),
                        (row.name, protocol.rows),
                        (column.name, protocol.columns),
                        (protocol.name, column.protocols),
                    )
                    if column.name in protocol.left_out.get(row.name, ()):
                        continue
                    if all(names is None or name in names for name, names in limits):
                        overrides = self._overrides(row, column, protocol)
                        yield Slot(row, column, protocol, overrides, self.config_dir)

    def _measures(self, column: Column) -> tuple[str, ...]:
        """Return the override that has runs measured by the scorers that the table shows."""
        judged = (*self.claims, *self.comparisons, *self.figures)
        others = [getattr(part, "metric", None) for part in (*judged, self.baseline, self.ranking)]
        asked = {name for name in [*column.metrics, *filter(None, others)] if METRICS[name].scorer}
        return (f"metrics=[{','.join(sorted(asked))}]",) if asked else ()

    def _overrides(self, row: Row, column: Column, protocol: Protocol) -> tuple[str, ...]:
        """Join the overrides from the general to the special; a later one wins."""
        of_column = () if protocol.columns is None else protocol.columns[column.name]
        joined = (
            *self.common,
            *row.overrides,
            *column.overrides,
            *protocol.overrides,
            *of_column,
            *column.row_overrides.get(row.name, ()),
            *protocol.row_overrides.get(row.name, ()),
            *self._measures(column),
        )
        last_value = {override.partition("=")[0]: override for override in joined}
        return tuple(last_value.values())
