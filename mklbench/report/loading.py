"""Reading the YAML of a paper table, with one-sentence messages for what is wrong in it."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from mklbench import resources
from mklbench.errors import InputError, unknown
from mklbench.reader import Made, read, value
from mklbench.report import claims, figures  # noqa: F401  the kinds of claims make themselves known
from mklbench.report.table.findings import check_marks, names_in
from mklbench.report.table.paper_table import Column, PaperTable, Protocol, known
from mklbench.report.table.values import TableWhere


def table_names(config_dir: str | None = None) -> list[str]:
    """Return the names of all paper tables, in alphabetical order.

    Parameters
    ----------
    config_dir : str or None, default=None
        A directory of the user's own configs, whose tables count, too.

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
    name : str
        The table's name.
    config_dir : str or None, default=None
        A directory of the user's own configs. Its tables hide ours of the same name, and
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
    """Import the modules of all kinds of figures, each of which makes itself known."""
    for module in pkgutil.iter_modules(figures.__path__, f"{figures.__name__}."):
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
    found = (where / "protocols").items(table.get("protocols", []))
    listed = [one for item in found for one in _settings(item)]
    protocols = value(tuple[Protocol, ...], listed, where / "protocols")
    if (sweep is None) == (not protocols):
        raise InputError(f"{where}: give either protocols or sweep, and not both.")
    return protocols if sweep is None else sweep.protocols()


def _settings(protocol: Any) -> Iterator[Any]:
    """Yield the protocols of every combination of the values in ``grid``, where one has a grid.

    Its name and label have the values in the places of ``{}``, in the order of the options.
    """
    if not isinstance(protocol, Mapping) or "grid" not in protocol:
        yield protocol
        return
    rest = {key: entry for key, entry in protocol.items() if key != "grid"}
    for values in itertools.product(*protocol["grid"].values()):
        setting = dict(zip(protocol["grid"], map(str, values), strict=True))
        yield rest | {
            "name": protocol["name"].format(*values),
            "label": protocol["label"].format(*values),
            "overrides": [*protocol["overrides"], *map("=".join, setting.items())],
            "setting": setting,
        }


# The options of the parts of a table that are names in it, and of what.
_NAMES = {
    **dict.fromkeys(("row", "rows", "row_overrides", "left_out"), "row"),
    **dict.fromkeys(("column", "columns", "against", "over", "under", "marks"), "column"),
    **dict.fromkeys(("references", "learners", "alignments"), "column"),
    **dict.fromkeys(("protocol", "protocols"), "protocol"),
    **dict.fromkeys(("metric", "metrics"), "metric"),
}  # fmt: skip


def _check_references(table: PaperTable, where: str) -> None:
    """Refuse names that the table uses but does not define."""
    names = table.names
    for what in ("row", "column", "protocol"):
        _check_unique(list(names[what]), f"{where}: {what}s")
    for text in table.findings:
        check_marks(text, where)
    for words, what, name in _references(table):
        known(f"{where}: {words}", name, names[what])
    for figure in table.figures:
        figure.check(table, where)
    for claim in table.claims:
        claim.check(table, where)


def _references(table: PaperTable) -> Iterator[tuple[str, str, str]]:
    """Yield the names that parts of the table use: in which words, of what, and the name."""
    for place in table.published:
        for what, name in zip(("row", "column", "metric"), place, strict=True):
            yield f"published {what}", what, name
    for words, part in _parts(table):
        for option, what in _NAMES.items():
            given = getattr(part, option, None) or ()
            for name in (given,) if isinstance(given, str) else given:
                yield f"{what} of {words}", what, name
    for protocol in table.protocols:
        for name in chain(*protocol.left_out.values()):
            yield f"column of protocol {protocol.name}", "column", name
    for label, rows in (table.ranking.groups if table.ranking else {}).items():
        yield from ((f"row of group {label} of the ranking", "row", name) for name in rows)
    if table.sweep is not None and table.sweep.axis is not None:
        yield "axis of the sweep", "metric", table.sweep.axis
    if table.as_printed is not None:
        yield "as_printed", "protocol", table.as_printed
    for text in table.findings:
        yield from ((f"{what} of a finding", what, name) for what, name in names_in(text))


def _parts(table: PaperTable) -> Iterator[tuple[str, object]]:
    """Yield the parts of a table that name others, and what they are called."""
    yield from ((f"column {column.name}", column) for column in table.columns)
    yield from ((f"protocol {protocol.name}", protocol) for protocol in table.protocols)
    yield from ((f"ledger entry {entry.point}", entry) for entry in table.ledger)
    yield from ((f"figure {figure.name}", figure) for figure in table.figures)
    yield from (("a claim", claim) for claim in table.claims)
    yield from (("a comparison", comparison) for comparison in table.comparisons)
    yield from (("a ratio", ratio) for ratio in table.ratios)
    yield from (("the baseline", table.baseline), ("the ranking", table.ranking))


def _check_unique(names: list[str], where: str) -> None:
    """Refuse an empty list and names given twice."""
    if not names:
        raise InputError(f"{where}: expected at least one entry, found none.")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{where}: the name {name} is given twice; names must differ.")
