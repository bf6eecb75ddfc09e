"""The quadratic form of a family along one parameter, from Gram matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklbench.kernels import Family

# None, and values up to the end of the box of configs/kernel/products.yaml.
VALUES = np.append(0.0, np.geomspace(1e-3, 30.0, 20))


def exact(
    family: Family, theta: NDArray[np.float64], m: int, a: NDArray[np.float64]
) -> list[float]:
    """Return a' K a with parameter `m` at each of `VALUES`, the others as in `theta`."""
    thetas = np.repeat(theta[None], len(VALUES), axis=0)
    thetas[:, m] = VALUES
    return [float(a @ family.gram(one) @ a) for one in thetas]
