"""Alignment of the kernels of a bank with the targets (Cortes, Mohri & Rostamizadeh 2012).

The centred alignment of two kernels is the cosine of the angle between their centred Gram matrices,

    rho(K, L) = <K_c, L_c>_F / (||K_c||_F ||L_c||_F),    K_c = H K H,  H = I - 1 1'/n.

That of a combination of kernels with the target kernel y y' follows from the matrix Q of the inner
products <K_mc, K_lc>_F, which does not depend on y, and the vector c of <K_mc, y_c y_c'>_F =
y_c' K_m y_c:  rho(K_v) = v'c / (sqrt(v'Qv) ||y_c||^2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mklbench import certify
from mklbench.errors import InputError
from mklbench.kernels.base import Array, Bank


def cosines(products: Array, norms: Array, target_norm: float) -> Array:
    """Return <K_m, y y'>_F / (||K_m||_F ||y y'||_F) of each kernel, 0 where a norm is 0.

    Parameters
    ----------
    products : ndarray of shape (M,)
        <K_m, y y'>_F.
    norms : ndarray of shape (M,)
        ||K_m||_F.
    target_norm : float
        ||y y'||_F.
    """
    scale = norms * target_norm
    return np.divide(products, scale, out=np.zeros_like(scale), where=scale > 0)


def require_aligned(alignments: Array, other_than: str) -> None:
    """Raise an InputError unless a kernel has a positive alignment with the targets.

    Parameters
    ----------
    alignments : ndarray of shape (M,)
        Of the kernels, in any units.
    other_than : str
        What a kernel without alignment may be, "constant" where they are centred, else "zero".
    """
    if not (alignments > 0).any():
        raise InputError(
            f"none of the {len(alignments)} kernels has a positive alignment with y: choose "
            f"kernels that are positive semidefinite and not {other_than}."
        )


# A kernel of whose trace centring leaves no more than this share is constant up to rounding.
_CONSTANT = 1e-12


@dataclass(frozen=True)
class Alignment:
    """What the alignment of a bank with one vector of targets is computed from.

    Attributes
    ----------
    products : ndarray of shape (M, M)
        Q; rows and columns of constant kernels are 0.
    with_target : ndarray of shape (M,)
        c; 0 for constant kernels.
    target_norm : float
        ||y_c y_c'||_F = ||y_c||^2.
    """

    products: Array
    with_target: Array
    target_norm: float

    @classmethod
    def of(cls, bank: Bank, y: Array) -> Alignment:
        """Return that of a bank with targets `y` (n,).

        Raises
        ------
        InputError
            If all targets are the same, or no kernel has a positive alignment with them.
        """
        centred = y - y.mean()
        if np.ptp(y) == 0:
            raise InputError(
                f"y has one value only ({y[0]:g}, in {len(y)} samples): no kernel is aligned with "
                "targets that do not differ."
            )
        products = bank.centred_products
        # A square below 0 is rounding.
        varies = np.sqrt(np.maximum(products.diagonal(), 0.0)) > _CONSTANT * np.abs(bank.traces())
        with_target = np.where(varies, bank.target_alignments(centred), 0.0)
        require_aligned(with_target, "constant")
        return cls(
            np.where(varies & varies[:, None], products, 0.0), with_target, float(centred @ centred)
        )

    @property
    def norms(self) -> Array:
        """The norms ||K_mc||_F (M,) of the centred kernels."""
        return np.sqrt(self.products.diagonal())

    def of_each(self) -> Array:
        """Return rho(K_m) (M,) of each kernel with the target, 0 for constant kernels."""
        return cosines(self.with_target, self.norms, self.target_norm)

    def bounds(self, weights: Array) -> certify.Bounds:
        """Return rho at `weights` (M,) as the lower, and what no weights >= 0 exceed as the upper.

        See `mklbench.certify.alignment_bounds`.
        """
        return certify.alignment_bounds(self.products, self.with_target, self.target_norm, weights)
