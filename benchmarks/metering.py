"""A family of kernels that measures what is asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import process_time

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklbench.kernels import Family
from mklbench.kernels.base import Indices
from mklbench.kernels.continuous import CoordinateSearch, RoughFamily

Array = NDArray[np.float64]


@dataclass
class Meter:
    """What has been asked of a family and of all that was made of it.

    Attributes
    ----------
    evaluations : of a' K_theta a and its gradient, in searches; all values of one parameter count
        as one.
    seconds : in those searches' Gram matrices and quadratic forms ("search"), and in all other
        kernel values ("gram").
    """

    evaluations: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: {"search": 0.0, "gram": 0.0})

    @contextmanager
    def measured(self, part: str) -> Iterator[None]:
        """Add the processor time of what is done within to a part."""
        started = process_time()
        yield
        self.seconds[part] += process_time() - started


class MeteredFamily(Family):
    """The kernels of another family, metered.

    Parameters
    ----------
    family : on the training samples.
    meter : what counts; families that are made of this one share it.
    """

    def __init__(self, family: Family, meter: Meter) -> None:
        self._family, self._meter = family, meter
        self.n_samples, self.n_kernels = family.n_samples, family.n_kernels
        self.features, self.samples = family.features, family.samples
        self.lower, self.upper = family.lower, family.upper

    def gram(self, weights: ArrayLike, out: Array | None = None) -> Array:
        with self._meter.measured("gram"):
            return self._family.gram(weights, out)

    def cross(self, weights: ArrayLike, Z: ArrayLike) -> Array:
        with self._meter.measured("gram"):
            return self._family.cross(weights, Z)

    def between(self, theta: ArrayLike, samples: Array) -> Array:
        with self._meter.measured("gram"):
            return self._family.between(theta, samples)

    def gradient(self, theta: ArrayLike, a: ArrayLike, K: Array | None = None) -> Array:
        return self._family.gradient(theta, a, K)

    def take(self, rows: ArrayLike, kernels: Indices | None = None) -> MeteredFamily:
        return MeteredFamily(self._family.take(rows, kernels), self._meter)

    def in_own_order(self) -> tuple[MeteredFamily, NDArray[np.intp]]:
        family, order = self._family.in_own_order()
        return MeteredFamily(family, self._meter), order

    def single_precision(self) -> RoughFamily:
        return _MeteredRough(self, self._family.single_precision(), self._meter)

    def scales(self) -> Array:
        return self._family.scales()

    def starts(self) -> Array:
        return self._family.starts()


class _MeteredRough(RoughFamily):
    def __init__(self, family: Family, rough: RoughFamily, meter: Meter) -> None:
        super().__init__(family)
        self._rough, self._meter = rough, meter

    def gram(self, theta: Array) -> NDArray[np.floating]:
        with self._meter.measured("search"):
            return self._rough.gram(theta)

    def quadratic_form(
        self, theta: Array, a: Array, K: NDArray[np.floating]
    ) -> tuple[float, Array]:
        self._meter.evaluations += 1
        with self._meter.measured("search"):
            return self._rough.quadratic_form(theta, a, K)

    def value(self, theta: Array, a: Array) -> float:
        self._meter.evaluations += 1
        with self._meter.measured("search"):
            return self._rough.value(theta, a)

    def values(self, thetas: Array, a: Array) -> Array:
        self._meter.evaluations += len(thetas)
        with self._meter.measured("search"):
            return self._rough.values(thetas, a)

    def lines(self, a: Array) -> CoordinateSearch:
        with self._meter.measured("search"):
            lines = self._rough.lines(a)
        return _MeteredLines(self, lines, a, self._meter)


class _MeteredLines(CoordinateSearch):
    def __init__(self, rough: RoughFamily, lines: CoordinateSearch, a: Array, meter: Meter) -> None:
        super().__init__(rough, len(lines.theta), a)
        self._lines, self._meter = lines, meter

    def begin(self, theta: Array) -> None:
        with self._meter.measured("search"):
            self._lines.begin(theta)
        super().begin(theta)

    def along(self, m: int, values: Array) -> Array:
        self._meter.evaluations += 1
        with self._meter.measured("search"):
            return self._lines.along(m, values)

    def move(self, m: int, value: float) -> None:
        super().move(m, value)
        with self._meter.measured("search"):
            self._lines.move(m, value)
