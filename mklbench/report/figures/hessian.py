"""The figure of QN-PKL's Hessian along a descent: Picard et al. 2012, section 4.

It shows the smallest and the largest eigenvalue of the Hessian of the SVM's dual objective in
gamma, on the first training part of each data set. It is computed, not drawn from records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklbench.report.analysis.assemble import Place, Report
from mklbench.report.figures.style import BLUE, INK, ORANGE, Canvas, legend_outside, panels
from mklbench.report.table.paper_table import Figure

ITERATIONS = range(31)


@dataclass(frozen=True, kw_only=True)
class Hessian(Figure):
    """Both ends of the spectrum, one panel a row, from gamma = `start` at C = 1."""

    kind: str = "hessian"
    of_records: ClassVar[bool] = False
    start: float = 0.1

    def needs(self, report: Report) -> set[Place]:
        """Return nothing: it is computed from the data alone."""
        return set()

    def draw(self, report: Report) -> Canvas:
        """Draw the eigenvalues against the iterations.

        Raises
        ------
        DataError
            If a data set is not at hand.
        """
        # What computes is imported here: whoever reads a table imports every kind of figure.
        from mklbench.algorithms import qnpkl
        from mklbench.data.preprocessing import fit_scaling
        from mklbench.experiments.cell import Cell
        from mklbench.kernels import product_gaussians
        from mklbench.optim.svm_value import product_hessian

        rows = report.table.rows
        canvas, [axes] = panels(2.4 * len(rows), 2.7, 1, len(rows), sharey=True)
        for row, axis in zip(rows, axes, strict=True):
            slot = next(slot for slot, _ in report.slots.values() if slot.row == row)
            cell = Cell.from_overrides(slot.overrides)
            data, (train, _) = cell.dataset(), cell.rows(0)
            scaling = fit_scaling(cell.config.split.scaling, data.X[train])
            X, y = scaling.transform(data.X[train]), np.where(data.y[train] == 1, 1.0, -1.0)
            options = {**qnpkl.PRINTED, "start": self.start}
            path = qnpkl.solve_path(product_gaussians(X), y, ITERATIONS, C=1.0, **options)
            spectra = [np.linalg.eigvalsh(product_hessian(X, s.weights, s.dual_coef)) for s in path]
            for place, colour, label in ((-1, BLUE, "largest"), (0, ORANGE, "smallest")):
                values = [spectrum[place] for spectrum in spectra]
                axis.plot(ITERATIONS, values, color=colour, marker="o", markersize=3, lw=1.3,
                          label=f"{label} eigenvalue")  # fmt: skip
            axis.axhline(0.0, color=INK, lw=0.8, zorder=0)
            axis.set_yscale("symlog", linthresh=0.01)
            axis.set_title(row.label, loc="left")
            axis.set_xlabel("iteration")
        legend_outside(canvas, axes[-1], 2)
        return canvas
