"""What the scripts of the page read: tables, cells, data sets, and numbers, as one JSON object."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import Any

from mklbench import resources
from mklbench.experiments.store import Store
from mklbench.report.analysis.significance import LEVEL, critical_difference
from mklbench.report.site.cells import SHOWN, Cells, rounded
from mklbench.report.site.collected import Collected, loose_records
from mklbench.report.site.numbers import VERDICTS
from mklbench.report.site.sets import describe_sets
from mklbench.report.table.metrics import METRICS

# What `make bench` measured of solvers along their tolerances.
DESCENTS = "figures/bench_gaps.csv"


def content(
    collected: Sequence[Collected],
    cells: Cells,
    numbers: Sequence[dict[str, object]],
    store: Store | None,
    config_dir: str | None,
) -> dict[str, Any]:
    """Return what the page knows, to be embedded as JSON.

    Parameters
    ----------
    collected : sequence of Collected
        The tables.
    cells : Cells
        Those of all tables; cells of `store` that stand in none are added.
    numbers : sequence of dict
        What is told of each number (`mklbench.report.site.numbers`).
    store : Store or None
        The reader's own results, if there are any.
    config_dir : str or None
        A directory of the reader's own configs.
    """
    tables = [_table(one, cells) for one in collected]
    if store is not None:
        loose = [cells.add(records) for records in loose_records(store, list(collected))]
        if loose:
            tables.append(_own_table(cells, loose))
    n_methods = max((len(table["columns"]) for table in tables), default=2)
    return {
        "tables": tables,
        "metrics": {
            name: {"heading": METRICS[name].heading, "lower": METRICS[name].lower_is_better}
            for name in SHOWN
        },
        "cells": cells.content,
        "numbers": list(numbers),
        "verdicts": VERDICTS,
        "sets": describe_sets(sorted({cell["data"] for cell in cells.content}), config_dir),
        "descents": list(_descents()),
        # Of two mean ranks over one set, by the number of methods: over N sets it is the square
        # root of N times smaller.
        "critical": {n: rounded(critical_difference(n, 1), 6) for n in range(2, n_methods + 1)},
        "level": LEVEL,
    }


def _table(one: Collected, cells: Cells) -> dict[str, Any]:
    """Return the labels of a table, and its cells as [row, column, protocol, cell]."""
    table = one.table
    at = {
        what: {name: i for i, name in enumerate(table.names[what])}
        for what in ("row", "column", "protocol")
    }
    places = []
    for report, own in ((one.recorded, False), (one.own, True)):
        for slot, found in () if report is None else report.slots.values():
            if own and not found.records:
                continue
            row, column, protocol = slot.place
            number = cells.number(slot, found, own=own)
            places.append([at["row"][row], at["column"][column], at["protocol"][protocol], number])
    return {
        "name": table.name,
        "title": table.title,
        "rows": [row.label for row in table.rows],
        "columns": [column.label for column in table.columns],
        "protocols": [protocol.label for protocol in table.protocols],
        "places": places,
    }


def _own_table(cells: Cells, numbers: Sequence[int]) -> dict[str, Any]:
    """Return a table of the cells of a store that stand in no other."""
    found = [cells.content[number] for number in numbers]
    rows = list(dict.fromkeys(cell["data"] for cell in found))
    columns = list(dict.fromkeys(f"{cell['algo']}, {cell['kernel']}" for cell in found))
    protocols = list(dict.fromkeys(f"{cell['search']}, {cell['key']}" for cell in found))
    return {
        "name": "",
        "title": "Cells of your store that stand in no table",
        "rows": rows,
        "columns": columns,
        "protocols": protocols,
        "places": [
            [
                rows.index(cell["data"]),
                columns.index(f"{cell['algo']}, {cell['kernel']}"),
                protocols.index(f"{cell['search']}, {cell['key']}"),
                number,
            ]
            for number, cell in zip(numbers, found, strict=True)
        ],
    }


def _descents() -> Iterator[dict[str, Any]]:
    """Yield the gap that solvers reach against their SVM calls, where that was measured."""
    path = resources.recorded_results() / DESCENTS
    if not path.is_file():
        return
    with path.open(newline="", encoding="utf-8") as stream:
        for line in csv.DictReader(stream):
            yield {
                "data": line["data"],
                "kernels": int(line["n_kernels"]),
                "solver": line["solver"],
                "gap": rounded(float(line["gap"]), 4),
                "calls": int(line["svm_calls"]),
                "seconds": rounded(float(line["cpu_seconds"]), 3),
            }
