"""Builders of kernels on the views of a data set, and of those made from another builder's bank.

``Normalised("simplemkl", {"degrees": [1, 2]})(X)`` is the bank of `simplemkl`, centred and with a
diagonal of ones. What the base is called with, samples, rows or samples and views, these are called
with, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from mklbench.errors import InputError, unknown
from mklbench.kernels.banks.views import DistanceBank, feature_views
from mklbench.kernels.banks.wrapped import (
    CentredBank,
    CombinedKernel,
    CosineBank,
    StandardisedBank,
    check_base,
    needs_remade,
    unit_trace,
)
from mklbench.kernels.base import Bank
from mklbench.kernels.builders.grams import Precomputed
from mklbench.kernels.builders.named import BUILDERS, KernelBuilder, resolve
from mklbench.kernels.contract import Memory, Shape, builder_of, memory_of
from mklbench.validation import check_choice, check_training_features

# Five from 1e-4 to 1 on a logarithmic scale, as in the paper.
VSKL_GAMMAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)


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

    takes_views = True

    def __init__(
        self,
        gammas: Sequence[float] = VSKL_GAMMAS,
        distance: str | None = None,
        normalise: bool = True,
    ) -> None:
        self._gammas, self._distance, self._normalise = gammas, distance, normalise

    def memory(self, shape: Shape) -> Memory:
        """Return what the bank needs.

        Parameters
        ----------
        shape : Shape
            Size of the training samples.
        """
        return DistanceBank.needs(shape.n, max(1, shape.n_views) * len(self._gammas))

    def __call__(self, X: ArrayLike, views: Sequence[Any] = ()) -> Bank:
        """Return the bank on the training samples `X` (n, d); without views all are one view."""
        samples = check_training_features("X", X)
        bank = DistanceBank(samples, feature_views(samples, views, self._distance), self._gammas)
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

    def memory(self, shape: Shape) -> Memory:
        """Return what the bank needs on samples of a size (`Shape`)."""
        return DistanceBank.needs(shape.n, 1)

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


# Kernels whose builders are made first, from the options, and then called with the samples.
_FACTORIES: dict[str, Callable[..., Callable[..., Any]]] = {
    "views": partial(Descriptors, gammas=(1.0,), normalise=False),
    "descriptors": Descriptors,
}


class _MadeFrom:
    """What the builders share.

    Parameters
    ----------
    base : str or KernelBuilder
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

    def __init__(self, base: str | KernelBuilder, options: Mapping[str, Any] | None = None) -> None:
        self._base = _builder(base, dict(options or {}))
        declared = builder_of(self._base)
        self.takes_rows, self.takes_views = declared.takes_rows, declared.takes_views
        self.rows_of = getattr(self._base, "rows_of", None)

    def _bank(self, X: ArrayLike, *views: Any) -> Bank:
        return check_base(type(self).__name__.lower(), self._base(X, *views))


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
    for name in options:
        if name not in accepted:
            raise unknown("kernel.options", name, accepted)
    return factory(**options) if factory else resolve(base, **options)


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

    def __init__(
        self,
        base: str | KernelBuilder = "feature_gaussians",
        options: Mapping[str, Any] | None = None,
        centre: bool = True,
        cosine: bool = True,
    ) -> None:
        super().__init__(base, options)
        self._centre, self._cosine = centre, cosine

    def memory(self, shape: Shape) -> Memory:
        """Return what the bank needs.

        Parameters
        ----------
        shape : Shape
            Size of the training samples.
        """
        needed = memory_of(self._base, shape)
        for _ in range(self._centre + self._cosine):
            needed = needs_remade(needed, shape.n, needed.n_kernels)
        return needed

    def __call__(self, X: ArrayLike, *views: Any) -> Bank:
        """Return the bank on the training samples `X`."""
        bank = self._bank(X, *views)
        if self._centre:
            bank = CentredBank(bank)
        return CosineBank(bank) if self._cosine else bank


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

    def __init__(
        self,
        base: str | KernelBuilder = "feature_gaussians",
        options: Mapping[str, Any] | None = None,
        how: str = "sum",
        degree: int = 2,
        offset: float = 1.0,
    ) -> None:
        super().__init__(base, options)
        self._how, self._degree, self._offset = how, degree, offset

    def memory(self, shape: Shape) -> Memory:
        """Return what the bank needs.

        Parameters
        ----------
        shape : Shape
            Size of the training samples.
        """
        return needs_remade(memory_of(self._base, shape), shape.n, 1)

    def __call__(self, X: ArrayLike, *views: Any) -> Bank:
        """Return the bank of the one kernel on the training samples `X`."""
        return CombinedKernel(
            self._bank(X, *views), self._how, degree=self._degree, offset=self._offset
        )


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

    def __init__(
        self, base: str | KernelBuilder = "gaussian", options: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(base, options)

    def memory(self, shape: Shape) -> Memory:
        """Return what the bank needs.

        Parameters
        ----------
        shape : Shape
            Size of the training samples.
        """
        return memory_of(self._base, shape)

    def __call__(self, X: ArrayLike, *views: Any) -> Bank:
        """Return the bank on the training samples `X` (n, d)."""
        return StandardisedBank(lambda samples: self._base(samples, *views), X)
