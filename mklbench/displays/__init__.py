"""Pictures of models, with the scikit-learn API: ``WeightsDisplay.from_estimator(model)``.

- `WeightsDisplay`: the kernels in use by name, largest weight first.
- `PathDisplay`: the weights along C.
- `AlignmentDisplay`: how alike kernels are.
- `ConvergenceDisplay`: objective and gap along the SVM calls of a fit.

Each keeps what it draws, so that it can be drawn again: ``display.plot(ax=ax)``. An estimator may
also be a pipeline or a search that ends in one of mklbench. matplotlib is imported when something
is drawn.

May import `estimators` and what is below; it is imported by users only.
"""

from mklbench.displays.alignment import AlignmentDisplay
from mklbench.displays.convergence import ConvergenceDisplay
from mklbench.displays.weights import PathDisplay, WeightsDisplay

__all__ = ["AlignmentDisplay", "ConvergenceDisplay", "PathDisplay", "WeightsDisplay"]
