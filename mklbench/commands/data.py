"""``mklbench data``: what the data sets are, where they are, and whether they are intact."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from mklbench import resources, terminal
from mklbench.data import catalogue
from mklbench.errors import DataError, check_known

# What a terminal that is too narrow is spared, the first first.
_SPARED = ("licence", "title", "classes")

# Rows and columns that `show` prints.
_SHOWN = 6


def show_list(names: Sequence[str], config_dir: str | None = None) -> str:
    """Return a table of the named sets, or of all."""
    rows = map(catalogue.list_row, _configs(names, config_dir).values())
    columns = ["name", "n", "d", "classes", "where", "licence", "title"]
    body = [[str("" if row[name] is None else row[name]) for name in columns] for row in rows]
    width = terminal.width(default=120)
    return terminal.table(columns, body, width, wraps=_SPARED, spared=_SPARED, numbers=True)


def fetch(names: Sequence[str], config_dir: str | None = None) -> int:
    """Fetch each set; one that cannot be had does not stop the others."""
    failed = False
    for name, config in _configs(names, config_dir).items():
        try:
            fetched = catalogue.fetch(config)
        except DataError as error:
            print(f"mklbench: error: {name}: {error}", file=sys.stderr)
            failed = True
        else:
            print(f"{name}: {fetched}")
    return 1 if failed else 0


def verify(names: Sequence[str], config_dir: str | None = None) -> int:
    """Compare the content of sets with the published digests; return 1 if one is damaged."""
    configs = _configs(names, config_dir)
    found = [result for config in configs.values() for result in catalogue.verify(config)]
    headings = ["name", "place", "status", "content"]
    body = [[result.name, result.place, result.status, result.detail] for result in found]
    print(terminal.table(headings, body, None, numbers=True))
    return 1 if any(result.status == "damaged" for result in found) else 0


def _configs(names: Sequence[str], config_dir: str | None) -> dict[str, dict[str, Any]]:
    """Return the configs of the named sets, or of all.

    Raises
    ------
    InputError
        For a name that is not known, or a configuration with a mistake.
    """
    files = resources.choices("data", config_dir)
    check_known("data", names, files)
    return catalogue.read_files(files[name] for name in files if not names or name in names)


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
    config = configs.config_of(given, config_dir).data
    data = load(settle(config))
    print("\n".join(data.understood or [f"rows and features: {data.X.shape}"]))
    rows = pd.DataFrame(data.X[:_SHOWN, :_SHOWN], columns=list(data.feature_names[:_SHOWN]))
    if data.X.shape[1] > _SHOWN:
        rows["..."] = "..."
    shown = data.targets if data.targets is not None else [data.classes[code] for code in data.y]
    rows["label"] = list(shown[:_SHOWN])
    if data.groups is not None:
        rows["group"] = data.groups[:_SHOWN]
    print(f"\n{rows.to_string(index=False)}")
    return 0
