"""The figures that are computed from data, not drawn from records.

One is QN-PKL's Hessian along a descent (Picard et al. 2012, section 4): the smallest and the
largest eigenvalue of the Hessian of the SVM's dual objective in gamma, on the first training part
of each data set. The other is NKRR's objective over the weights of two kernels (Cortes et al. 2009,
Figure 1): F(mu) = y'(K_mu + lambda I)^-1 y of the quadratic combination on all samples of a data
set, with the linear kernels of its first two features, for mu in [0, 1]^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mklbench.report.analysis.assemble import Report
from mklbench.report.figures.draw import BLUE, INK, ORANGE, Canvas, legend_outside, panels
from mklbench.report.table.paper_table import NOT_GIVEN, Figure

ITERATIONS = range(31)


@dataclass(frozen=True, kw_only=True)
class Hessian(Figure):
    """Both ends of the spectrum, one panel a row, from gamma = `start` at C = 1."""

    kind: str = "hessian"
    of_records: ClassVar[bool] = False
    start: float = 0.1

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
        from mklbench.experiments.run import Run
        from mklbench.kernels import product_gaussians
        from mklbench.optim.svm_value import product_hessian

        rows = report.table.rows
        canvas, [axes] = panels(2.4 * len(rows), 2.7, 1, len(rows), sharey=True)
        for row, axis in zip(rows, axes, strict=True):
            slot = next(slot for slot, _ in report.slots.values() if slot.row == row)
            run = Run.from_overrides(slot.overrides)
            data, (train, _) = run.dataset(), run.rows(0)
            scaling = fit_scaling(run.config.split.scaling, data.X[train])
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


# The ranges of the vertical axes that the paper prints, by lambda.
RANGES = {1.0: (195.0, 210.0), 10.0: (20.0, 21.0), 100.0: (2.06, 2.09)}
N_GRID = 33


@dataclass(frozen=True, kw_only=True)
class Surface(Figure):
    """NKRR's objective over two kernels, on the data of `row`."""

    kind: str = "surface"
    of_records: ClassVar[bool] = False
    row: str = NOT_GIVEN

    def draw(self, report: Report) -> Canvas:
        """Draw one panel a lambda, with the faces where F is not convex in another colour.

        Raises
        ------
        DataError
            If the data set of the figure's row is not at hand.
        """
        from matplotlib.colors import to_rgb
        from matplotlib.figure import Figure as NewCanvas
        from matplotlib.patches import Patch

        # What computes is imported here: whoever reads a table imports every kind of figure.
        from mklbench.data.preprocessing import fit_scaling
        from mklbench.experiments.run import Run
        from mklbench.kernels import linear_features
        from mklbench.optim.ridge import on_grid

        row_slots = (slot for slot, _ in report.slots.values() if slot.row.name == self.row)
        data = Run.from_overrides(next(row_slots).overrides).dataset()
        features = data.X[:, :2]
        unit_box = fit_scaling("unit", features).transform(features)
        bank, y = linear_features(unit_box), np.where(data.y == 1, 1.0, -1.0)

        axis = np.linspace(0.0, 1.0, N_GRID)
        first, second = np.meshgrid(axis, axis, indexing="ij")
        canvas = NewCanvas(figsize=(9.6, 3.4))
        for place, (lam, printed) in enumerate(RANGES.items()):
            values, curvatures = on_grid(bank, y, axis, lam)
            panel = canvas.add_subplot(1, len(RANGES), place + 1, projection="3d")
            is_bent = (curvatures < 0.0)[..., None]
            colours = np.where(is_bent, to_rgb(ORANGE), to_rgb(BLUE))
            panel.plot_surface(first, second, values, facecolors=colours, rcount=N_GRID,
                               ccount=N_GRID, shade=False, linewidth=0.3,
                               edgecolor=(1.0, 1.0, 1.0, 0.6))  # fmt: skip
            panel.view_init(elev=22, azim=40)
            panel.set_xlabel(r"$\mu_1$", labelpad=-4)
            panel.set_ylabel(r"$\mu_2$", labelpad=-4)
            panel.set_zlabel(r"$F(\mu)$", labelpad=0)
            panel.set_xticks([0.0, 0.5, 1.0])
            panel.set_yticks([0.0, 0.5, 1.0])
            panel.tick_params(pad=-1, labelsize=7)
            panel.tick_params(axis="z", pad=3)
            panel.locator_params(axis="z", nbins=4)
            panel.set_title(f"$\\lambda$ = {lam:g}", y=0.98)
            panel.set_zlim(min(printed[0], values.min()), max(printed[1], values.max()))
        parts = {"convex": BLUE, "not convex: the Hessian has a negative eigenvalue": ORANGE}
        canvas.legend(handles=[Patch(color=c, label=n) for n, c in parts.items()],
                      loc="lower center", ncols=2)  # fmt: skip
        canvas.subplots_adjust(left=0.06, right=0.99, bottom=0.06, top=1.04, wspace=0.2)
        return canvas
