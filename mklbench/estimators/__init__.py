"""Scikit-learn estimators around the algorithms: ``SimpleMKL(C=10).fit(X, y)``.

Each class validates as scikit-learn does, builds its bank or family from the training samples,
calls the ``solve`` of its algorithm once a binary problem, and predicts. More than two classes are
handled by one-versus-rest on one shared bank.

The parameter ``kernel`` is the name of a bank ("gaussian", "feature_gaussians",
"linear_features", "simplemkl", "single", "separate", "precomputed") or of a family ("product",
"products", "isotropic"), or any callable that takes training samples and returns one, such as
``functools.partial(mklbench.kernels.feature_gaussians, gammas=[0.1, 1.0])`` or
``mklbench.kernels.Normalised("simplemkl")``. Own Gram matrices go in two ways:

- ``kernel="precomputed"``: `X` is one Gram matrix (n, n), or a stack (M, n, n); at prediction it is
  the cross Gram matrix (n_new, n), or the stack (M, n_new, n).
- ``kernel=mklbench.kernels.Precomputed(K)`` with K (M, N, N) on a whole data set: `X` is a column
  of row numbers into K, so that scikit-learn's splitters and searches work as they do on features.

May import `algorithms`, `multiclass` and what is below; it is imported by users only.
"""

from typing import TYPE_CHECKING

from mklbench.estimators import families, groups, ridge, simplex, two_stage
from mklbench.estimators.families import *
from mklbench.estimators.groups import *
from mklbench.estimators.ridge import *
from mklbench.estimators.simplex import *
from mklbench.estimators.two_stage import *

if not TYPE_CHECKING:  # a checker follows the modules, each of which lists its own
    __all__ = [
        name for module in (families, groups, ridge, simplex, two_stage) for name in module.__all__
    ]
