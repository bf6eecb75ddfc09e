"""Reading the YAML of a paper table, with one-sentence messages for what is wrong in it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from mklbench import resources
from mklbench.errors import InputError, unknown
from mklbench.reader import Made, read, value
from mklbench.report import claims, figures
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Column, PaperTable, Protocol, known
from mklbench.report.table.values import TableWhere


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
    import_kinds()
    table = read(
        PaperTable,
        resources.read_yaml(path),
        TableWhere((path.name,)),
        defaults={"name": path.stem},
        made={
            "name": Made(),
            "columns": Made(_columns, ("columns", "metrics")),
            "protocols": Made(_protocols, ("protocols",)),
            "config_dir": Made(),
        },
    )
    _check_references(table, path.name)
    return table


@cache
def import_kinds() -> None:
    """Import the modules of all kinds of figures and claims, each of which makes itself known."""
    for package in (figures, claims):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)


def _columns(
    table: Mapping[str, Any], where: TableWhere, before: Mapping[str, Any]
) -> tuple[Column, ...]:
    """Read the columns, whose metrics are those of the table where they state none."""
    metrics = value(tuple[str, ...], table.get("metrics", ["accuracy"]), where / "metrics")
    found = (where / "columns").items(table.get("columns", []))
    return tuple(
        read(Column, column, (where / "columns").item(number), defaults={"metrics": metrics})
        for number, column in enumerate(found)
    )


def _protocols(
    table: Mapping[str, Any], where: TableWhere, before: Mapping[str, Any]
) -> tuple[Protocol, ...]:
    """Read the protocols, or make them of the sweep."""
    sweep = before.get("sweep")
    protocols = value(tuple[Protocol, ...], table.get("protocols", []), where / "protocols")
    if (sweep is None) == (not protocols):
        raise InputError(f"{where}: give either protocols or sweep, and not both.")
    return protocols if sweep is None else sweep.protocols()


def _check_references(table: PaperTable, where: str) -> None:
    """Refuse names that the table uses but does not define."""
    rows = _unique(table.row_names, f"{where}: rows")
    columns = _unique(table.column_names, f"{where}: columns")
    protocols = _unique(table.protocol_names, f"{where}: protocols")
    for row, column, metric in table.published:
        known(f"{where}: published row", row, rows)
        known(f"{where}: published column", column, columns)
        known(f"{where}: published metric", metric, METRICS)
    for table_column in table.columns:
        for metric in table_column.metrics:
            known(f"{where}: metric", metric, METRICS)
        for row in (*table_column.row_overrides, *(table_column.rows or ())):
            known(f"{where}: row of column {table_column.name}", row, rows)
        for name in table_column.protocols or ():
            known(f"{where}: protocol of column {table_column.name}", name, protocols)
    for protocol in table.protocols:
        for column in protocol.columns or ():
            known(f"{where}: column of protocol {protocol.name}", column, columns)
        for row in (*protocol.row_overrides, *(protocol.rows or ())):
            known(f"{where}: row of protocol {protocol.name}", row, rows)
    for ratio in table.ratios:
        known(f"{where}: ratio metric", ratio.metric, METRICS)
        for column in (ratio.over, ratio.under):
            known(f"{where}: ratio column", column, columns)
    if table.baseline is not None:
        known(f"{where}: baseline column", table.baseline.column, columns)
        known(f"{where}: baseline metric", table.baseline.metric, METRICS)
    for figure in table.figures:
        figure.check(table, where)
    for comparison in table.comparisons:
        known(f"{where}: metric of a comparison", comparison.metric, METRICS)
        for column in (comparison.column, comparison.against):
            known(f"{where}: column of a comparison", column, columns)
    if table.ranking is not None:
        known(f"{where}: metric of the ranking", table.ranking.metric, METRICS)
        known(f"{where}: protocol of the ranking", table.ranking.protocol, protocols)
        for column in (*table.ranking.references, *table.ranking.learners):
            known(f"{where}: column of the ranking", column, columns)
    for claim in table.claims:
        claim.check(table, where)
    if table.sweep is not None and table.sweep.axis is not None:
        known(f"{where}: axis of the sweep", table.sweep.axis, METRICS)


def _unique(names: list[str], where: str) -> list[str]:
    """Return `names` after refusing an empty list and names given twice."""
    if not names:
        raise InputError(f"{where}: expected at least one entry, found none.")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{where}: the name {name} is given twice; names must differ.")
    return names
