"""The convex problems of the package, given to a conic solver as the papers print them.

Each function returns the optimum with its dual variables, so that certificates and KKT conditions
can be tested at a solution that LIBSVM had no part in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_TIGHT = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-9)


def _solve(problem: cp.Problem) -> None:
    """Solve to 1e-9, or to Clarabel's own 1e-8 where rounding, which BLAS decides, ends it."""
    try:
        problem.solve(solver=cp.CLARABEL, **_TIGHT)
    except cp.error.SolverError:
        problem.solve(solver=cp.CLARABEL)


@dataclass(frozen=True)
class ConicSolution:
    """Optimal value, kernel weights (M,), alpha o y (n,) and intercept."""

    value: float
    weights: Array
    dual_coef: Array
    intercept: float


class _Dual:
    """Variables and constraints that all the SVM duals here share."""

    def __init__(self, y: Array, box: ArrayLike) -> None:
        self.signed = cp.Variable(len(y))  # alpha o y
        alpha = cp.multiply(y, self.signed)
        self.total = cp.sum(alpha)
        self._balance = cp.sum(self.signed) == 0
        self.constraints = [alpha >= 0, alpha <= np.broadcast_to(box, y.shape), self._balance]

    def forms(self, stack: Array) -> list[cp.Expression]:
        """Return the expressions a' K_m a."""
        return [cp.sum_squares(root(K) @ self.signed) for K in stack]

    def solve(
        self, objective: cp.Expression, extra: list[cp.Constraint], weights: ArrayLike | None = None
    ) -> ConicSolution:
        problem = cp.Problem(cp.Maximize(objective), [*self.constraints, *extra])
        _solve(problem)
        duals = [float(np.squeeze(constraint.dual_value)) for constraint in extra]
        return ConicSolution(
            value=float(problem.value),
            weights=np.array(duals) if weights is None else np.asarray(weights),
            dual_coef=self.signed.value,
            # The Lagrangian of maximising f subject to sum a = 0 is f - b sum a.
            intercept=float(self._balance.dual_value),
        )


def svm(K: Array, y: Array, box: ArrayLike) -> ConicSolution:
    """Maximise sum alpha - 1/2 a' K a over 0 <= alpha <= box, y'alpha = 0, a = alpha o y."""
    dual = _Dual(y, box)
    (form,) = dual.forms(K[None])
    return dual.solve(dual.total - 0.5 * form, [], weights=[1.0])


def svr(K: Array, y: Array, C: float, epsilon: float) -> ConicSolution:
    """Maximise a'y - epsilon sum |a| - 1/2 a' K a over |a| <= C, sum a = 0."""
    a = cp.Variable(len(y))
    balance = cp.sum(a) == 0
    value = a @ y - epsilon * cp.norm(a, 1) - 0.5 * cp.sum_squares(root(K) @ a)
    problem = cp.Problem(cp.Maximize(value), [balance, cp.abs(a) <= C])
    _solve(problem)
    return ConicSolution(float(problem.value), np.ones(1), a.value, float(balance.dual_value))


def mkl(stack: Array, y: Array, box: ArrayLike) -> ConicSolution:
    """Maximise sum alpha - t with 1/2 a' K_m a <= t for all m; the weights are the multipliers."""
    dual = _Dual(y, box)
    t = cp.Variable()
    return dual.solve(dual.total - t, [0.5 * form <= t for form in dual.forms(stack)])


def mkl_svr(stack: Array, y: Array, C: float, epsilon: float) -> ConicSolution:
    """Maximise a'y - epsilon sum |a| - t with 1/2 a' K_m a <= t for all m, |a| <= C, sum a = 0."""
    unit = min(C, 10.0)  # that of a: with a large C the numbers are too far apart otherwise
    a, t = cp.Variable(len(y)), cp.Variable()
    balance = cp.sum(a) == 0
    forms = [0.5 * cp.sum_squares(root(K) @ a) <= t for K in stack]
    value = a @ (y / unit) - epsilon / unit * cp.norm(a, 1) - t
    problem = cp.Problem(cp.Maximize(value), [balance, cp.abs(a) <= C / unit, *forms])
    _solve(problem)
    weights = np.array([float(np.squeeze(form.dual_value)) for form in forms])
    dual_coef, intercept = unit * a.value, unit * float(balance.dual_value)
    return ConicSolution(unit**2 * float(problem.value), weights, dual_coef, intercept)


def one_class_mkl(stack: Array, nu: float, box: Array | None = None) -> ConicSolution:
    """Maximise -t with 1/2 a' K_m a <= t for all m, 0 <= a <= box (1), sum a = nu sum box."""
    n = stack.shape[1]
    box = np.ones(n) if box is None else box
    a, t = cp.Variable(n), cp.Variable()
    balance = cp.sum(a) == nu * box.sum()
    forms = [0.5 * cp.sum_squares(root(K) @ a) <= t for K in stack]
    problem = cp.Problem(cp.Maximize(-t), [balance, a >= 0, a <= box, *forms])
    problem.solve(solver=cp.CLARABEL)
    weights = np.array([float(np.squeeze(form.dual_value)) for form in forms])
    return ConicSolution(float(problem.value), weights, a.value, float(balance.dual_value))


def gmkl_l1(stack: Array, y: Array, box: ArrayLike, strength: float) -> ConicSolution:
    """Maximise sum alpha with 1/2 a' K_m a <= strength for all m."""
    dual = _Dual(y, box)
    return dual.solve(dual.total, [0.5 * form <= strength for form in dual.forms(stack)])


def gmkl_l2(stack: Array, y: Array, box: ArrayLike, strength: float) -> ConicSolution:
    """Maximise sum alpha - sum_m (q_m / 2 + q_m^2 / (16 strength)) with q_m >= a' K_m a.

    That is the minimum over d >= 0 of strength ||d - 1||^2 - 1/2 d'q, at d = 1 + q / (4 strength).
    """
    dual = _Dual(y, box)
    q = cp.Variable(len(stack))
    bounds = [form <= q[m] for m, form in enumerate(dual.forms(stack))]
    regularised = 0.5 * cp.sum(q) + cp.sum_squares(q) / (16.0 * strength)
    solution = dual.solve(dual.total - regularised, bounds)
    forms = np.einsum("i,mij,j->m", solution.dual_coef, stack, solution.dual_coef)
    return ConicSolution(
        solution.value, 1.0 + forms / (4.0 * strength), solution.dual_coef, solution.intercept
    )


def linear_ridge(
    stack: Array, y: Array, lam: float, centre: Array, radius: float, norm: int
) -> ConicSolution:
    """Minimise y'(sum_m mu_m K_m + lam I)^-1 y over mu >= 0 with ||mu - centre|| <= radius."""
    mu = cp.Variable(len(stack))
    system = sum(mu[m] * K for m, K in enumerate(stack)) + lam * np.eye(len(y))
    within = [mu >= 0, cp.norm(mu - centre, norm) <= radius]
    problem = cp.Problem(cp.Minimize(cp.matrix_frac(y, system)), within)
    _solve(problem)
    alpha = np.linalg.solve(np.asarray(system.value), y)
    return ConicSolution(float(problem.value), mu.value, alpha, 0.0)


def linear_mkl(X: Array, scales: Array, y: Array, C: float) -> float:
    """MKL with a kernel x x' on each column of X (n, d) times its scale, solved for the function.

    The norms of its parts are |u_m| / scale_m, u (d,) being the coefficients on X.
    """
    u, b = cp.Variable(X.shape[1]), cp.Variable()
    norms = cp.sum(cp.abs(cp.multiply(u, 1.0 / scales)))
    problem = cp.Problem(
        cp.Minimize(0.5 * cp.square(norms) + C * cp.sum(cp.pos(1.0 - cp.multiply(y, X @ u + b))))
    )
    _solve(problem)
    return float(problem.value)


def mixed_norm(
    stack: Array, y: Array, box: ArrayLike, groups: Sequence[Sequence[int]], q: float
) -> ConicSolution:
    """Minimise 1/2 [sum_j (sum_{m in group j} ||w_m||)^(2q)]^(1/q) + box'xi over w, xi >= 0 and b

    such that y o (sum_m R_m'w_m + b) >= 1 - xi, where R_m'R_m = K_m: the primal of VSKL and CKL.
    The weights are those with which w_m = weight_m R_m a.
    """
    roots = [root(K) for K in stack]
    w = [cp.Variable(len(root)) for root in roots]
    xi, b, t = cp.Variable(len(y), nonneg=True), cp.Variable(), cp.Variable(len(groups))
    outputs = sum(root.T @ part for root, part in zip(roots, w, strict=True)) + b
    margins = cp.multiply(y, outputs) >= 1 - xi
    norms = [sum(cp.norm(w[m]) for m in group) <= t[j] for j, group in enumerate(groups)]
    loss = cp.sum(cp.multiply(np.broadcast_to(box, y.shape), xi))
    problem = cp.Problem(cp.Minimize(0.5 * cp.square(cp.pnorm(t, 2 * q)) + loss), [margins, *norms])
    _solve(problem)
    dual_coef = y * margins.dual_value
    forms = np.einsum("i,mij,j->m", dual_coef, stack, dual_coef)
    lengths = np.array([float(np.linalg.norm(part.value)) for part in w])
    return ConicSolution(float(problem.value), lengths / np.sqrt(forms), dual_coef, float(b.value))


def alignment(stack: Array, target: Array, *, semidefinite: bool) -> tuple[float, Array]:
    """Return the largest <K, T>_F / ||T||_F over K = sum_m v_m K_m with ||K||_F <= 1, and v (M,).

    K is to be positive semidefinite (Cristianini et al. 2001, Lanckriet et al. 2004), or, which is
    sufficient, v >= 0.
    """
    v = cp.Variable(len(stack))
    K = sum(v[m] * each for m, each in enumerate(stack))
    allowed = K >> 0 if semidefinite else v >= 0
    value = cp.sum(cp.multiply(K, target)) / np.linalg.norm(target)
    problem = cp.Problem(cp.Maximize(value), [cp.norm(K, "fro") <= 1, allowed])
    problem.solve(solver=cp.CLARABEL, **({} if semidefinite else _TIGHT))
    return float(problem.value), v.value


def closest_points(K: Array, y: Array, ridge: float = 0.0) -> tuple[float, Array]:
    """Return the least gamma' Y K Y gamma + ridge ||gamma||^2 and its gamma (n,)

    over gamma >= 0 with the sum 1 over either class.
    """
    gamma = cp.Variable(len(y), nonneg=True)
    value = cp.sum_squares(root(K) @ cp.multiply(y, gamma)) + ridge * cp.sum_squares(gamma)
    sides = [cp.sum(gamma[y > 0]) == 1, cp.sum(gamma[y < 0]) == 1]
    problem = cp.Problem(cp.Minimize(value), sides)
    _solve(problem)
    return float(problem.value), gamma.value


def squared_radius(K: Array) -> float:
    """Return that of the smallest ball: a centre, and the largest distance of a sample from it."""
    samples = root(K)
    centre, radius = cp.Variable(len(samples)), cp.Variable()
    inside = [cp.norm(sample - centre) <= radius for sample in samples.T]
    problem = cp.Problem(cp.Minimize(radius), inside)
    _solve(problem)
    return float(problem.value) ** 2


def simplex_programme(Q: Array, c: Array) -> Array:
    """Return the d that minimises 1/2 d'Qd - c'd over d >= 0, sum d = 1."""
    d = cp.Variable(len(c))
    value = 0.5 * cp.sum_squares(root(Q) @ d) - c @ d
    cp.Problem(cp.Minimize(value), [d >= 0, cp.sum(d) == 1]).solve(solver=cp.CLARABEL, **_TIGHT)
    return np.asarray(d.value)


@dataclass(frozen=True)
class ProgrammeSolution:
    """Optimal value, alpha (n,), tau and the multipliers (w,) of the kernels' constraints."""

    value: float
    alpha: Array
    tau: float
    multipliers: Array


def programme(
    Q: Array,
    X: Array,
    p: Array,
    y: Array,
    upper: Array,
    offset: ArrayLike = 0.0,
    balance: float = 0.0,
    lower: ArrayLike = 0.0,
) -> ProgrammeSolution:
    """Maximise p'alpha - 1/2 alpha' Q alpha - 1/2 tau^2 over alpha (n,) and tau

    subject to offset + X'alpha <= tau, lower <= alpha <= upper, y'alpha = balance.
    """
    alpha, tau = cp.Variable(len(y)), cp.Variable()
    kernels = offset + X.T @ alpha <= tau
    problem = cp.Problem(
        cp.Maximize(p @ alpha - 0.5 * cp.sum_squares(root(Q) @ alpha) - 0.5 * cp.square(tau)),
        [kernels, alpha >= lower, alpha <= upper, y @ alpha == balance],
    )
    _solve(problem)
    return ProgrammeSolution(
        float(problem.value), alpha.value, float(tau.value), kernels.dual_value
    )


def root(K: Array) -> Array:
    """Return R with R'R = K."""
    eigenvalues, vectors = np.linalg.eigh(K)
    kept = eigenvalues > 1e-13 * max(eigenvalues[-1], np.finfo(float).tiny)
    if not kept.any():
        return np.zeros((1, len(K)))
    return np.sqrt(eigenvalues[kept])[:, None] * vectors[:, kept].T
