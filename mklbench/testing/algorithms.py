"""What holds for every algorithm, whatever it solves.

The checks are functions of a `Case`, in `declarations`, `solutions` and `invariance`.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from pathlib import Path

from mklbench.contract import Algorithm, Solver, algorithm_of
from mklbench.kernels import Bank, Family, KernelBuilder, feature_gaussians, product_gaussians
from mklbench.testing import declarations, invariance, solutions
from mklbench.testing.case import Bounds, Case


def check_algorithm(
    solve: Solver | str,
    *,
    kernels: KernelBuilder | None = None,
    bounds: Bounds | None = None,
    lenient: Collection[str] = (),
    config_dir: Path | str | None = None,
) -> None:
    """Check what holds for every algorithm (`mklbench.contract`).

    The problems have 40 samples of 4 features and labels -1 and +1; with ``REGRESSION = True``
    there is one with real targets as well.

    Parameters
    ----------
    solve : callable or str
        ``solve`` of a module, options bound or not, or the name of its config ``algo/NAME.yaml``,
        which binds the options and chooses the kernels.
    kernels : callable, optional
        Builder of the kernels, from features to a bank or a family. If not given, Gaussians on
        single features, products of Gaussians in a box, or both, as the annotation of the first
        parameter of `solve` says.
    bounds : callable, optional
        For convex problems: ``bounds(grams, y, C, solution)`` returns a lower and an upper bound on
        the optimum, from dense Gram matrices (M, n, n). Of ``EXACT = True`` they are known.
    lenient : collection of str, default=()
        Options that need not refuse what they cannot be used with.
    config_dir : Path, str or None, default=None
        The directory of your own configs, where `solve` is a name.

    Raises
    ------
    AssertionError
        In one sentence, for the first thing that does not hold.
    """
    if isinstance(solve, str):
        solve, kernels = _of_config(solve, kernels, config_dir)
    for build in [kernels] if kernels else _builders(algorithm_of(solve)):
        case = Case(solve, algorithm_of(solve), build, frozenset(lenient), bounds)
        for check in _CHECKS:
            check(case)


def _of_config(
    name: str, kernels: KernelBuilder | None, config_dir: Path | str | None
) -> tuple[Solver, KernelBuilder]:
    from mklbench import config as configs

    config = configs.cell_config(configs.compose([f"algo={name}"], config_dir))
    return configs.algorithm(config["algo"]), kernels or configs.kernel(config["kernel"])


def _builders(algorithm: Algorithm) -> list[KernelBuilder]:
    """Return builders of the kernels that an algorithm says it takes."""
    family: KernelBuilder = partial(product_gaussians, gamma_max=30.0)
    by_kind: dict[type, list[KernelBuilder]] = {Bank: [feature_gaussians], Family: [family]}
    return by_kind.get(algorithm.takes, [feature_gaussians, family])


_CHECKS = (
    declarations.signature,
    declarations.docstring,
    solutions.form,
    solutions.dual_feasibility,
    solutions.machine_fits_its_kernel,
    solutions.prediction,
    invariance.determinism,
    invariance.order_of_the_samples,
    invariance.label_flip,
    solutions.gap,
    declarations.refused_options,
    declarations.refused_labels,
    declarations.refused_kernels,
    invariance.start,
    invariance.together,
)
