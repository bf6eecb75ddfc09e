"""What of a run cannot be carried out, said before one of its steps is begun."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from mklbench import config as configs
from mklbench import memory
from mklbench.config.schemas import MEASURES, SCORES
from mklbench.contract import check_options
from mklbench.data.splits import folds, n_repeated
from mklbench.errors import InputError
from mklbench.experiments.run import Run
from mklbench.grids import first_values
from mklbench.kernels.base import KernelOperator
from mklbench.kernels.builders.matrix_files import sample_names
from mklbench.kernels.contract import NUMBER, Shape, builder_of, on_few
from mklbench.optim.fit_memory import fitting, searching


def check_run(run: Run, splits: Iterable[int] | None = None, jobs: int = 1) -> None:
    """Raise InputError for what can be seen to be wrong before anything is run.

    Loads the data, draws the splits (all if not given), those of the search and their folds,
    and makes the callables. `jobs` steps at the same time have to fit into the memory of this
    machine, which is not asked if there are none.
    """
    check_options(configs.algorithm(run.config.algo))
    for path, values in run.config.search.grid.items():
        for value in first_values(values) if path.startswith("algo.") else ():
            tried = run.config.with_values({path: value})
            check_options(configs.algorithm(tried.algo))
    builder = configs.kernel(run.config.kernel)
    _check_rows_of_files(run, builder)
    _check_own_rows(run, builder)
    if run.dataset().targets is not None:
        _check_regression(run)
    _check_scores(run)
    wanted = tuple(range(run.n_splits) if splits is None else splits)
    _check_splits(run, wanted)
    if jobs:
        _check_fits(run, wanted[0], jobs, builder)
    if lines := run.dataset().understood:
        lines += _repeated_rows(run, wanted[0])
        _tell("\n".join((f"{_named(run)}:", *(f"  {line}" for line in lines))))


def _repeated_rows(run: Run, split: int) -> tuple[str, ...]:
    """Say how many rows of a split are tested on and trained on, if any are."""
    X, (train, test) = run.dataset().X, run.rows(split)
    if not (n := n_repeated(X, train, test) if X.shape[1] else 0):
        return ()
    return (
        f"repeated  {n} of the {len(test)} test rows of split {split} equal a training row in all "
        "features: data.groups=COLUMN keeps rows together, or drop repeated rows from the file",
    )


def _check_regression(run: Run) -> None:
    """Raise InputError for what needs classes where the data have real targets."""
    if not configs.declared(run.config.algo).regression:
        raise InputError(
            f"algo={run.algo} needs classes, and data={run.data} has real numbers to "
            "predict: choose an algorithm for regression, such as algo=krr."
        )
    if run.config.split.stratified or run.config.search.score == "accuracy":
        raise InputError(
            f"split.stratified=true and search.score=accuracy need classes, and data={run.data} "
            "has real numbers to predict: leave them out, or set split.stratified=false."
        )


def _check_scores(run: Run) -> None:
    """Raise InputError for scorers that the data or the algorithm have nothing for."""
    score = run.config.search.score
    asked = [] if score in (None, *SCORES) else [("search.score", score)]
    asked += [("metrics", name) for name in run.metrics if name not in MEASURES]
    if not asked:
        return
    from mklbench.scoring import check_task  # loads scikit-learn

    data = run.dataset()
    n_classes = 0 if data.targets is not None else len(data.classes)
    for option, name in asked:
        check_task(option, str(name), run.data, n_classes, probabilities=option == "metrics")


def _check_rows_of_files(run: Run, builder: Any) -> None:
    """Raise InputError unless matrices from files are on the rows of the data, if on any."""
    n_samples, n_rows = builder_of(builder).n_samples, len(run.dataset().y)
    if n_samples not in (None, n_rows):
        raise InputError(
            f"kernel={run.kernel} has matrices on {n_samples} samples, and data={run.data} "
            f"has {n_rows} rows: they must be of the same samples, in the same order."
        )
    files = run.config.kernel.get("files") or []
    paths = [files] if isinstance(files, str) else files
    orders = [(f"kernel.files={path}", names) for path in paths if (names := sample_names(path))]
    for place, names in orders:
        others = [*orders[:1], *(("the data", list(one)) for one in run.dataset().sample_names)]
        for other, expected in others:
            if names != expected and set(names) & set(expected):
                raise InputError(
                    f"{place} has the samples in another order than {other}, or others: write "
                    "both with the same samples in one order."
                )


def _check_own_rows(run: Run, builder: Any) -> None:
    """Raise InputError for a kernel on features where there are none, or shifted row numbers.

    What was found out about the user's own files is said once.
    """
    data = run.dataset()
    if not data.X.shape[1] and not builder_of(builder).takes_rows:
        raise InputError(
            f"kernel={run.kernel} needs features, and data={run.data} has labels alone: "
            "choose kernel=grams kernel.files=FILE for Gram matrices, or a file with features."
        )
    split = run.config.split
    if data.understood and data.splits and not (split.kind == "given" or split.path):
        raise InputError(
            f"{_named(run)} has a training and a test part: set split=given to use them, or put "
            "all rows into one array to draw splits of your own."
        )
    if run.fixed_splits is None:
        return
    if run.fixed_splits.note:
        _tell(run.fixed_splits.note)
    if data.dropped_rows or run.config.data.get("keep_classes"):
        raise InputError(
            f"split.path={run.config.split.path} numbers the rows of the data, and "
            f"data={run.data} leaves some of them out: give files without those rows."
        )


def _named(run: Run) -> str:
    """Return what a user's own data are called, as they were given."""
    path = run.config.data["path"]
    return f"data.path={','.join(path) if isinstance(path, list) else path}"


@lru_cache(maxsize=64)
def _tell(text: str) -> None:
    """Print once what was understood of a file, beside the results rather than among them."""
    print(text, file=sys.stderr, flush=True)


def _check_splits(run: Run, wanted: Iterable[int]) -> None:
    """Draw splits and the folds of those that are searched."""
    data, search = run.dataset(), run.config.search
    searched = set(run.selection_splits or (wanted if search.grid else ()))
    for split in sorted({*wanted, *searched}):
        train, _ = run.rows(split)
        if split in searched and run.validation(split) is None:
            groups = None if data.groups is None else data.groups[train]
            folds(data.y[train], search.folds, 0, groups, run.config.split.kind == "time")


def _check_fits(run: Run, split: int, jobs: int, builder: Any) -> None:
    """Raise InputError unless the steps of a run fit into memory, so many at the same time."""
    n_train, n_test = map(len, run.rows(split))
    short = memory.shortage(bytes_of_step(run, split, jobs), n_train, jobs)
    if short is None:
        return
    few = _on_few(run, builder)
    kernels = "" if few is None else f" (M = {few.n_kernels} kernels)"
    each = f" for each of {jobs} processes" if jobs > 1 else ""
    fewer = f"split.n_train={short.fitting}"
    if run.config.split.test_fraction is not None:
        fewer = f"split.test_fraction=null {fewer} split.n_test={n_test}"
    remedy = (
        f"about n = {short.fitting} rows fit: set {fewer}{' or jobs=1' * (jobs > 1)}, or choose "
        "another kernel or algorithm"
        if short.fitting
        else "of fewer rows it would be as much: choose fewer kernels"
    )
    raise InputError(
        f"data={run.data} has {n_train} training rows: algo={run.algo} with "
        f"kernel={run.kernel}{kernels} needs {short}{each}; {remedy}."
    )


def bytes_of_step(run: Run, split: int, jobs: int = 1) -> Callable[[int], float]:
    """Return a function of n: the bytes that a split takes with n training rows.

    Parameters
    ----------
    run : Run
        The run; all its splits have parts of the same sizes.
    split : int
        One of the splits to be run.
    jobs : int, default=1
        Steps that are taken at the same time.
    """
    builder, solve = configs.kernel(run.config.kernel), configs.algorithm(run.config.algo)
    data, search = run.dataset(), run.config.search
    few, d = _on_few(run, builder), data.X.shape[1]
    # A worker has data of its own. Both parts are scaled, and there is what is on the way to that.
    others = len(data.y) * (jobs > 1) + 2 * len(run.rows(split)[1])

    def needs(n: int) -> float:
        samples = NUMBER * d * (others + 2 * n)
        if not search.grid:
            return samples + fitting(few, solve, Shape(n, d))
        return samples + searching(few, solve, Shape(n, d), search.folds)

    return needs


def _on_few(run: Run, builder: Any) -> KernelOperator | None:
    """Return the kernels of a run on two samples, whatever their features are."""
    data, declared = run.dataset(), builder_of(builder)
    samples = np.arange(2) if declared.takes_rows else np.eye(2, data.X.shape[1])
    return on_few(builder, samples, *([data.views] if declared.takes_views else ()))
