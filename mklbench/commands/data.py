"""``mklbench data``: what the data sets are, where they are, and whether they are intact."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import Any

from mklbench import resources
from mklbench.data import catalogue
from mklbench.errors import DataError, unknown

# What a terminal that is too narrow is spared, the first first; and what a column needs at least.
_SPARED = ("licence", "handling", "title", "classes")
_LEAST = {"classes": 14, "handling": 14, "licence": 10, "title": 14}

_GAP = 2
# Rows and columns that `show` prints.
_SHOWN = 6


def run(action: str, names: Sequence[str], config_dir: str | None = None) -> int:
    """Carry out "list", "fetch" or "verify" for the named sets, or for all; return the status.

    Parameters
    ----------
    action : {"list", "fetch", "verify"}
        What to do.
    names : sequence of str
        Of data sets; none means all.
    config_dir : str or None, default=None
        A directory of the user's own configs, with data sets of their own in ``data/``.

    Raises
    ------
    InputError
        For a name that is not known, or a configuration with a mistake.
    """
    files = resources.choices("data", config_dir)
    for name in names:
        if name not in files:
            raise unknown("data", name, files)
    configs = catalogue.read_files(files[name] for name in files if not names or name in names)
    return {"list": _list, "fetch": _fetch, "verify": _verify}[action](configs)


def show(overrides: Sequence[str], config_dir: str | None = None) -> int:
    """Print what is understood of a data set, and its first rows; return the status.

    Parameters
    ----------
    overrides : sequence of str
        As for a run: ``data=csv data.path=mine.csv``, or the name of a data set.
    config_dir : str or None, default=None
        A directory of the user's own configs.

    Raises
    ------
    InputError
        For data that cannot be had or read.
    """
    import pandas as pd

    from mklbench import config as configs
    from mklbench.data import load, settle

    given = [text if "=" in text else f"data={text}" for text in overrides]
    config = configs.config_of(given, config_dir)["data"]
    data = load(settle(config, download=True))
    counts = ", ".join(f"{name}: {count}" for name, count in data.class_counts.items())
    lines = data.understood or (f"classes   {counts}", f"features  {data.X.shape[1]}",
                                f"rows      {len(data.y)}")  # fmt: skip
    print("\n".join(lines))
    rows = pd.DataFrame(data.X[:_SHOWN, :_SHOWN], columns=list(data.feature_names[:_SHOWN]))
    if data.X.shape[1] > _SHOWN:
        rows["..."] = "..."
    shown = data.targets if data.targets is not None else [data.classes[code] for code in data.y]
    rows["label"] = list(shown[:_SHOWN])
    if data.groups is not None:
        rows["group"] = data.groups[:_SHOWN]
    print(f"\n{rows.to_string(index=False)}")
    return 0


def _list(configs: dict[str, dict[str, Any]]) -> int:
    rows = catalogue.list_rows(configs)
    columns = ["name", "n", "d", "classes", "where", "handling", "licence", "title"]
    body = [[str("" if row[name] is None else row[name]) for name in columns] for row in rows]
    width = shutil.get_terminal_size((120, 24)).columns
    shown, widths = _fitting(columns, body, width)
    kept = [columns.index(name) for name in shown]
    lines = [[line[at] for at in kept] for line in body]
    _print_table(lines, shown, [width if name in _LEAST else None for name, width in widths])
    if spared := [name for name in columns if name not in shown]:
        print(f"No room for {', '.join(spared)}.")
    return 0


def _fitting(
    columns: Sequence[str], body: Sequence[Sequence[str]], width: int
) -> tuple[list[str], list[tuple[str, int]]]:
    """Return the columns that there is room for, and these with how wide each is to be."""
    natural = {
        name: max([len(name), *(len(line[at]) for line in body)]) for at, name in enumerate(columns)
    }
    least = {name: min(natural[name], _LEAST.get(name, natural[name])) for name in columns}
    shown = list(columns)
    for name in _SPARED:
        if sum(least[one] + _GAP for one in shown) - _GAP <= width:
            break
        shown.remove(name)
    widths = {name: natural[name] for name in shown}
    while sum(wide + _GAP for wide in widths.values()) - _GAP > width:
        spare = {name: wide for name, wide in widths.items() if wide > least[name]}
        if not spare:
            break
        widths[max(spare, key=lambda name: spare[name])] -= 1
    return shown, list(widths.items())


def _fetch(configs: dict[str, dict[str, Any]]) -> int:
    """Fetch each set; one that cannot be had does not stop the others."""
    failed = False
    for name, config in configs.items():
        try:
            fetched = catalogue.fetch(config)
        except DataError as error:
            print(f"mklbench: error: {name}: {error}", file=sys.stderr)
            failed = True
        else:
            print(f"{name}: {fetched.status} ({fetched.location})")
    return 1 if failed else 0


def _verify(configs: dict[str, dict[str, Any]]) -> int:
    found = [result for config in configs.values() for result in catalogue.verify(config)]
    _print_table(
        [[result.name, result.place, result.status, result.detail] for result in found],
        ["name", "place", "status", "content"],
    )
    return 1 if any(result.status == "damaged" for result in found) else 0


def _print_table(
    body: list[list[Any]], headers: list[str], widths: list[int | None] | None = None
) -> None:
    from tabulate import tabulate

    print(tabulate(body, headers, maxcolwidths=widths if body else None))
