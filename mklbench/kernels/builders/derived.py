"""Builders of kernels on the views of a data set, and of those made from another builder's bank.

``Normalised("simplemkl", {"degrees": [1, 2]})(X)`` is the bank of `simplemkl`, centred and with a
diagonal of ones. What the base is called with, samples, rows or samples and views, these are called
with, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mklbench.errors import InputError, check_known, unknown
from mklbench.kernels.banks.views import DistanceBank, MatrixView, feature_views
from mklbench.kernels.banks.wrapped import (
    CentredBank,
    CombinedKernel,
    CosineBank,
    StandardisedBank,
    unit_trace,
)
from mklbench.kernels.base import Array, Bank
from mklbench.kernels.builders.forms import checked_bank
from mklbench.kernels.builders.grams import Precomputed, named_grams
from mklbench.kernels.builders.matrix_files import File, all_of, stated
from mklbench.kernels.builders.named import BUILDERS, KernelBuilder, resolve
from mklbench.kernels.contract import builder_of
from mklbench.kernels.gram_matrices import ASYMMETRY, symmetric
from mklbench.kernels.samples import row_numbers
from mklbench.validation import check_choice, check_training_features

# Five from 1e-4 to 1 on a logarithmic scale, as in the paper.
VSKL_GAMMAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)


@dataclass(eq=False, repr=False)
class Descriptors:
    """Builder of a `DistanceBank` from features, called with them and their views.

    Parameters
    ----------
    gammas : sequence of float, default=VSKL_GAMMAS
        Factors in exp(-gamma D / mean D), each of them for every view.
    distance : str or None, default=None
        "euclidean", "seuclidean" or "chi2" for all views (see `FeatureDistances`); None:
        of each view its own.
    normalise : bool, default=True
        Whether each kernel is divided by its training trace, as in the paper.
    """

    takes_views: ClassVar[bool] = True

    gammas: Sequence[float] = VSKL_GAMMAS
    distance: str | None = None
    normalise: bool = True

    def __call__(self, X: ArrayLike, views: Sequence[Any] = ()) -> Bank:
        """Return the bank on the training samples `X` (n, d); without views all are one view."""
        samples = check_training_features("X", X)
        bank = DistanceBank(samples, feature_views(samples, views, self.distance), self.gammas)
        return unit_trace(bank) if self.normalise else bank


class MatrixDescriptors:
    """Builder of a `DistanceBank` from distances in files, called with row numbers.

    Parameters
    ----------
    files : str or sequence of str
        Path of the file, or of several; each matrix in them is a view, and its kernels are a group.
    gammas : sequence of float, default=VSKL_GAMMAS
        Factors in exp(-gamma D / mean D), each of them for every view.
    normalise : bool, default=True
        Whether each kernel is divided by its training trace.
    array : str, sequence of str or None, default=None
        Names of the variables to take from each file; None: the stack of the file, or every matrix
        (`matrices`).

    Raises
    ------
    InputError
        A file cannot be read or holds no matrix, or a matrix is not square, not finite, not
        symmetric, has entries below 0, a diagonal other than 0 or another size than the first.
    """

    takes_rows = True
    new_options = ("array",)

    def __init__(
        self,
        files: str | Sequence[str],
        gammas: Sequence[float] = VSKL_GAMMAS,
        normalise: bool = True,
        array: str | Sequence[str] | None = None,
    ) -> None:
        self._whole, self._names = _distances(*stated(files, array))
        self.n_samples = self._whole.shape[1]
        self.rows_of = partial(row_numbers, n=self.n_samples)
        self._gammas = gammas
        self._normalise = normalise

    def __call__(self, rows: ArrayLike) -> Bank:
        """Return the bank whose training samples are `rows` (n,) of the data set."""
        views = [MatrixView(*each) for each in zip(self._names, self._whole, strict=True)]
        bank = DistanceBank(rows, views, self._gammas)
        return unit_trace(bank) if self._normalise else bank


class OneView(Descriptors):
    """Builder of the Gaussian exp(-gamma D / mean D) of one view, or of all features as one.

    Parameters
    ----------
    view : str or None, default=None
        The name of the view; None: all features, those of the training part at variance 1.
    gamma : float, default=1.0
        The factor.
    """

    def __init__(self, view: str | None = None, gamma: float = 1.0) -> None:
        super().__init__((gamma,), "seuclidean" if view is None else None, normalise=False)
        self._view = view

    def __call__(self, X: ArrayLike, views: Sequence[Any] = ()) -> Bank:
        """Return the bank of one kernel on the training samples `X` (n, d).

        Raises
        ------
        InputError
            If no view has the name.
        """
        chosen = [view for view in views if view.name == self._view]
        if self._view is not None and not chosen:
            raise unknown("kernel.view", self._view, [view.name for view in views])
        return super().__call__(X, chosen)


@lru_cache(maxsize=2)
def _distances(files: tuple[File, ...], names: tuple[str, ...] | None) -> tuple[Array, list[str]]:
    """Return the distances (V, N, N) in all files, and their names (V,)."""
    found, _ = all_of(files, names)
    given = named_grams(found, "kernel.files")
    given.check_finite(given.matrices)
    for m, matrix in enumerate(given.matrices):
        rounding, of_itself = ASYMMETRY * matrix.max(), np.abs(matrix.diagonal()).max()
        if matrix.min() < -rounding or of_itself > rounding:
            raise InputError(
                f"{given.called(m)} has entries from {matrix.min():g} on, and up to {of_itself:g} "
                "between a sample and itself: distances are >= 0 and there 0, for Gram matrices "
                "choose kernel=grams."
            )
    symmetrical = [symmetric(given.called(m), matrix) for m, matrix in enumerate(given.matrices)]
    whole = np.maximum(symmetrical, 0.0)
    whole.setflags(write=False)
    return whole, list(found)


# Kernels whose builders are made first, from the options, and then called with the samples.
_FACTORIES: dict[str, Callable[..., Callable[..., Any]]] = {
    "views": partial(Descriptors, gammas=(1.0,), normalise=False),
    "descriptors": Descriptors,
}


@dataclass(eq=False, repr=False)
class _MadeFrom:
    """What the builders share.

    Parameters
    ----------
    base : str or KernelBuilder, default="feature_gaussians"
        Name of a builder (`mklbench.kernels.BUILDERS`), or "views" or "descriptors"
        (`Descriptors`), or a builder itself.
    options : mapping of str to object or None, default=None
        Keyword arguments of the builder that is named; for "precomputed" those of
        `Precomputed`, the file ``K`` among them.

    Raises
    ------
    InputError
        If the base is not known, or does not have such options.
    """

    base: str | KernelBuilder = "feature_gaussians"
    options: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        self._base = _builder(self.base, dict(self.options or {}))
        declared = builder_of(self._base)
        self.takes_rows, self.takes_views = declared.takes_rows, declared.takes_views
        self.rows_of, self.takes_few = declared.rows_of, declared.takes_few

    def _bank(self, X: ArrayLike, *views: Any) -> Bank:
        return checked_bank(self._base(X, *views), self._base)


def _builder(base: str | KernelBuilder, options: dict[str, Any]) -> Callable[..., Any]:
    """Return the builder that `base` names with its options bound, or `base` itself."""
    if callable(base):
        if options:
            raise InputError(
                f"options={options} are for a base that is named: bind those of a function by "
                "functools.partial."
            )
        return base
    check_choice("kernel.base", base, [*BUILDERS, *_FACTORIES])
    # Gram matrices of a whole data set are an option, those of a training part the samples.
    whole = base == "precomputed" and "K" in options
    factory = Precomputed if whole else _FACTORIES.get(base)
    accepted = set(inspect.signature(factory or BUILDERS[base]).parameters) - {"X"}
    check_known("kernel.options", options, accepted)
    return factory(**options) if factory else resolve(base, **options)


@dataclass(eq=False, repr=False)
class Normalised(_MadeFrom):
    """Builder of a bank's kernels after centring and cosine normalisation, in this order.

    Parameters
    ----------
    base : str or KernelBuilder, default="feature_gaussians"
        Name of a builder of a bank (`mklbench.kernels.BUILDERS`), or "views" or "descriptors"
        (`Descriptors`), or a builder itself.
    options : mapping of str to object or None, default=None
        Keyword arguments of the builder that is named; for "precomputed" those of
        `Precomputed`, the file ``K`` among them.
    centre : bool, default=True
        Whether the mean of the training samples becomes the origin (`CentredBank`).
    cosine : bool, default=True
        Whether all diagonals become ones (`CosineBank`).

    Raises
    ------
    InputError
        If the base is not known, or does not have such options.
    """

    centre: bool = True
    cosine: bool = True

    def __call__(self, X: ArrayLike, *views: Any) -> Bank:
        """Return the bank on the training samples `X`."""
        bank = self._bank(X, *views)
        if self.centre:
            bank = CentredBank(bank)
        return CosineBank(bank) if self.cosine else bank


@dataclass(eq=False, repr=False)
class Combination(_MadeFrom):
    """Builder of one kernel from all kernels of a bank (`CombinedKernel`).

    Parameters
    ----------
    base : str or KernelBuilder, default="feature_gaussians"
        Name of a builder of a bank (`mklbench.kernels.BUILDERS`), or "views" or "descriptors"
        (`Descriptors`), or a builder itself.
    options : mapping of str to object or None, default=None
        Keyword arguments of the builder that is named; for "precomputed" those of
        `Precomputed`, the file ``K`` among them.
    how : str, default="sum"
        "sum", "product" or "polynomial".
    degree : int, default=2
        Of a polynomial, >= 1.
    offset : float, default=1.0
        Of a polynomial, >= 0.

    Raises
    ------
    InputError
        If the base is not known, or does not have such options.
    """

    how: str = "sum"
    degree: int = 2
    offset: float = 1.0

    def __call__(self, X: ArrayLike, *views: Any) -> Bank:
        """Return the bank of the one kernel on the training samples `X`."""
        bank = self._bank(X, *views)
        return CombinedKernel(bank, self.how, degree=self.degree, offset=self.offset)


@dataclass(eq=False, repr=False)
class Standardised(_MadeFrom):
    """Builder of a bank on features of mean 0 and variance 1 (`StandardisedBank`).

    Parameters
    ----------
    base : str or KernelBuilder, default="gaussian"
        Name of a builder of a bank (`mklbench.kernels.BUILDERS`), or "views" or "descriptors"
        (`Descriptors`), or a builder itself; not one of Gram matrices, which have no features.
    options : mapping of str to object or None, default=None
        Keyword arguments of the builder that is named; for "precomputed" those of
        `Precomputed`, the file ``K`` among them.

    Raises
    ------
    InputError
        If the base is not known, or does not have such options.
    """

    base: str | KernelBuilder = "gaussian"

    def __call__(self, X: ArrayLike, *views: Any) -> Bank:
        """Return the bank on the training samples `X` (n, d)."""
        return StandardisedBank(lambda samples: self._bank(samples, *views), X)
