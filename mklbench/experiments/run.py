"""A run: what is run, as resolved configs, and on which rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mklbench import config as configs
from mklbench.config import RunConfig
from mklbench.data import Dataset, load, open_editions, registered_digest, settle
from mklbench.data.split_files import FixedSplits, read_splits
from mklbench.data.splits import draw_split, n_splits
from mklbench.errors import InputError
from mklbench.experiments.identity import digest_of, identity_of


class Run:
    """One algorithm with one kernel on one data set, under a split protocol and a search.

    Parameters
    ----------
    config : RunConfig
        Resolved and checked. Of which edition the data are is settled here, for all splits.

    Attributes
    ----------
    config : RunConfig
        As given, with the edition of the data settled.
    n_splits : int
        How many splits are wanted; not part of the key, so that more can be added later.
    algo, kernel, data, search : str
        Names of these configs.
    metrics : tuple of str
        Names of scikit-learn's scorers, by which each split is measured in addition.
    label : str
        Readable name; runs that differ in a hyperparameter alone share it.
    """

    def __init__(self, config: RunConfig) -> None:
        self._editions = open_editions(config.data)
        self.config = replace(config, data=settle(config.data))
        self.n_splits: int = self._number_of_splits()
        self.config = self.config.with_values({"split.n_splits": self.n_splits})
        self.algo, self.kernel, self.data = (
            str(group.get("name")) for group in (config.algo, config.kernel, config.data)
        )
        self.search, self.metrics = config.search.name, config.metrics
        self.label = f"{self.algo}-{self.kernel}-{self.data}"

    def __reduce__(self) -> tuple[type[Run], tuple[RunConfig]]:
        return Run, (self.config,)  # files and code are looked up where it is sent to

    def _number_of_splits(self) -> int:
        """Return how many splits are wanted, which a file of them states."""
        split = self.config.split
        # Folds are drawn anew, and parts that are given have other folds in a search.
        again = split.kind == "kfold" or (split.kind == "given" and self.config.search.grid)
        if split.n_splits and again:
            return split.n_splits
        if (fixed := self.fixed_splits) is not None:
            known, place = len(fixed.splits), fixed.place
        elif split.kind is not None:
            data, place = self.dataset(), f"split={split.kind}"
            known = n_splits(split, len(data.y), data.groups, len(data.splits))
        else:
            assert split.n_splits is not None  # of splits that are drawn
            return split.n_splits
        wanted = split.n_splits or known
        if wanted > known:
            raise InputError(
                f"split.n_splits={wanted} is more than the {known} of {place}: leave it out to run "
                "all of them."
            )
        return wanted

    @cached_property
    def fixed_splits(self) -> FixedSplits | None:
        """The splits of the user's own file; None where there is no such file."""
        split = self.config.split
        return None if split.path is None else read_splits(split.path, split.first_row or "auto")

    @classmethod
    def from_overrides(
        cls, overrides: Iterable[str] = (), config_dir: Path | str | None = None
    ) -> Run:
        """Compose a run from overrides such as ``["algo=svm", "data=sonar"]``.

        Raises
        ------
        InputError
            For an unknown choice, key or value.
        """
        return cls(configs.config_of(overrides, config_dir))

    def editions(self) -> tuple[Run, ...]:
        """Return the runs of every edition of the data, unless the config names one; this first.

        What was recorded on another machine may be of another edition than is at hand here.
        """
        data = self.config.data
        others = (other for other in self._editions if other != data["edition"])
        return self, *(Run(replace(self.config, data={**data, "edition": o})) for o in others)

    @property
    def selection_splits(self) -> range:
        """The splits whose training parts choose for all (`search.splits`); none if each chooses.

        They do not depend on `n_splits`.
        """
        search = self.config.search
        return range(search.splits or 0) if search.grid else range(0)

    @cached_property
    def directory_name(self) -> str:
        """Name of the run's directory in a store."""
        return f"{re.sub(r'[^A-Za-z0-9_.+-]', '_', self.label)}-{self.key}"

    @cached_property
    def data_digest(self) -> str:
        """Digest of the data's content; known without loading where the config states it."""
        return registered_digest(self.config.data) or self.dataset().digest

    @cached_property
    def key(self) -> str:
        """Digest (12 hexadecimal digits) of the identity."""
        return digest_of(self.identity)

    @property
    def identity(self) -> dict[str, Any]:
        """All that determines a result, code version included."""
        fixed = None if self.fixed_splits is None else self.fixed_splits.digest
        return identity_of(self.config, self.data_digest, fixed)

    def dataset(self) -> Dataset:
        """Load the data, once a process.

        Raises
        ------
        DataError
            If the data cannot be had, read or verified.
        """
        return _load(json.dumps(self.config.data))

    def rows(self, split: int) -> tuple[Any, Any]:
        """Return the training and the test rows of a split: of a file, official or random.

        Of a file with a validation part, the training rows are those of both.
        """
        data = self.dataset()
        if self.fixed_splits is not None:
            fixed = self.fixed_splits.checked(split, data.y, data.classes)
            _require_whole_groups(data.groups, fixed.learning, fixed.test, split)
            return fixed.learning, np.sort(fixed.test)
        protocol = self.config.split
        if protocol.kind == "given":
            known = n_splits(protocol, len(data.y), data.groups, len(data.splits))
            return data.splits[split % known]
        if self._is_official(split):
            return data.splits[split]
        return draw_split(data.y, data.digest, split, protocol, data.groups)

    def validation(self, split: int) -> NDArray[np.int64] | None:
        """Return which of the training rows, by position, the search tests on.

        None where it makes folds: where no file of splits has a validation part.
        """
        if self.fixed_splits is None:
            return None
        fixed = self.fixed_splits.splits[split]
        if not len(fixed.validation):
            return None
        return np.flatnonzero(np.isin(fixed.learning, fixed.validation))

    def split_source(self, split: int) -> Literal["official", "random", "file"]:
        """Tell whether a split is one that the data's source or a file holds, or drawn by us."""
        if self.fixed_splits is not None:
            return "file"
        return "official" if self._is_official(split) else "random"

    def _is_official(self, split: int) -> bool:
        """Whether the source of the data holds this split, and of the sizes that are asked for."""
        splits, protocol = self.dataset().splits, self.config.split
        if protocol.kind == "given":
            return True
        if split >= len(splits):
            return False
        return tuple(map(len, splits[split])) == (protocol.n_train, protocol.n_test)


def _require_whole_groups(groups: Any, train: Any, test: Any, split: int) -> None:
    """Raise InputError for a split of a file that has rows of a group in both parts."""
    if groups is not None and len(shared := np.intersect1d(groups[train], groups[test])):
        row = np.flatnonzero(groups == shared[0])[0]
        raise InputError(
            f"split.path has rows of the same group in both parts of split {split}, such as that "
            f"of row {row}: put each group into one of them, or leave data.groups out."
        )


@lru_cache(maxsize=4)
def _load(config: str) -> Dataset:
    return load(json.loads(config))
