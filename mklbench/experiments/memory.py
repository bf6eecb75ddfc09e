"""Cells that do not fit into memory, refused before one of their steps is begun."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mklbench import config as configs
from mklbench import memory
from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.kernels.contract import NUMBER, Shape, memory_of
from mklbench.optim.fit_memory import fitting, searching


def check_fits(cell: Cell, split: int, jobs: int = 1, builder: Any = None) -> None:
    """Raise InputError unless the steps of a cell fit into memory.

    Parameters
    ----------
    cell : Cell
        The cell; all its splits have parts of the same sizes.
    split : int
        One of the splits to be run.
    jobs : int, default=1
        Steps that are taken at the same time.
    builder : object, default=None
        Of its kernels, where it has been made.
    """
    built = configs.kernel(cell.config["kernel"]) if builder is None else builder
    n_train, n_test = map(len, cell.rows(split))
    short = memory.shortage(bytes_of_step(cell, split, jobs, built), n_train, jobs)
    if short is None:
        return
    n_kernels = memory_of(built, _shape(cell, n_train)).n_kernels
    kernels = "" if n_kernels is None else f" (M = {n_kernels} kernels)"
    each = f" for each of {jobs} processes" if jobs > 1 else ""
    fewer = f"split.n_train={short.fitting}"
    if cell.fixed_splits is not None:
        fewer = f"split.path to a file with parts of {short.fitting} rows"
    elif cell.config["split"]["test_fraction"] is not None:
        fewer = f"split.test_fraction=null {fewer} split.n_test={n_test}"
    remedy = (
        f"about n = {short.fitting} rows fit: set {fewer}{' or jobs=1' * (jobs > 1)}, or choose "
        "another kernel or algorithm"
        if short.fitting
        else "of fewer rows it would be as much: choose fewer kernels"
    )
    raise InputError(
        f"data={cell.data} has {n_train} training rows: algo={cell.algo} with "
        f"kernel={cell.kernel}{kernels} needs {short}{each}; {remedy}."
    )


def bytes_of_step(
    cell: Cell, split: int, jobs: int = 1, builder: Any = None
) -> Callable[[int], float]:
    """Return a function of n: the bytes that a split takes with n training rows.

    Parameters are those of `check_fits`.
    """
    built = configs.kernel(cell.config["kernel"]) if builder is None else builder
    data, search = cell.dataset(), cell.config["search"]
    shape = _shape(cell, 0)
    solve = configs.algorithm(cell.config["algo"])
    # A worker has data of its own. Both parts are scaled, and there is what is on the way to that.
    others = len(data.y) * (jobs > 1) + 2 * len(cell.rows(split)[1])

    def needs(n: int) -> float:
        samples = NUMBER * shape.d * (others + 2 * n)
        few = shape.with_samples(n)
        if not search["grid"]:
            return samples + fitting(built, solve, few)
        return samples + searching(built, solve, few, search["folds"])

    return needs


def _shape(cell: Cell, n: int) -> Shape:
    data = cell.dataset()
    return Shape(n, data.X.shape[1], max(1, len(data.views)))
