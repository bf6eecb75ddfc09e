"""Kernel ridge regression (KRR) at fixed kernel weights (Cortes et al. 2009, eq. 5, 9 and 10).

    F(mu) = max over alpha of  2 alpha'y - alpha'(K_mu + lam I) alpha  =  y'(K_mu + lam I)^-1 y

is attained at alpha = (K_mu + lam I)^-1 y. It is the minimum over the functions f in the space of
K_mu of ||f||^2 + 1/lam sum_i (y_i - f(x_i))^2, at f = sum_i alpha_i k_mu(x_i, .); there is no
intercept. K_mu is the kernel of a bank or a family at the weights mu, or a Hadamard power of it.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from mklbench.kernels.base import KernelOperator
from mklbench.optim.machines import train_ridges
from mklbench.optim.ridge import ridges
from mklbench.optim.several import Several, one_of, path_of
from mklbench.validation import check_count, check_targets, real_array

VERSION = 1

# Held at once (`mklbench.optim.fit_memory`): the Gram matrix and a Cholesky factor.
MATRICES = 4.0
REGRESSION = True
# `solve_path` solves for several values of this option at the price of one.
PATH_OPTION = "lam"


@one_of(PATH_OPTION)
def solve(
    operator: KernelOperator,
    y: ArrayLike,
    lam: float = 1.0,
    *,
    weights: float | ArrayLike | None = None,
    degree: int = 1,
    sample_weight: ArrayLike | None = None,
) -> Several:
    """Fit one kernel ridge regression on a bank or a family whose weights are given.

    Parameters
    ----------
    operator : KernelOperator
        The bank or the family on the n training samples.
    y : array_like of shape (n,)
        Real targets, or labels in {-1, +1}.
    lam : float, default=1.0
        The ridge lambda > 0.
    weights : float, array_like of shape (M,) or None, default=None
        Kernel weights or parameters theta, >= 0, or one number for all of them; 1/M each
        if not given.
    degree : int, default=1
        d of the kernel (sum_m mu_m K_m)^d, taken entry by entry.
    sample_weight : array_like of shape (n,) or None, default=None
        Weights w_i > 0 of the squared errors: the ridge of sample i is lam / w_i.

    Returns
    -------
    Solution
        `dual_coef` is alpha, `objective` F and `gap` the relative duality gap, which is due to
        rounding alone. `converged` says that it is at most 1e-6: where `lam` is tiny beside the
        kernel, rounding leaves more.

    Raises
    ------
    InputError
        If an argument has the wrong shape or range, or K + lam I is singular to working precision.
    """
    check_count("degree", degree)
    targets = check_targets(y)
    ridges(lam, sample_weight, len(targets))
    given = None if weights is None else real_array("weights", weights)
    return lambda lams: train_ridges(operator, targets, lams, sample_weight, given, degree)


solve_path = path_of(solve, PATH_OPTION)
