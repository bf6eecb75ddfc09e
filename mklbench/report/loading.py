"""Reading the YAML of a paper table, with one-sentence messages for what is wrong in it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar

from mklbench import resources
from mklbench.data.schema import Whole
from mklbench.errors import InputError, check_known
from mklbench.reader import Made, Rule, Where, flag, read, value
from mklbench.report import figures  # noqa: F401  the kinds of figures make themselves known
from mklbench.report.claims import check_claim
from mklbench.report.table.paper_table import Column, Figure, PaperTable, Protocol
from mklbench.report.table.verdict import Published

# A number as a paper prints it, in bold between pairs of asterisks.
_PRINTED = re.compile(r"(?P<bold>\*\*)?(?P<mean>\d+(?:\.(?P<digits>\d+))?)(?(bold)\*\*)")


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
    check_known("table", [name], files)
    return replace(read_table(files[name]), config_dir=config_dir)


def read_table(path: Path) -> PaperTable:
    """Read and check one table YAML.

    Raises
    ------
    InputError
        If an entry is wrong, missing or unknown.
    """
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
            "is_part": Made(),
        },
    )
    _check_references(table, path.name)
    return table


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
    **dict.fromkeys(("row", "rows", "row_overrides", "left_out", "rule"), "row"),
    **dict.fromkeys(("column", "columns", "against", "marks"), "column"),
    **dict.fromkeys(("references", "learners"), "column"),
    **dict.fromkeys(("protocol", "protocols", "also"), "protocol"),
    **dict.fromkeys(("metric", "metrics", "axis"), "metric"),
}  # fmt: skip


def _check_references(table: PaperTable, where: str) -> None:
    """Refuse names that the table uses but does not define, and those that it defines twice."""
    names = table.names
    for what in ("row", "column", "protocol"):
        if not names[what]:
            raise InputError(f"{where}: {what}s: expected at least one entry, found none.")
        for name in names[what]:
            if list(names[what]).count(name) > 1:
                raise InputError(f"{where}: {what}s: the name {name} is given twice.")
    for words, what, given in _references(table):
        check_known(f"{where}: {what} of {words}", given, names[what])
    for figure in table.figures:
        figure.check(table, where)
    for claim in table.claims:
        check_claim(claim, table, where)


def _references(table: PaperTable) -> Iterator[tuple[str, str, Iterable[str]]]:
    """Yield the names that parts of the table use: what the part is called, of what, the names."""
    for place in table.published:
        for what, name in zip(("row", "column", "metric"), place, strict=True):
            yield "published", what, [name]
    lists = (table.columns, table.protocols, table.ledger, table.figures, table.claims,
             table.comparisons, (table.sweep, table.baseline, table.ranking))  # fmt: skip
    parts: Iterable[Any] = itertools.chain(*lists)
    for part in filter(None, parts):
        words = f"{type(part).__name__.lower()} {getattr(part, 'name', '')}".strip()
        for item in fields(part):
            given = getattr(part, item.name) or ()
            if item.name in _NAMES:
                yield words, _NAMES[item.name], (given,) if isinstance(given, str) else given
    for label, rows in (table.ranking.groups if table.ranking else {}).items():
        yield f"group {label} of the ranking", "row", rows
    if table.as_printed is not None:
        yield "as_printed", "protocol", [table.as_printed]


def _text(found: Any, where: Where) -> str:
    """Read a text; whatever is no list and no mapping is one."""
    if found is None or isinstance(found, Mapping | list):
        raise InputError(f"{where}={found!r} must be a text.")
    return " ".join(str(found).split())


def _number(found: Any, where: Where) -> float:
    """Read a finite number; a whole one stays one, which is another override than its float."""
    if not _is_number(found):
        raise InputError(f"{where}={found!r} must be a number.")
    return found


def _is_number(found: object) -> bool:
    """Tell whether a value is a finite number, which true and false are not."""
    return isinstance(found, int | float) and not isinstance(found, bool) and isfinite(found)


def _published(found: Any, where: Where) -> dict[tuple[str, str, str], Published]:
    """Read ``row: {column: {metric: [mean, std] or [mean]}}``."""
    tree = value(Mapping[str, Mapping[str, Mapping[str, Published]]], found, where)
    return {
        (row, column, metric): number
        for row, of_row in tree.items()
        for column, of_column in of_row.items()
        for metric, number in of_column.items()
    }


def _published_number(found: Any, where: Where) -> Published:
    """Read ``[mean, std]`` or ``[mean]``; a mean in quotes keeps its digits, and may be bold.

    So ``["34.40"]`` is printed with its last digit, and ``["**86.6**", 3.4]`` in bold.
    """
    fits = isinstance(found, list) and len(found) in (1, 2)
    printed = _PRINTED.fullmatch(found[0]) if fits and isinstance(found[0], str) else None
    values = [float(printed["mean"]), *found[1:]] if printed else found
    if not fits or not all(map(_is_number, values)):
        raise InputError(f"{where}={found!r} must be [mean] or [mean, std].")
    mean, std = float(values[0]), float(values[1]) if len(values) == 2 else None
    if printed is None:
        return Published(mean, std)
    return Published(mean, std, len(printed["digits"] or ""), printed["bold"] is not None)


def _figure(found: Any, where: Where) -> Figure:
    """Read a figure by the options of its kind."""
    kind = str(where.mapping(found).get("kind"))
    check_known(f"{where}: kind", [kind], Figure.kinds)
    return read(Figure.kinds[kind], found, where)


class TableWhere(Where):
    """A place in the YAML of a table, named by its file and the keys that lead to it."""

    rules: ClassVar[Mapping[Any, Rule]] = {
        str: _text,
        float: _number,
        int: Whole(1),
        bool: flag,
        Published: _published_number,
        Figure: _figure,
        Mapping[tuple[str, str, str], Published]: _published,
    }

    def __str__(self) -> str:
        return ": ".join(self.parts)
