"""What the papers print for a run: the position of their tables that it fills or comes nearest to.

A run takes a moment, so only tables that name its data set are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from mklbench import config as configs
from mklbench import resources
from mklbench.experiments.identity import identity_of
from mklbench.experiments.record import Record
from mklbench.experiments.run import Run
from mklbench.report.layout.entries import format_sample
from mklbench.report.loading import load_table
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import PaperTable, Slot
from mklbench.report.table.verdict import Sample, Verdict


@dataclass(frozen=True)
class Nearest:
    """A position of a paper's table, and how a run of that algorithm and data set differs from it.

    `differences` are the options of the position that the run has otherwise, as overrides; none
    where the run is the one that fills it. `metric` is what the paper prints.
    """

    table: PaperTable
    slot: Slot
    metric: str
    differences: tuple[str, ...]

    def beside(self, records: Sequence[Record]) -> str:
        """Return the paper's number and that of finished records, the verdict and the protocol."""
        metric = METRICS[self.metric]
        published = self.table.published[self.slot.row.name, self.slot.column.name, metric.name]
        measured = Sample.of(list(metric.by_split(records).values()))
        assert measured is not None
        verdict = self.table.judge(self.slot.row, metric, published, measured, records)
        judged = "" if verdict is Verdict.NO_SPREAD else f": {verdict}"
        texts = (format_sample(metric, sample) for sample in (published, measured))
        theirs, ours = (f"{text} {metric.unit}".rstrip() for text in texts)
        label, other = self.slot.protocol.label, " ".join(self.differences)
        protocol = f"nearest protocol: {label})\n  which has {other}"
        return (
            f"{self.table.title.partition(':')[0]}: {metric.label} {theirs}; here {ours}{judged} "
            f"({protocol if other else f'protocol: {label})'}\n"
            f"  whole table: mklbench table {self.table.name} --recorded"
        )


def position_of(run: Run) -> Nearest | None:
    """Return the position of a paper's table that is nearest to a run; None if there is none.

    That is the one that differs in the fewest options, first of all in those of its column, then in
    choices of groups.
    """
    mine = identity_of(run.config, "")
    target = mine["algo"]["_target_"]
    found = [
        Nearest(table, slot, metric, _differences(mine, other))
        for table, slot, metric, other in _candidates(run.data, target.split(".")[-2])
        if other["algo"]["_target_"] == target
    ]

    def distance(nearest: Nearest) -> tuple[int, int, int]:
        named = {text.partition("=")[0].lstrip("+") for text in nearest.slot.column.overrides}
        differing = [text.partition("=")[0] for text in nearest.differences]
        choices = sum("." not in name for name in differing)
        return sum(name in named for name in differing), choices, len(differing)

    return min(found, key=distance, default=None)


@cache
def _candidates(data: str, algo: str) -> Sequence[tuple[PaperTable, Slot, str, Mapping[str, Any]]]:
    """Return the positions of a data set with a published number: its metric and identity.

    Only those of configs that are named after the module `algo` are composed.
    """
    found = []
    for name, path in resources.choices("table").items():
        text = path.read_text(encoding="utf-8")
        if "\npublished:" not in text or f"data={data}" not in text or '"Beyond ' in text:
            continue  # what goes beyond a paper prints its numbers again
        table = load_table(name)
        for slot in table.slots():
            if f"data={data}" not in slot.overrides or not any(
                override.startswith(f"algo={algo}") for override in slot.overrides
            ):
                continue
            printed = [
                name
                for name in slot.column.metrics
                if (slot.row.name, slot.column.name, name) in table.published
                and not METRICS[name].compared_by_ratio
            ]
            if printed:
                identity = identity_of(configs.config_of(slot.overrides), "")
                found.append((table, slot, printed[0], identity))
    return found


def _differences(mine: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what `other` has otherwise, as overrides; of another choice of a group its name."""
    found: list[str] = []
    for group in configs.GROUPS:
        one, two = (_flat(each[group]) for each in (mine, other))
        if one.get("name") != two.get("name"):
            found.append(f"{group}={two.get('name')}")
            continue
        names = (name for name in {**two, **one} if one.get(name) != two.get(name))
        found += [f"{group}.{name}={two.get(name)}".replace(", ", ",") for name in names]
    return tuple(found)


def _flat(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a group, with one for each key of a grid."""
    flat = {name: value for name, value in options.items() if name != "grid"}
    return flat | {f"grid.{path}": values for path, values in (options.get("grid") or {}).items()}
