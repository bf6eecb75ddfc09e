"""Reading the YAML of a paper table, with one-sentence messages for what is wrong in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mklbench import resources
from mklbench.errors import InputError, unknown
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import (
    Baseline,
    Claim,
    Column,
    Comparison,
    Figure,
    LedgerEntry,
    PaperTable,
    Protocol,
    Ranking,
    Ratio,
    Row,
    Sweep,
)
from mklbench.report.table.section import Section, is_number
from mklbench.report.table.verdict import Published

FIGURE_KINDS = ("weights", "path", "difference", "growth", "surface", "ranks")
CLAIM_KINDS = {
    "growth": 1,
    "ratio": 2,
    "every_ratio": 2,
    "largest": None,
    "difference": 2,
    "mean_difference": 2,
}  # columns of each


def table_names(config_dir: str | None = None) -> list[str]:
    """Return the names of all paper tables, in alphabetical order.

    Parameters
    ----------
    config_dir : a directory of the user's own configs, whose tables count, too.

    Raises
    ------
    InputError
        If there is no such directory.
    """
    return list(resources.choices("table", config_dir))


def load_table(name: str, config_dir: str | None = None) -> PaperTable:
    """Load the paper table `name`.

    Parameters
    ----------
    name : the table's name.
    config_dir : a directory of the user's own configs. Its tables hide ours of the same name, and
        the overrides of any table may name what is in it.

    Raises
    ------
    InputError
        If there is no such table or directory, or the YAML has a wrong, missing or unknown entry.
    """
    files = resources.choices("table", config_dir)
    if name not in files:
        raise unknown("table", name, files)
    return replace(read_table(files[name]), config_dir=config_dir)


def read_table(path: Path) -> PaperTable:
    """Read and check one table YAML.

    Raises
    ------
    InputError
        If an entry is wrong, missing or unknown.
    """
    table = _build(path.stem, Section(resources.read_yaml(path), path.name))
    _check_references(table, path.name)
    return table


def _build(name: str, section: Section) -> PaperTable:
    sweep = _sweep(section)
    protocols = tuple(_protocol(part) for part in section.sections("protocols"))
    if (sweep is None) == (not protocols):
        raise InputError(f"{section.where}: give either protocols or sweep, and not both.")
    default_metrics = section.texts("metrics", ["accuracy"])
    table = PaperTable(
        name=name,
        title=section.text("title"),
        citation=section.text("citation"),
        url=section.text("url", ""),
        common=section.texts("common"),
        rows=tuple(_row(part) for part in section.sections("rows")),
        columns=tuple(_column(part, default_metrics) for part in section.sections("columns")),
        protocols=protocols if sweep is None else sweep.protocols(),
        published=_published(section.section("published")),
        published_n_splits=section.count("published_n_splits", 20),
        ratios=tuple(_ratio(part) for part in section.sections("ratios")),
        figures=tuple(_figure(part) for part in section.sections("figures")),
        claims=tuple(_claim(part) for part in section.sections("claims")),
        ledger=tuple(_ledger_entry(part) for part in section.sections("ledger")),
        notes=section.texts("notes"),
        sweep=sweep,
        baseline=_baseline(section),
        comparisons=tuple(_comparison(part) for part in section.sections("comparisons")),
        ranking=_ranking(section),
    )
    section.finish()
    return table


def _row(section: Section) -> Row:
    larger_class, n_splits = section.get("larger_class"), section.get("published_n_splits")
    if larger_class is not None:
        larger_class = section.number("larger_class")
    row = Row(
        name=section.text("name"),
        label=section.text("label"),
        overrides=section.texts("overrides"),
        larger_class=larger_class,
        published_n_splits=None if n_splits is None else section.count("published_n_splits"),
        at_hand=section.flag("at_hand", default=True),
    )
    section.finish()
    return row


def _column(section: Section, default_metrics: Sequence[str]) -> Column:
    by_row = section.section("row_overrides")
    column = Column(
        name=section.text("name"),
        label=section.text("label"),
        overrides=section.texts("overrides"),
        metrics=section.texts("metrics", default_metrics),
        row_overrides={row: by_row.texts(row) for row in by_row.names()},
        rows=section.texts("rows") or None,
        protocols=section.texts("protocols") or None,
    )
    section.finish()
    return column


def _protocol(section: Section) -> Protocol:
    by_column, by_row = section.section("columns"), section.section("row_overrides")
    columns = {column: by_column.texts(column) for column in by_column.names()}
    protocol = Protocol(
        name=section.text("name"),
        label=section.text("label"),
        overrides=section.texts("overrides"),
        columns=columns or None,
        row_overrides={row: by_row.texts(row) for row in by_row.names()},
        rows=section.texts("rows") or None,
    )
    section.finish()
    return protocol


def _sweep(section: Section) -> Sweep | None:
    if section.get("sweep") is None:
        return None
    part = section.section("sweep")
    values = part.get("values")
    if not isinstance(values, list) or not values or not all(map(is_number, values)):
        raise InputError(f"{part.where}: values={values!r} must be a list of numbers.")
    axis = part.text("axis", "") or None
    sweep = Sweep(part.text("option"), part.text("label"), tuple(values), axis)
    part.finish()
    return sweep


def _baseline(section: Section) -> Baseline | None:
    if section.get("baseline") is None:
        return None
    part = section.section("baseline")
    baseline = Baseline(part.text("column"), part.text("metric"), part.number("margin"))
    part.finish()
    return baseline


def _published(section: Section) -> dict[tuple[str, str, str], Published]:
    """Read ``row: {column: {metric: [mean, std] or [mean]}}``."""
    published = {}
    for row in section.names():
        of_row = section.section(row)
        for column in of_row.names():
            of_column = of_row.section(column)
            for metric in of_column.names():
                number = of_column.get(metric)
                where = f"{of_column.where}: {metric}"
                published[row, column, metric] = _published_number(number, where)
    return published


def _published_number(number: object, where: str) -> Published:
    if not isinstance(number, list) or len(number) not in (1, 2) or not all(map(is_number, number)):
        raise InputError(f"{where}={number!r} must be [mean] or [mean, std].")
    return Published(*(float(part) for part in number))


def _ratio(section: Section) -> Ratio:
    ratio = Ratio(*(section.text(key) for key in ("metric", "over", "under", "label")))
    section.finish()
    return ratio


def _figure(section: Section) -> Figure:
    figure = Figure(
        name=section.text("name"),
        kind=section.text("kind"),
        title=section.text("title"),
        row=section.text("row", "") or None,
        protocol=section.text("protocol", "") or None,
        columns=section.texts("columns"),
        metric=section.text("metric", "") or None,
        marks=section.text("marks", "") or None,
    )
    section.finish()
    return figure


def _claim(section: Section) -> Claim:
    bounds = [key for key in ("at_most", "at_least") if section.get(key) is not None]
    if len(bounds) != 1:
        raise InputError(f"{section.where}: give either at_most or at_least, and not both.")
    claim = Claim(
        text=section.text("text"),
        kind=section.text("kind"),
        metric=section.text("metric"),
        columns=section.texts("columns"),
        bound=section.number(bounds[0]),
        at_most=bounds[0] == "at_most",
    )
    section.finish()
    return claim


def _comparison(section: Section) -> Comparison:
    keys = ("label", "column", "against", "metric")
    comparison = Comparison(*(section.text(key) for key in keys))
    section.finish()
    return comparison


def _ranking(section: Section) -> Ranking | None:
    if section.get("ranking") is None:
        return None
    part = section.section("ranking")
    ranking = Ranking(
        metric=part.text("metric"),
        protocol=part.text("protocol"),
        references=part.texts("references"),
        learners=part.texts("learners"),
    )
    part.finish()
    return ranking


def _ledger_entry(section: Section) -> LedgerEntry:
    entry = LedgerEntry(*(section.text(key) for key in ("point", "paper", "chosen", "why")))
    section.finish()
    return entry


def _check_references(table: PaperTable, where: str) -> None:
    """Refuse names that the table uses but does not define."""
    rows = _unique([row.name for row in table.rows], f"{where}: rows")
    columns = _unique([column.name for column in table.columns], f"{where}: columns")
    protocols = _unique([protocol.name for protocol in table.protocols], f"{where}: protocols")

    def known(option: str, name: str, accepted: Sequence[str]) -> None:
        if name not in accepted:
            raise unknown(f"{where}: {option}", name, accepted)

    for row, column, metric in table.published:
        known("published row", row, rows)
        known("published column", column, columns)
        known("published metric", metric, list(METRICS))
    for table_column in table.columns:
        for metric in table_column.metrics:
            known("metric", metric, list(METRICS))
        for row in (*table_column.row_overrides, *(table_column.rows or ())):
            known(f"row of column {table_column.name}", row, rows)
        for protocol_name in table_column.protocols or ():
            known(f"protocol of column {table_column.name}", protocol_name, protocols)
    for protocol in table.protocols:
        for column in protocol.columns or ():
            known(f"column of protocol {protocol.name}", column, columns)
        for row in (*protocol.row_overrides, *(protocol.rows or ())):
            known(f"row of protocol {protocol.name}", row, rows)
    for ratio in table.ratios:
        known("ratio metric", ratio.metric, list(METRICS))
        for column in (ratio.over, ratio.under):
            known("ratio column", column, columns)
    if table.baseline is not None:
        known("baseline column", table.baseline.column, columns)
        known("baseline metric", table.baseline.metric, list(METRICS))
    for figure in table.figures:
        known(f"kind of figure {figure.name}", figure.kind, FIGURE_KINDS)
        if figure.kind in ("weights", "surface"):
            known(f"row of figure {figure.name}", str(figure.row), rows)
        if figure.kind in ("difference", "growth"):
            known(f"metric of figure {figure.name}", str(figure.metric), list(METRICS))
        if figure.kind in ("path", "growth") and table.sweep is None:
            raise InputError(f"{where}: figure {figure.name} of kind {figure.kind} needs a sweep.")
        if figure.kind == "difference" and len(figure.columns) != 2:
            raise InputError(
                f"{where}: columns={list(figure.columns)} of figure {figure.name} must be two: "
                "the second is subtracted from the first."
            )
        if figure.kind in ("weights", "difference"):
            known(f"protocol of figure {figure.name}", str(figure.protocol), protocols)
        if figure.kind == "ranks" and table.ranking is None:
            raise InputError(f"{where}: figure {figure.name} of kind ranks needs a ranking.")
        marks = () if figure.marks is None else (figure.marks,)
        for column in (*figure.columns, *marks):
            known(f"column of figure {figure.name}", column, columns)
    for comparison in table.comparisons:
        known("metric of a comparison", comparison.metric, list(METRICS))
        for column in (comparison.column, comparison.against):
            known("column of a comparison", column, columns)
    if table.ranking is not None:
        known("metric of the ranking", table.ranking.metric, list(METRICS))
        known("protocol of the ranking", table.ranking.protocol, protocols)
        for column in (*table.ranking.references, *table.ranking.learners):
            known("column of the ranking", column, columns)
    for claim in table.claims:
        known("kind of a claim", claim.kind, list(CLAIM_KINDS))
        known("metric of a claim", claim.metric, list(METRICS))
        for column in claim.columns:
            known("column of a claim", column, columns)
        count = CLAIM_KINDS[claim.kind]
        if not claim.columns or count not in (None, len(claim.columns)):
            raise InputError(
                f"{where}: columns={list(claim.columns)} of a claim of kind {claim.kind} must be "
                f"{count or 'one or more'}."
            )
        if claim.kind == "growth" and table.sweep is None:
            raise InputError(f"{where}: a claim of kind growth needs a sweep.")
    if table.sweep is not None and table.sweep.axis is not None:
        known("axis of the sweep", table.sweep.axis, list(METRICS))


def _unique(names: list[str], where: str) -> list[str]:
    """Return `names` after refusing an empty list and names given twice."""
    if not names:
        raise InputError(f"{where}: expected at least one entry, found none.")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{where}: the name {name} is given twice; names must differ.")
    return names
