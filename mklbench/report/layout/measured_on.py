"""Where records come from: machine, versions, revision and dates, each stated once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mklbench.experiments.record import Record

# Other in every run, or the date, which is shown as a range.
NOT_SHOWN = frozenset({"time", "started", "finished", "pid", "hostname", "host", "node", "job"})


def provenance_items(records: Sequence[Record]) -> list[tuple[str, Sequence[str]]]:
    """List every provenance field with its distinct values, and the range of the dates."""
    values: dict[str, dict[str, None]] = {}
    dates: set[str] = set()
    for record in records:
        for name, value in _flatten(record.provenance):
            if name.rpartition(".")[2] in NOT_SHOWN:
                if name == "time":
                    dates.add(str(value)[:10])
                continue
            values.setdefault(name, {})[_text(value)] = None
    items: list[tuple[str, Sequence[str]]] = [
        (name.replace("_", " "), ("; ".join(found),)) for name, found in sorted(values.items())
    ]
    if dates:
        first, last = min(dates), max(dates)
        items.append(("date", (first if first == last else f"{first} to {last}",)))
    return items


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and name != "versions":
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {version}" for name, version in value.items() if version)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return str(value)
