"""Kernels as operators: what the algorithms may ask of a bank or a family.

A **bank** is a finite list of base kernels K_1 ... K_M on n training samples, combined with weights
d >= 0 into sum_m d_m K_m. A **family** is a continuous set of kernels K_theta, theta >= 0, of which
algorithms use one (a product of kernels) or find several to combine. Both are bound to their
training samples; neither needs to store its Gram matrices.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.errors import InputError
from mklbench.kernels.centring import centre
from mklbench.kernels.cross import ChosenKernels, CrossKernels
from mklbench.kernels.row_factors import RowFactors
from mklbench.validation import check_indices

Array = NDArray[np.float64]

# Kernel widths among the starts of a search in a family.
_N_SCALES = 4


class KernelOperator(CrossKernels):
    """What banks and families have in common: a kernel for each vector of weights.

    Attributes
    ----------
    n_samples : int
        Number n of training samples.
    n_kernels : int
        Number M of base kernels of a bank, or of parameters of a family.
    features : tuple of int
        (M,) for each kernel or parameter the index of the one feature it looks at, or -1
        where it looks at several.
    """

    features: tuple[int, ...]

    @abstractmethod
    def gram(self, weights: ArrayLike, out: Array | None = None) -> Array:
        """Return the Gram matrix (n, n) of the training samples at some weights.

        Parameters
        ----------
        weights : array_like of shape (M,)
            Weights of the kernels of a bank, or parameters theta of a family.
        out : ndarray of shape (n, n) or None, default=None
            Where the matrix is written; a new array if not given.
        """

    @abstractmethod
    def restrict(self, rows: ArrayLike) -> KernelOperator:
        """Return the same kernels on some of the training samples only.

        Parameters
        ----------
        rows : array_like of shape (k,) or (n,)
            Row numbers of training samples, from 0 to n - 1, or a mask of n truth values.
        """

    def for_prediction(self, rows: NDArray[np.intp], kernels: NDArray[np.intp]) -> CrossKernels:
        """Return what a prediction needs of some kernels and some of the training samples.

        Its `cross` is that of the operator: the same columns `rows`, at weights that are 0 but for
        `kernels`. Subclasses keep as little as they can; unless they say otherwise it is the
        operator on these samples.

        Parameters
        ----------
        rows : ndarray of int of shape (k,)
            Row numbers of training samples, from 0 to n - 1: the support vectors.
        kernels : ndarray of int of shape (m,)
            Indices from 0 to M - 1 of the kernels in use. A family keeps all its parameters.
        """
        return ChosenKernels(self.restrict(rows), kernels)

    def kernel_names(self, columns: Sequence[str] | None = None) -> Sequence[str]:
        """Return a name (M,) for each kernel or parameter, such as "gaussian 0.5 on age".

        Parameters
        ----------
        columns : sequence of str or None, default=None
            The names (d,) of the columns of the samples; if not given, they go by their numbers.
        """
        return tuple(f"kernel {m}" for m in range(self.n_kernels))

    def uniform_weights(self) -> Array:
        """Return the weights (M,) that are all 1/M."""
        return np.full(self.n_kernels, 1.0 / self.n_kernels)

    def _check_rows(self, rows: ArrayLike) -> NDArray[np.intp]:
        """Return `rows` of the training samples as indices, for `restrict`."""
        return check_indices("rows", rows, self.n_samples)


class Bank(KernelOperator):
    """A finite list of base kernels on n training samples.

    Attributes
    ----------
    groups : sequence of sequence of int or None
        Lists of kernel indices, one a group, where kernels come in groups; else None.
    """

    groups: Sequence[Sequence[int]] | None = None

    @property
    def n_approximated(self) -> int:
        """Number of kernels whose row factors have landmarks, and so are not exact."""
        return 0

    def row_factors(self, landmarks: int | None = None) -> RowFactors | None:
        """Return factors that are made in blocks of rows; None for kernels that have none.

        Parameters
        ----------
        landmarks : int or None, default=None
            Landmarks of each kernel that has no exact factors (`mklbench.kernels.landmarks`),
            up to n; if not given, a number that what they leave out decides. Not for others.

        Raises
        ------
        InputError
            If there cannot be so many landmarks, or exact factors of this kind would be too large.
        """
        return None

    @abstractmethod
    def combine(self, d: ArrayLike, out: Array | None = None) -> Array:
        """Return sum_m d_m K_m (n, n).

        Parameters
        ----------
        d : array_like of shape (M,)
            Weights of the kernels.
        out : ndarray of shape (n, n) or None, default=None
            Where the matrix is written; a new array if not given.
        """

    def combinations(self, weights: Array, out: Array) -> Iterator[Array]:
        """Write `combine(d)` into `out` for every row d of `weights`, and yield it.

        A bank that stores Gram matrices reads them once for all rows.

        Parameters
        ----------
        weights : ndarray of shape (k, M)
            Weights d of the kernels, one row a combination.
        out : ndarray of shape (n, n)
            Where each combination is written, in the place of the one before.
        """
        return (self.combine(d, out) for d in weights)

    def accumulate(self, d: ArrayLike, out: Array) -> None:
        """Add sum_m d_m K_m onto `out`.

        Parameters
        ----------
        d : array_like of shape (M,)
            Weights of the kernels.
        out : ndarray of shape (n, n)
            What the combination is added to, in place.
        """
        out += self.combine(d)

    @abstractmethod
    def quadratic_forms(self, a: ArrayLike) -> Array:
        """Return q (M,) with q_m = a' K_m a.

        Parameters
        ----------
        a : array_like of shape (n,)
            Coefficients of the training samples.
        """

    @abstractmethod
    def products(self, a: ArrayLike, kernels: ArrayLike) -> Array:
        """Return the rows K_m a (k, n) for some kernels m.

        Parameters
        ----------
        a : array_like of shape (n,)
            Coefficients of the training samples.
        kernels : array_like of int of shape (k,)
            The indices m, from 0 to M - 1 in any order; there may be none.
        """

    def dearest(self, prices: Array, count: int) -> NDArray[np.intp]:
        """Return indices of kernels of the largest prices, the first of equal ones first.

        A search adds these to the kernels that it works with. A bank in which very many kernels are
        nearly the same returns the best of these alone, and then fewer than `count`.

        Parameters
        ----------
        prices : ndarray of shape (M,)
            a' K_m a of all kernels at some a.
        count : int
            At most so many.
        """
        return np.argsort(-prices, kind="stable")[:count]

    @abstractmethod
    def traces(self) -> Array:
        """Return the traces (M,) of the Gram matrices."""

    @abstractmethod
    def restrict(self, rows: ArrayLike) -> Bank: ...

    def diagonals(self, Z: ArrayLike | None = None) -> Array:
        """Return k_m(x, x) (M, n) of the training samples, or k_m(z, z) (M, n_z) of new ones.

        Parameters
        ----------
        Z : array_like or None, default=None
            New samples, as `cross` takes them; the training samples if not given.

        Raises
        ------
        InputError
            If the bank does not know k_m(z, z): that of new samples is not in `cross`.
        """
        if Z is not None:
            return super().diagonals(Z)
        return np.array([self.combine(unit).diagonal() for unit in np.eye(self.n_kernels)])

    def gram(self, weights: ArrayLike, out: Array | None = None) -> Array:
        """Return `combine(weights)`: a bank at fixed weights is one kernel.

        Parameters
        ----------
        weights : array_like of shape (M,)
            Weights of the kernels.
        out : ndarray of shape (n, n) or None, default=None
            Where the matrix is written; a new array if not given.
        """
        return self.combine(weights, out)

    def inner_products_with(self, K: Array) -> Array:
        """Return <K_m, K>_F (M,) for a symmetric matrix.

        Parameters
        ----------
        K : ndarray of shape (n, n)
            A symmetric matrix on the training samples.
        """
        eigenvalues, vectors = np.linalg.eigh(K)
        return sum(
            value * self.quadratic_forms(vector)
            for value, vector in zip(eigenvalues, vectors.T, strict=True)
        )

    def inner_products(self, *, centred: bool = False) -> Array:
        """Return the matrix (M, M) of Frobenius inner products <K_m, K_l>_F.

        Parameters
        ----------
        centred : bool, default=False
            Whether to take those of the centred matrices H K_m H, H = I - 1 1'/n; to centre one of
            the two is enough (Cortes et al. 2012).
        """
        grams = (self.combine(unit) for unit in np.eye(self.n_kernels))
        columns = [self.inner_products_with(centre(K) if centred else K) for K in grams]
        products = np.array(columns)
        return 0.5 * (products + products.T)

    @cached_property
    def centred_products(self) -> Array:
        """``inner_products(centred=True)``, kept: it serves every label vector and every C."""
        products = self.inner_products(centred=True)
        products.setflags(write=False)
        return products

    def _kernels_changed(self) -> None:
        """Forget what was computed of the kernels before, for banks whose kernels may change."""
        vars(self).pop("centred_products", None)

    def target_alignments(self, y: ArrayLike) -> Array:
        """Return <K_m, y y'>_F (M,).

        Parameters
        ----------
        y : array_like of shape (n,)
            Labels in {-1, +1}, or real targets.
        """
        return self.quadratic_forms(y)


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
    def restrict(self, rows: ArrayLike) -> Family: ...

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

    def rough(self) -> RoughFamily:
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

    def outputs(self, theta: Array, a: Array, samples: Array) -> Array:
        """Return sum_i a_i K_theta(x_i, z) (k,) at samples z (k, d) that are known at training."""
        return self._family.between(theta, samples) @ a

    def lines(self, a: Array) -> Lines:
        """Return a' K a along each parameter, for `a` (n,)."""
        return Lines(self, self._family.n_kernels, a)


class Lines:
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
