"""``mklbench data``: what the data sets are, where they are, and whether they are intact."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from mklbench import resources
from mklbench.data import catalogue
from mklbench.errors import DataError, unknown


def run(action: str, names: Sequence[str]) -> int:
    """Carry out "list", "fetch" or "verify" for the named sets, or for all; return the status."""
    directory = resources.configs() / "data"
    configs = catalogue.read_configs(directory)
    for name in names:
        if name not in configs:
            raise unknown("data", name, configs)
    chosen = {name: config for name, config in configs.items() if not names or name in names}
    if action == "list":
        return _list(catalogue.list_rows(directory), set(chosen))
    return {"fetch": _fetch, "verify": _verify}[action](chosen)


def _list(rows: list[dict[str, Any]], chosen: set[str]) -> int:
    columns = ["name", "n", "d", "classes", "where", "handling", "licence", "title"]
    _print_table(
        [[row[column] for column in columns] for row in rows if row["name"] in chosen], columns
    )
    return 0


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


def _print_table(body: list[list[Any]], headers: list[str]) -> None:
    from tabulate import tabulate

    print(tabulate(body, headers))
