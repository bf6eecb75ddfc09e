"""Continuous families of kernels as operators, and what a search in a family evaluates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.kernels.base import Array, Indices, KernelOperator

# Kernel widths among the starts of a search in a family.
_N_SCALES = 4


class Family(KernelOperator):
    """A continuous set of kernels K_theta, theta in R^M with theta >= 0.

    Attributes
    ----------
    samples : ndarray of shape (n, d)
        Training samples.
    lower, upper : ndarray of shape (M,)
        The box in which algorithms look for kernels; `upper` may be infinite.
    """

    samples: Array
    lower: Array
    upper: Array

    @abstractmethod
    def gradient(self, theta: ArrayLike, a: ArrayLike, K: Array | None = None) -> Array:
        """Return d(a' K_theta a) / d theta (M,).

        Parameters
        ----------
        theta : array_like of shape (M,)
            Parameters of the kernel, >= 0.
        a : array_like of shape (n,)
            Coefficients of the training samples.
        K : ndarray of shape (n, n) or None, default=None
            ``gram(theta)`` where the caller has it, which spares the time to form it again.
        """

    def between(self, theta: ArrayLike, samples: Array) -> Array:
        """Return K_theta (k, n) between samples known at training and the training samples.

        It is `cross`, but subclasses may compute it faster, with rounding that depends on which
        samples are asked for together: what algorithms need is that of the same ones every time.

        Parameters
        ----------
        theta : array_like of shape (M,)
            Parameters of the kernel, >= 0.
        samples : ndarray of shape (k, d)
            Features of samples that are known at training.
        """
        return self.cross(theta, samples)

    @abstractmethod
    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> Family: ...

    def member_names(
        self, thetas: ArrayLike, columns: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """Return a name (k,) for each of some kernels of the family.

        Parameters
        ----------
        thetas : array_like of shape (k, M)
            Their parameters, one row a kernel.
        columns : sequence of str or None, default=None
            The names (d,) of the columns of the samples; if not given, they go by their numbers.
        """
        return tuple(f"kernel {k}" for k in range(len(np.asarray(thetas))))

    def median_parameters(self) -> Array:
        """Return equal parameters (M,) at which the median of -log k over pairs of samples is 1.

        That makes a kernel neither the identity nor constant, whatever the scale of the features.

        Raises
        ------
        InputError
            If the family has no such scale, or half of the pairs are of equal samples.
        """
        raise InputError(
            f"{type(self).__name__} knows no median of its exponents: choose start=uniform."
        )

    def in_own_order(self) -> tuple[Family, NDArray[np.intp]]:
        """Return the family with its parameters in an order of its own, and that order (M,).

        The order depends on the training samples, but not on the order of their features; families
        that have none return themselves.
        """
        return self, np.arange(self.n_kernels)

    def single_precision(self) -> RoughFamily:
        """Return the same kernels for the many evaluations of a search, where digits matter less.

        Subclasses may compute in single precision, with errors up to 1e-5 of (sum_i |a_i|)^2 in
        a' K a, more where sum_m theta_m x_m^2 is in the thousands; what a search has found is then
        to be checked by `gram`.
        """
        return RoughFamily(self)

    def scales(self) -> Array:
        """Return a few theta (s, M) from wide to narrow kernels that treat all features alike.

        They are on a logarithmic scale within the box, which has to be bounded.
        """
        shares = np.geomspace(1e-3, 1.0, _N_SCALES) / self.n_kernels
        return np.clip(shares[:, None] * self.upper, self.lower, self.upper)

    def starts(self) -> Array:
        """Return the theta (s, M) where a search for the best kernel may begin, `scales` first."""
        return self.scales()

    def _check_theta(self, theta: ArrayLike) -> Array:
        """Return the parameters of a kernel as a vector (M,) of numbers >= 0."""
        checked = self._check_weights(theta)
        if not (checked >= 0).all():
            raise InputError(
                f"theta has the entry {checked.min():g}: the parameters of kernels are numbers "
                ">= 0."
            )
        return checked


class RoughFamily:
    """What a search in a family evaluates: Gram matrices, quadratic forms and their gradients.

    Parameters
    ----------
    family : Family
        The family on n training samples.
    """

    def __init__(self, family: Family) -> None:
        self._family = family

    def gram(self, theta: Array) -> NDArray[np.floating]:
        """Return K_theta (n, n)."""
        return self._family.gram(theta)

    def quadratic_form(
        self, theta: Array, a: Array, K: NDArray[np.floating]
    ) -> tuple[float, Array]:
        """Return a' K a and its gradient (M,) in theta, for `a` (n,) and ``K = gram(theta)``."""
        double = np.asarray(K, dtype=np.float64)
        return float(a @ double @ a), self._family.gradient(theta, a, double)

    def value(self, theta: Array, a: Array) -> float:
        """Return a' K_theta a for `a` (n,), without its gradient."""
        return float(a @ self.gram(theta) @ a)

    def values(self, thetas: Array, a: Array) -> Array:
        """Return a' K_theta a (k,) for `a` (n,) and each row of `thetas` (k, M), in one pass."""
        return np.array([self.value(theta, a) for theta in thetas])

    @property
    def has_quick_lines(self) -> bool:
        """Whether `lines` try a parameter in time linear in n."""
        return False

    def lines(self, a: Array) -> CoordinateSearch:
        """Return a' K a along each parameter, for `a` (n,)."""
        return CoordinateSearch(self, self._family.n_kernels, a)


class CoordinateSearch:
    """The quadratic form a' K_theta a along one parameter of theta at a time, without gradients.

    Parameters
    ----------
    rough : RoughFamily
        The kernels.
    count : int
        Number M of parameters; all are 0 until another `begin`.
    a : ndarray of shape (n,)
        The vector of the form.
    """

    def __init__(self, rough: RoughFamily, count: int, a: Array) -> None:
        self.theta = np.zeros(count)
        self._rough, self._a = rough, a

    def begin(self, theta: Array) -> None:
        """Set all parameters, to `theta` (M,)."""
        self.theta[:] = theta

    def along(self, m: int, values: Array) -> Array:
        """Return the form (k,) with parameter `m` at each of `values` (k,), the others as they are.

        Subclasses may be off by a percent: what is found is to be priced once more.
        """
        thetas = np.repeat(self.theta[None], len(values), axis=0)
        thetas[:, m] = values
        return self._rough.values(thetas, self._a)

    def move(self, m: int, value: float) -> None:
        """Set parameter `m` to `value`."""
        self.theta[m] = value

    def sweep(self, order: NDArray[np.intp], grid: Array) -> float:
        """Take one parameter after the other to where the form is largest; return what it is then.

        Parameters
        ----------
        order : ndarray of shape (M,)
            The parameters, each once.
        grid : ndarray of shape (k, M)
            Values of each, with both ends of the box. A parameter may stay where it is, too.
        """
        reached = -np.inf
        for m in order.tolist():
            values = np.append(grid[:, m], self.theta[m])
            forms = self.along(m, values)
            best = int(forms.argmax())
            if forms[best] > forms[-1]:
                self.move(m, float(values[best]))
            reached = float(forms[best])
        return reached
