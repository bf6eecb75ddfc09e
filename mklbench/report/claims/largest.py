"""The claim on the largest value of any split."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from mklbench.experiments.record import DONE
from mklbench.report.analysis.assemble import Report
from mklbench.report.analysis.cpu_models import cpu_models
from mklbench.report.claims.judged import Judged
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.paper_table import Claim


@dataclass(frozen=True, kw_only=True)
class Largest(Claim):
    """Measured is the largest value of any split in its columns."""

    kind: str = "largest"

    def judge(self, report: Report) -> Judged:
        """The largest value of any split."""
        metric = METRICS[self.metric]
        cells = {
            f"{slot.row.label}, {slot.column.label}": found
            for slot, found in report.slots.values()
            if slot.column.name in self.columns and found.status == DONE and found.values(metric)
        }
        values = {name: found.values(metric) for name, found in cells.items()}
        quantity = f"largest {metric.heading}"
        if not values:
            return Judged(self, quantity, None)
        place = max(values, key=lambda name: max(values[name]))
        every = [value for of_cell in values.values() for value in of_cell]
        details = f"{place}; median of {len(every)} splits {statistics.median(every):.3g}"
        if metric.is_time and report.timed_on.others:
            details += f"; timed on {' and '.join(cpu_models(cells[place].done))}"
        return Judged(self, quantity, max(values[place]), details)
