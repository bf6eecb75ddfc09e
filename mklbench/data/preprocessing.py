"""Scaling of the inputs, fitted on the training part alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError, unknown

ScalingName = Literal["none", "standard", "minmax", "unit"]
SCALINGS: tuple[str, ...] = get_args(ScalingName)


@dataclass(frozen=True)
class Scaling:
    """The map ``(x - shift) / divisor`` of each feature; a constant feature becomes 0.

    Attributes
    ----------
    name : str
        "none", "standard", "minmax" or "unit".
    shift, divisor : ndarray of shape (d,)
        Fitted on the training part. divisor is infinite for a feature that is
        constant there, so that every value of it, also an unseen one, maps to 0.
    """

    name: str
    shift: NDArray[np.float64]
    divisor: NDArray[np.float64]

    def transform(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scale rows of any part.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            .

        Returns
        -------
        (m, d), a new array.

        Raises
        ------
        InputError
            X has another number of features than the training part, or a value that is beyond the
            range of doubles once it is scaled.
        """
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != len(self.shift):
            raise InputError(
                f"X has shape {X.shape} where the scaling was fitted on {len(self.shift)} features."
            )
        if self.name == "none":
            return X.copy()
        with np.errstate(over="ignore"):  # judged just below
            scaled = (X - self.shift) / self.divisor
        overflows = np.isfinite(X) & ~np.isfinite(scaled)
        if overflows.any():
            row, column = np.argwhere(overflows)[0]
            raise InputError(
                f"X holds {X[row, column]:g} at row {row}, column {column}, which is beyond the "
                "range of doubles in units of the training part: rescale or remove it."
            )
        return scaled


def fit_scaling(name: str, X_train: NDArray[np.float64]) -> Scaling:
    """Fit a scaling on the training part.

    Parameters
    ----------
    name : str
        "none"; "standard": mean 0 and variance 1 (divided by n); "minmax": to [-1, 1]; "unit": to
        [0, 1].
    X_train : ndarray of shape (n, d)
        finite.

    Raises
    ------
    InputError
        The name is not known, or X_train is empty or holds NaN or infinite values.
    """
    if name not in SCALINGS:
        raise unknown("split.scaling", name, SCALINGS)
    X_train = np.asarray(X_train, dtype=np.float64)
    if X_train.ndim != 2 or not len(X_train):  # of labels alone there is no column
        raise InputError(f"X has shape {X_train.shape} where (n, d) with rows in it is needed.")
    if not np.isfinite(X_train).all():
        column = int(np.flatnonzero(~np.isfinite(X_train).all(axis=0))[0])
        raise InputError(f"X holds NaN or infinite values in feature {column + 1}: remove them.")
    lowest, highest = X_train.min(axis=0), X_train.max(axis=0)
    if name == "none":
        return Scaling(name, np.zeros(len(lowest)), np.ones(len(lowest)))
    if name == "standard":
        # Scaled by powers of two, which changes no digit, so that no square overflows or vanishes.
        exponents = np.frexp(np.maximum(-lowest, highest))[1]
        scaled = np.ldexp(X_train, -exponents)
        shift = np.ldexp(scaled.mean(axis=0), exponents)
        divisor = np.ldexp(scaled.std(axis=0), exponents)
    elif name == "unit":
        shift = lowest
        with np.errstate(over="ignore"):  # a range beyond doubles is found where it is scaled
            divisor = np.minimum(highest - lowest, np.finfo(float).max)
    else:
        shift = lowest / 2 + highest / 2
        divisor = np.maximum(highest - shift, shift - lowest)  # never a rounding beyond 1
    # A spread that vanishes in floating point counts as none. The mean and the deviation of a
    # constant are not used: summing it up may round.
    constant = (lowest == highest) | (divisor == 0.0)
    shift = np.where(constant, lowest, shift)
    divisor = np.where(constant, np.inf, divisor)
    return Scaling(name, shift, divisor)
