"""Scikit-learn estimators around the algorithms: ``SimpleMKL(C=10).fit(X, y)``.

Each class validates as scikit-learn does, builds its bank or family from the training samples,
calls the ``solve`` of its algorithm once a binary problem, and predicts. More than two classes are
handled by one-versus-rest on one shared bank.

The parameter ``kernel`` is the name of a kernel as in scikit-learn ("linear", "poly", "rbf",
"laplacian", "cosine", "chi2"), of a bank ("gaussian", "feature_gaussians", "linear_features",
"simplemkl", "single", "separate", "precomputed") or of a family ("product",
"products", "isotropic"), or any callable that takes training samples and returns one, such as
``functools.partial(mklbench.kernels.feature_gaussians, gammas=[0.1, 1.0])`` or
``mklbench.kernels.Normalised("simplemkl")``. It may also be a function of two sets of samples
(`sklearn.metrics.pairwise.rbf_kernel`), a kernel function (``Gaussian()``), or a list of kernels on
columns of their own, ``[("age", Gaussian(), ["age"]), ("colour", Linear(), ["colour"],
OneHotEncoder()), rbf_kernel]``: see `mklbench.kernels.KernelList` and docs/kernels-on-columns.md.

Own Gram matrices go in two ways:

- ``kernel="precomputed"``: `X` is one Gram matrix (n, n), or a stack (M, n, n) or (n, n, M); at
  prediction it is the cross Gram matrix (n_new, n), or the stack (M, n_new, n) or (n_new, n, M).
  scikit-learn's splitters and searches take rows and columns of an (n, n), of an (n, n, M) and of
  ``mklbench.kernels.GramStack(K)``, which gives K (M, n, n) that shape without a copy. A bare
  (M, n, n) they refuse before an estimator is asked ("inconsistent numbers of samples").
- ``kernel=mklbench.kernels.Precomputed(K)`` with K (M, N, N) on a whole data set: `X` are row
  numbers into K, (n,) or a column, so that splitters and searches work as they do on features.

``fit(X, y, sample_weight=...)`` and the parameter ``class_weight`` are factors on C, or on squared
errors: 0 leaves a row out, and a weight of 2 is the row twice in the machine. What is computed
before it counts each row that is not left out once: unit traces, alignments, medians and folds.

Parameters are checked before any work is done, and so are class labels: what looks like real
targets is refused by classifiers (`mklbench.estimators.checks.check_classes` has the rule).

May import `algorithms`, `multiclass` and what is below; it is imported by users only.
"""

from typing import TYPE_CHECKING

from mklbench.estimators import families, margins, one_class, ridge, simplex, two_stage
from mklbench.estimators.families import *
from mklbench.estimators.margins import *
from mklbench.estimators.one_class import *
from mklbench.estimators.ridge import *
from mklbench.estimators.simplex import *
from mklbench.estimators.two_stage import *

if not TYPE_CHECKING:  # a checker follows the modules, each of which lists its own
    _modules = (families, margins, one_class, ridge, simplex, two_stage)
    __all__ = [name for module in _modules for name in module.__all__]
