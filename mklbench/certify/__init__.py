"""Certificates of optimality, computed from a solution's numbers alone.

No algorithm grades itself: each returned gap is computed here from the weights, the dual
coefficients and the intercept. `losses` has the losses and their duals; `duality` bounds every
convex problem of a loss and a penalty; `weights` bounds what is a function of the kernel weights
alone, such as an alignment, and measures KKT residuals where there is nothing to bound.

May import `penalties`, `kernels` and `solution`; it is imported by `optim`, `algorithms` and
`one_class`.
"""

from mklbench.certify.duality import Bounds, PrimalDualPoint, bounds
from mklbench.certify.losses import Hinge, Logistic, Loss, OneClass, Squares, Tube, hinge_loss
from mklbench.certify.weights import (
    alignment_bounds,
    frank_wolfe_bounds,
    kkt_residual,
    ratio_bounds,
    semidefinite_alignment_bounds,
)

__all__ = [
    "Bounds", "Hinge", "Logistic", "Loss", "OneClass", "PrimalDualPoint", "Squares", "Tube",
    "alignment_bounds", "bounds", "frank_wolfe_bounds", "hinge_loss", "kkt_residual",
    "ratio_bounds", "semidefinite_alignment_bounds",
]  # fmt: skip
