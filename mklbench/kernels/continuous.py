"""Continuous families of kernels as operators, and what a search in a family evaluates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from mklbench.errors import InputError
from mklbench.kernels.base import Array, Indices, KernelOperator
from mklbench.kernels.functions import exp_in_place

Single = NDArray[np.float32]

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


# Differences of a feature of many values are rounded to so many of its range.
_N_BINS = 1024
# Up to so many values the sums over pairs are products of matrices.
_FEW_VALUES = 24
# Pairs of samples that are worked on at once: with more, memory is asked of the system anew each
# time, which takes as long as the sums.
_PAIRS_AT_ONCE = 2**14
# A parameter that adds more than this to an exponent is not divided out of the kernel's values:
# those of pairs that are far apart have no digits left.
_STEEP = 40.0
_LOWEST_EXPONENT = np.float32(-60.0)


class ProductLines(CoordinateSearch):
    """a' K_theta a along one parameter of a product of Gaussians, for all of its values at once.

    The values W_ij = a_i a_j exp(-sum_m theta_m u_ijm^2), u_ijm = |x_im - x_jm|, are kept for the
    current theta. With parameter m at c instead,

        a' K a = sum_ij W_ij exp((theta_m - c) u_ijm^2).

    The sum over pairs with the same u does not depend on c: one pass over the pairs serves all
    values. Of a feature of few values it is a product of matrices, of others a histogram, whose
    bins are a thousandth of the feature's range.

    Parameters
    ----------
    rough : RoughFamily
        The kernels.
    X : ndarray of shape (n, M)
        The samples, of single precision.
    a : ndarray of shape (n,)
        The vector of the form.
    """

    def __init__(self, rough: RoughFamily, X: Single, a: Array) -> None:
        super().__init__(rough, X.shape[1], a)
        self._features = [_Feature(x) for x in np.ascontiguousarray(X.T)]
        self.begin(self.theta.copy())

    def begin(self, theta: Array) -> None:
        self.theta[:] = 0.0
        n, single = len(self._a), self._a.astype(np.float32)
        # Blocks of rows, each with its own columns and all later ones: later ones count twice.
        self._blocks: list[_Block] = []
        first = 0
        while first < n:
            end = min(n, first + max(1, _PAIRS_AT_ONCE // (n - first)))
            self._blocks.append(_Block(first, end, single))
            first = end
        for m in np.flatnonzero(theta):
            self.move(int(m), float(theta[m]))

    def along(self, m: int, values: Array) -> Array:
        feature, theta = self._features[m], float(self.theta[m])
        is_steep = theta * feature.reach**2 > _STEEP
        squares, sums = feature.sums(
            (block.first, block.without(feature, theta) if is_steep else block.values())
            for block in self._blocks
        )
        changes = (0.0 if is_steep else theta) - values
        exponents = np.multiply.outer(changes.astype(np.float32), squares)
        np.maximum(exponents, _LOWEST_EXPONENT, out=exponents)
        found: Array = np.exp(exponents, out=exponents).astype(np.float64) @ sums
        return found

    def move(self, m: int, value: float) -> None:
        change = np.float32(value - self.theta[m])
        for block in self._blocks:
            block.move(self._features[m], change)
        self.theta[m] = value


class _Block:
    """Some rows of pairs: the exponents sum_m theta_m u_ijm^2 and the values W_ij."""

    def __init__(self, first: int, end: int, a: Single) -> None:
        self.first = first
        self._coefficients = np.multiply.outer(a[first:end], a[first:])
        self._coefficients[:, end - first :] *= 2.0
        self._exponents = np.zeros_like(self._coefficients)
        self._values = np.empty_like(self._coefficients)
        self._known = False

    def move(self, feature: _Feature, change: np.float32) -> None:
        squares = feature.squares(self.first, len(self._exponents))
        self._exponents += np.multiply(squares, change, out=squares)
        self._known = False

    def values(self) -> Single:
        """Return W at the current theta."""
        if not self._known:
            exp_in_place(np.negative(self._exponents, out=self._values))
            self._values *= self._coefficients
            self._known = True
        return self._values

    def without(self, feature: _Feature, theta: float) -> Single:
        """Return W with the parameter of a feature, which is `theta`, at 0."""
        W = feature.squares(self.first, len(self._exponents))
        W *= np.float32(theta)
        W -= self._exponents
        exp_in_place(W)
        W *= self._coefficients
        return W


class _Feature:
    """One feature of the samples: of few values, or rounded, so that each u is in a bin."""

    def __init__(self, x: Single) -> None:
        self._x = x
        self.reach = float(x.max() - x.min())
        values, which = np.unique(x, return_inverse=True)
        self._has_few = len(values) <= _FEW_VALUES
        if self._has_few:
            self._codes = np.eye(len(values), dtype=np.float32)[which]
            self._squares = np.square(np.subtract.outer(values, values)).ravel()
        else:
            width = self.reach / (_N_BINS - 1)
            self._codes = np.rint((x - x.min()) * ((_N_BINS - 1) / self.reach)).astype(np.int16)
            self._squares = np.square(np.arange(_N_BINS) * width).astype(np.float32)

    def squares(self, first: int, count: int) -> Single:
        """Return u^2 (count, n - first) of `count` samples from the `first` on and all later."""
        u = self._x[first : first + count, None] - self._x[first:]
        return np.square(u, out=u)

    def sums(self, pairs: Iterable[tuple[int, Single]]) -> tuple[Single, Array]:
        """Return different u^2 (k,), and the sums (k,) of W over the pairs of each.

        The blocks of `pairs` are the number of the first row and W.
        """
        total = np.zeros(len(self._squares))
        for first, W in pairs:
            rows, later = self._codes[first : first + len(W)], self._codes[first:]
            if self._has_few:
                total += (rows.T @ (W @ later)).ravel()
            else:
                bins = rows[:, None] - later
                np.abs(bins, out=bins)
                total += np.bincount(bins.ravel(), W.ravel(), _N_BINS)
        used = np.flatnonzero(total)
        return self._squares[used], total[used]


# Where a feature has its largest parameter, samples that differ in it have a kernel below exp(-20),
# which is less than single precision adds to 1.
_PARTED = 20.0
# What grows by less than this share has not grown: sums are rounded.
_ROUNDING = 1e-12


def are_indicators(X: NDArray[np.float32], lower: Array, upper: Array) -> bool:
    """Tell whether the best kernels are those of `IndicatorLines`.

    Parameters
    ----------
    X : ndarray of shape (n, M)
        The samples.
    lower, upper : ndarray of shape (M,)
        The box of the parameters.
    """
    least, most = X.min(axis=0), X.max(axis=0)
    reach = (most - least).astype(np.float64)
    parted = (reach == 0.0) | (upper * reach**2 >= _PARTED)
    return bool(parted.all() and not lower.any() and ((least == X) | (most == X)).all())


class IndicatorLines(CoordinateSearch):
    """a' K_theta a along one parameter of a product of Gaussians, all of whose features are binary.

    With u_m the distance of the two values of feature m, the kernel is a product over the features
    in which two samples differ of e_m = exp(-theta_m u_m^2). So the form is linear in each e_m, and
    along a parameter it is largest at an end of the box: at theta_m = 0 (e_m = 1) or at the upper
    end, where e_m is 0 to single precision. What is left are kernels of a set S of features,

        K_ij = 1 where samples i and j are equal in all features of S, else 0,
        a' K a = sum over the cells of samples that are equal in S of (sum of a in the cell)^2.

    To try a feature more or less takes time linear in n, where other products take n^2, and all
    that are not in S are tried at once.

    Parameters
    ----------
    rough : RoughFamily
        The kernels.
    X : ndarray of shape (n, M)
        The samples, of single precision, for which `are_indicators` holds.
    a : ndarray of shape (n,)
        The vector of the form.
    upper : ndarray of shape (M,)
        Upper ends of the parameters.
    """

    def __init__(self, rough: RoughFamily, X: NDArray[np.float32], a: Array, upper: Array) -> None:
        super().__init__(rough, X.shape[1], a)
        least, most = X.min(axis=0), X.max(axis=0)
        self._upper = upper
        self._squares = (most - least).astype(np.float64) ** 2
        has = (least < most) & (most == X)
        self._has = has.astype(np.float64)
        # A cell is known by the sum of random numbers of the features that its samples have, modulo
        # 2^64. That two cells share one is less likely than a fault of the memory.
        random = np.random.default_rng(0)
        keys = random.integers(2**64, size=(X.shape[1], 1), dtype=np.uint64)
        self._keys = np.where(has.T, keys, np.uint64(0))

    def begin(self, theta: Array) -> None:
        """Set each parameter to the end of the box at which e_m is nearer to that of `theta`."""
        self.theta[:] = np.where(theta * self._squares > np.log(2.0), self._upper, 0.0)

    def sweep(self, order: NDArray[np.intp], grid: Array) -> float:
        """Do as `CoordinateSearch.sweep`, at the ends of the box alone, where the best are."""
        codes = self._keys[self.theta > 0].sum(axis=0, dtype=np.uint64)
        form, with_each = self._forms(codes)
        for m in order.tolist():
            is_used = self.theta[m] > 0
            changed = codes - self._keys[m] if is_used else codes + self._keys[m]
            other = self._form(changed) if is_used else with_each[m]
            if other > form * (1.0 + _ROUNDING):
                self.theta[m] = 0.0 if is_used else self._upper[m]
                codes = changed
                form, with_each = self._forms(codes)
        return form

    def _form(self, codes: NDArray[np.uint64]) -> float:
        """Return the form of the cells that `codes` (n,) tell apart."""
        order, firsts = _cells(codes)
        sums = np.add.reduceat(self._a[order], firsts)
        return float(sums @ sums)

    def _forms(self, codes: NDArray[np.uint64]) -> tuple[float, Array]:
        """Return it, and those (M,) with each feature in the set as well: a cell parts in two."""
        order, firsts = _cells(codes)
        a = self._a[order]
        sums = np.add.reduceat(a, firsts)
        shape = len(firsts), len(order)
        parts = csr_array((a, order, np.append(firsts, len(order))), shape=shape) @ self._has
        others = sums[:, None] - parts
        forms = np.einsum("cm,cm->m", parts, parts) + np.einsum("cm,cm->m", others, others)
        return float(sums @ sums), forms


def _cells(codes: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return an order of the samples (n,) that has equal codes together, and where each begins."""
    order = np.argsort(codes, kind="stable")
    in_order = codes[order]
    is_first = np.append(True, in_order[1:] != in_order[:-1])
    return order, np.flatnonzero(is_first)
