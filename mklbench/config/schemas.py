"""Dataclass schemas of the groups `split` and `search` and of the options of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

from mklbench.data.preprocessing import ScalingName
from mklbench.data.schema import Whole
from mklbench.data.splits import SplitProtocol
from mklbench.errors import InputError, unknown
from mklbench.grids import AUTO, are_numbers
from mklbench.reader import Rule, Where, flag
from mklbench.validation import check_number

# The config groups of a run.
GROUPS = ("algo", "kernel", "data", "split", "search")
# Scores of a search that are known without loading scikit-learn, which has all the others.
SCORES = ("accuracy", "rmse")
# And of those others the ones that the tables ask for.
TABLE_SCORERS = ("f1", "roc_auc")
# What `metrics=` takes beside the scorers of scikit-learn: it is measured of the fitted model.
MEASURES = ("model_bytes",)

# More processes than any one machine has use for, and fewer than would bring it down.
MAX_JOBS = 1024
# A hundred times what the publications with the most splits have.
MAX_SPLITS = 10_000
# What `auto` may stand for in a grid.
AUTO_OPTIONS = ("algo.C", "algo.lam")


def _positive(found: Any, where: Where) -> float:
    return check_number(str(where), found, 0.0, math.inf, "a number above 0", True, True)


def _file(*endings: str) -> Rule:
    """Return the rule of the name of a file that ends in one of `endings`."""

    def rule(found: Any, where: Where) -> str:
        if not str(found).endswith(endings):
            names = " or ".join(endings)
            raise InputError(f"{where}={found} is not accepted: name a file in {names}.")
        return str(found)

    return rule


class OptionWhere(Where):
    """A place in the groups `split` and `search` or in the options of a run, as in an override."""

    rules: ClassVar[Mapping[Any, Rule]] = {
        int: Whole(0),
        float: lambda found, at: check_number(str(at), found, -math.inf, math.inf, "a number"),
        bool: flag,
        str: lambda found, where: str(found),
    }

    def __str__(self) -> str:
        return ".".join(self.parts)


def _scorer(found: Any, where: Where) -> str:
    return _score(str(where), str(found), SCORES)


def _score(option: str, name: str, known: tuple[str, ...]) -> str:
    """Read the name of a score: one of `known`, or of scikit-learn's scorers."""
    if name in known or name in TABLE_SCORERS:  # without loading scikit-learn
        return name
    from sklearn.metrics import get_scorer_names

    if name not in (names := get_scorer_names()):
        raise unknown(option, name, {*names, *known})
    return name


@dataclass(frozen=True)
class SplitConfig(SplitProtocol):
    """The group `split`: how rows are divided and features scaled.

    The sizes of the parts are a `test_fraction`, or `n_train` and `n_test` with no fraction; or the
    file `path` names the rows, of which the first has the number `first_row`; or `kind` is one of
    those of `SplitProtocol`, with its `folds`.
    """

    name: str = "custom"
    title: str = ""
    n_splits: Annotated[int, Whole(1, MAX_SPLITS)] | None = 20
    test_fraction: float | None = 0.3
    scaling: ScalingName = "minmax"
    seed: Annotated[int, Whole(0)] = 0
    path: str | None = None
    first_row: Literal["auto", 0, 1] | None = None
    kind: Literal["kfold", "loo", "groups", "time", "given"] | None = None
    folds: Annotated[int, Whole(2)] | None = None

    def __post_init__(self) -> None:
        is_file, is_drawn = self.path is not None, self.path is None and self.kind is None
        has_folds = self.kind in ("kfold", "time")
        has_use = {
            **dict.fromkeys(("test_fraction", "n_train", "n_test"), is_drawn),
            "stratified": not is_file,
            "first_row": is_file,
            "folds": has_folds,
        }
        for option, is_used in has_use.items():
            found = getattr(self, option)
            if found is not None and found is not False and not is_used:
                chosen = f"split.path={self.path}" if is_file else f"split={self.name}"
                raise InputError(
                    f"split.{option}={found} has no use with {chosen}: leave it out, or set "
                    f"split.{option}={'false' if found is True else 'null'}."
                )
        for option, is_needed in {"folds": has_folds, "n_splits": is_drawn}.items():
            if is_needed and getattr(self, option) is None:
                raise InputError(f"split.{option} is not set: give a number, as in {option}=10.")
        n_sizes = (self.n_train is not None) + (self.n_test is not None)
        if is_drawn and n_sizes != (2 if self.test_fraction is None else 0):
            raise InputError(
                "A split is given by split.test_fraction alone, or by split.n_train and "
                "split.n_test with split.test_fraction=null."
            )


@dataclass(frozen=True)
class SearchConfig:
    """The group `search`: the grid tried inside the training part (empty: none).

    `grid` maps dotted paths of hyperparameters (``algo.C``) to lists of values; C and the ridge
    lambda may be "auto", in units of the kernel (`mklbench.grids`). With `splits` a
    choice is made on the training parts of the first so many splits, and of each hyperparameter
    the median of these is used on all, or with `combine` what one of the splits has chosen as a
    whole: the "smallest", the "largest" or the "joint" median; null lets every split choose for
    itself. Of settings with the same score the one with the smaller C, and then the earlier, is
    chosen, unless `ties` is "larger". `score` is what the
    cross-validation looks at, "accuracy", "rmse" or one of scikit-learn's scorers; null is the
    accuracy of classes and the RMSE of real targets. `tol` takes the place of ``algo.tol`` while
    the cross-validation is done: errors can be told apart before an objective is exact. Null keeps
    that of the config. `fits` maps dotted paths of other options of the algorithm to the values
    that the fits of the cross-validation have, such as ``algo.n_global_ascents`` to 0.
    """

    name: str = "custom"
    title: str = ""
    folds: Annotated[int, Whole(2)] = 5
    splits: Annotated[int, Whole(1)] | None = None
    combine: Literal["smallest", "largest", "joint"] | None = None
    ties: Literal["larger"] | None = None
    score: Annotated[str, _scorer] | None = None
    tol: Annotated[float, _positive] | None = None
    fits: dict[str, Any] | None = None
    grid: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in self.fits or ():
            if not path.startswith("algo.") or path in self.grid:
                raise InputError(
                    f"search.fits.{path} is not accepted: name an option of the algorithm that is "
                    "not in search.grid, such as algo.max_iter."
                )
        for path, values in self.grid.items():
            group, _, key = path.partition(".")
            if group not in ("algo", "kernel") or not key or key in ("name", "title"):
                raise InputError(
                    f"search.grid.{path} is not accepted: a grid key is the dotted path of a "
                    "hyperparameter, such as algo.C or kernel.gamma."
                )
            if values == AUTO and path in AUTO_OPTIONS:
                continue
            if not isinstance(values, list) or not values:
                auto = f", or {AUTO}" if path in AUTO_OPTIONS else ""
                raise InputError(
                    f"search.grid.{path}={values} is not accepted: give a list of values to "
                    f"try{auto}."
                )
            if self.splits is not None and not are_numbers(values):
                raise InputError(
                    f"search.grid.{path}={values} is not accepted with search.splits={self.splits}:"
                    " only of numbers is there a median; set search.splits=null."
                )


@dataclass(frozen=True)
class RunOptions:
    """The options of a run; none of them changes a result."""

    executor: dict[str, Any] = field(default_factory=dict)
    jobs: Annotated[int, Whole(1, MAX_JOBS)] = 1
    timeout: Annotated[float, _positive] | None = None
    results_dir: str = "results/store"
    out: Annotated[str, _file(".csv")] | None = None
    predictions: Annotated[str, _file(".csv", ".parquet")] | None = None
    progress: Literal["auto", "bar", "lines", "none"] = "auto"


@dataclass(frozen=True)
class RunConfig:
    """What is run: an algorithm with kernels on data, under a split protocol and a search.

    Attributes
    ----------
    algo, kernel, data : mapping of str to object
        The resolved groups; the first two name a callable in ``_target_``.
    split : SplitConfig
        How rows are divided.
    search : SearchConfig
        How hyperparameters are chosen.
    metrics : tuple of str
        What is measured of each split beyond what records have.
    """

    algo: Mapping[str, Any]
    kernel: Mapping[str, Any]
    data: Mapping[str, Any]
    split: SplitConfig
    search: SearchConfig
    metrics: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash(repr(self))

    def as_dict(self) -> dict[str, Any]:
        """Return it as it is recorded, and as keys are computed from it."""
        groups = {group: getattr(self, group) for group in GROUPS}
        stated = {
            group: dict(node if isinstance(node, Mapping) else vars(node))
            for group, node in groups.items()
        }
        return stated | ({"metrics": {"scorers": list(self.metrics)}} if self.metrics else {})

    def with_values(self, values: Mapping[str, Any]) -> RunConfig:
        """Return a config with values at dotted paths (``{"algo.C": 10}``) replaced."""
        changed: dict[str, Any] = dict(vars(self))
        for path, new in values.items():
            group, _, name = path.partition(".")
            node = changed[group]
            is_mapping = isinstance(node, Mapping)
            changed[group] = {**node, name: new} if is_mapping else replace(node, **{name: new})
        return RunConfig(**changed)


def scorers(found: Any) -> list[str]:
    """Return the names in ``metrics=``, what is measured of each split beyond what records have.

    Parameters
    ----------
    found : object
        One name of scikit-learn's scorers or of `MEASURES`, a list of them, or None for none.

    Raises
    ------
    InputError
        If it is something else.
    """
    names = found if isinstance(found, list) else [] if found is None else [found]
    return list(dict.fromkeys(_score("metrics", name, MEASURES) for name in names))
