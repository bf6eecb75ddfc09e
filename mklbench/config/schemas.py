"""Dataclass schemas of the groups `split` and `search` and of the options of a run."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mklbench.config.names import hint
from mklbench.errors import InputError

SCALINGS = ("none", "standard", "minmax")
SCORES = ("accuracy", "rmse")
PROGRESS = ("auto", "bar", "lines", "none")

# More processes than any one machine has use for, and fewer than would bring it down.
MAX_JOBS = 1024
# So many fits, times the folds, are the search of one split.
MAX_GRID = 10_000
# A hundred times what the publications with the most splits have.
MAX_SPLITS = 10_000


@dataclass
class Schema(ABC):
    """A dataclass that can check its own values."""

    @abstractmethod
    def check(self) -> None:
        """Raise InputError for the first value out of range."""


S = TypeVar("S", bound=Schema)


@dataclass
class SplitConfig(Schema):
    """Schema of the group `split`: how rows are divided and features scaled.

    The sizes of the parts are a `test_fraction`, or `n_train` and `n_test` with no fraction.
    """

    name: str = "custom"
    title: str = ""
    n_splits: int = 20
    test_fraction: float | None = 0.3
    n_train: int | None = None
    n_test: int | None = None
    stratified: bool = False
    scaling: str = "minmax"
    seed: int = 0

    def check(self) -> None:
        """Raise InputError for the first value out of range."""
        _at_least("split.n_splits", self.n_splits, 1)
        _at_most("split.n_splits", self.n_splits, MAX_SPLITS)
        _at_least("split.seed", self.seed, 0)
        if self.test_fraction is None:
            self._check_sizes()
        elif self.n_train is not None or self.n_test is not None:
            raise InputError(
                f"split.test_fraction={self.test_fraction:g} is not accepted beside split.n_train "
                "and split.n_test: set split.test_fraction=null, or leave the other two out."
            )
        elif not 0 < self.test_fraction < 1:
            raise InputError(
                f"split.test_fraction={self.test_fraction:g} is not accepted: "
                "it must lie between 0 and 1, both excluded."
            )
        _one_of("split.scaling", self.scaling, SCALINGS)

    def _check_sizes(self) -> None:
        for option, value in (("n_train", self.n_train), ("n_test", self.n_test)):
            if value is None:
                raise InputError(
                    f"split.{option} is not set: give the rows of both parts, as in "
                    "split.n_train=400 split.n_test=4900, or a split.test_fraction."
                )
            _at_least(f"split.{option}", value, 1)


@dataclass
class SearchConfig(Schema):
    """Schema of the group `search`: the grid tried inside the training part (empty: none).

    `grid` maps dotted paths of hyperparameters (``algo.C``) to lists of values. With `splits` a
    choice is made on the training parts of the first so many splits, and of each hyperparameter
    the median of these is used on all; null lets every split choose for itself. `score` is what the
    cross-validation looks at, "accuracy" or "rmse"; null is the accuracy of classes and the RMSE of
    real targets. `tol` takes the place of ``algo.tol`` while the cross-validation is done: errors
    can be told apart before an objective is exact. Null keeps that of the config.
    """

    name: str = "custom"
    title: str = ""
    folds: int = 5
    splits: int | None = None
    score: str | None = None
    tol: float | None = None
    grid: dict[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Raise InputError for the first value out of range."""
        _at_least("search.folds", self.folds, 2)
        if self.splits is not None:
            _at_least("search.splits", self.splits, 1)
            _at_most("search.splits", self.splits, MAX_SPLITS)
        if self.score is not None:
            _one_of("search.score", self.score, SCORES)
        if self.tol is not None and not 0 < self.tol < math.inf:
            raise InputError(f"search.tol={self.tol} is not accepted: it must be a number above 0.")
        for path, values in self.grid.items():
            group, _, key = path.partition(".")
            if group not in ("algo", "kernel") or not key or key in ("name", "title"):
                raise InputError(
                    f"search.grid.{path} is not accepted: a grid key is the dotted path of a "
                    "hyperparameter, such as algo.C or kernel.gamma."
                )
            if not isinstance(values, list) or not values:
                raise InputError(
                    f"search.grid.{path}={values} is not accepted: give a list of values to try."
                )
            if self.splits is not None and not all(map(_is_number, values)):
                raise InputError(
                    f"search.grid.{path}={values} is not accepted with search.splits={self.splits}:"
                    " only of numbers is there a median; set search.splits=null."
                )
        n_entries = math.prod(map(len, self.grid.values()))
        if n_entries > MAX_GRID:
            raise InputError(
                f"search.grid has {n_entries} entries in {', '.join(self.grid)}, and at most "
                f"{MAX_GRID} can be tried: give fewer values."
            )


@dataclass
class RunConfig(Schema):
    """Schema of the options of a run; none of them changes a result."""

    executor: dict[str, Any] = field(default_factory=dict)
    jobs: int = 1
    timeout: float | None = None
    results_dir: str = "results/store"
    out: str | None = None
    progress: str = "auto"

    def check(self) -> None:
        """Raise InputError for the first value out of range."""
        _at_least("jobs", self.jobs, 1)
        if self.jobs > MAX_JOBS:
            raise InputError(
                f"jobs={self.jobs} is not accepted: at most {MAX_JOBS} worker processes, and more "
                "than the processors of the machine save no time."
            )
        if self.timeout is not None and not 0 < self.timeout < math.inf:
            raise InputError(
                f"timeout={self.timeout:g} is not accepted: give seconds > 0, or null for no limit."
            )
        if not self.results_dir:
            raise InputError("results_dir= is empty: name a directory for the store.")
        if self.out is not None and not self.out.endswith(".csv"):
            raise InputError(f"out={self.out} is not accepted: give the name of a .csv file.")
        _one_of("progress", self.progress, PROGRESS)


def checked(group: str, schema: type[S], values: Mapping[str, Any]) -> S:
    """Return an instance of `schema` holding `values` in its types, checked.

    Raises
    ------
    InputError : for an unknown key (with the nearest names), a wrong type or a value out of range.
    """
    prefix = f"{group}." if group else ""
    structure = OmegaConf.structured(schema)
    for key, value in values.items():
        if key not in structure:
            raise InputError(f"{prefix}{key}={value} is not known: {hint(key, structure, prefix)}.")
    try:
        instance = OmegaConf.to_object(OmegaConf.merge(structure, dict(values)))
    except OmegaConfBaseException as error:
        raise _wrong_type(prefix, schema, values) from error
    assert isinstance(instance, schema)
    instance.check()
    return instance


def _wrong_type(prefix: str, schema: type[Schema], values: Mapping[str, Any]) -> InputError:
    """Build the error for the first of `values` that cannot be converted to its type."""
    types = {item.name: item.type for item in fields(schema)}
    for key, value in values.items():
        try:
            OmegaConf.merge(OmegaConf.structured(schema), {key: value})
        except OmegaConfBaseException:
            return InputError(
                f"{prefix}{key}={value} is not accepted: it must be of type {types[key]}."
            )
    raise AssertionError("each value is fine, but not all together")


def _at_least(option: str, value: int, minimum: int) -> None:
    if value < minimum:
        raise InputError(f"{option}={value} is not accepted: it must be at least {minimum}.")


def _at_most(option: str, value: int, maximum: int) -> None:
    if value > maximum:
        raise InputError(f"{option}={value} is not accepted: it must be at most {maximum}.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _one_of(option: str, value: str, accepted: Sequence[str]) -> None:
    if value not in accepted:
        raise InputError(f"{option}={value} is not known: {hint(value, accepted)}.")
