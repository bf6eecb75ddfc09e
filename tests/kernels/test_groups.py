"""Groups of kernels: who has which, and the sums and maxima within them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from problems import random_problem

from mklbench.errors import InputError
from mklbench.kernels import (
    Bank,
    ConcatenatedBank,
    DenseBank,
    FeatureBank,
    Gaussian,
    feature_gaussians,
    simplemkl_bank,
    unit_trace,
)
from mklbench.kernels.groups import Groups, groups_of


def members(groups: Groups) -> list[list[int]]:
    return [np.flatnonzero(groups.owner == j).tolist() for j in range(len(groups))]


class TestReductions:
    def test_within_groups_in_any_order(self) -> None:
        groups = Groups([[3, 0], [4], [1, 2]], 5)
        values = np.array([1.0, 2.0, -3.0, 4.0, 5.0])
        assert_array_equal(groups.sizes, [2, 1, 2])
        assert_array_equal(groups.sums(values), [5.0, 5.0, -1.0])
        assert_array_equal(groups.maxima(values), [4.0, 5.0, 2.0])
        assert_array_equal(groups.spread(np.array([10.0, 20.0, 30.0])), [10, 30, 30, 10, 20])


class TestChoice:
    def test_a_bank_without_groups_is_one_group(self) -> None:
        X, _ = random_problem(10, 3)
        assert members(groups_of(feature_gaussians(X))) == [[0, 1, 2]]

    def test_names(self) -> None:
        X, _ = random_problem(10, 3)
        bank = feature_gaussians(X, gammas=[0.1, 1.0])
        bank.groups = [[5, 0, 1], [2, 3, 4]]
        assert members(groups_of(bank, "bank")) == [[0, 1, 5], [2, 3, 4]]
        assert members(groups_of(bank, "one")) == [[0, 1, 2, 3, 4, 5]]
        assert members(groups_of(bank, "singletons")) == [[0], [1], [2], [3], [4], [5]]
        assert members(groups_of(bank, "features")) == [[0, 1], [2, 3], [4, 5]]
        assert members(groups_of(bank, [[5], [0, 1, 2, 3, 4]])) == [[5], [0, 1, 2, 3, 4]]

    def test_kernels_on_several_features_are_a_group_of_their_own(self) -> None:
        X, _ = random_problem(10, 3)
        groups = groups_of(simplemkl_bank(X), "features")
        assert_array_equal(groups.owner, np.repeat(np.arange(4), 13))


class TestBanks:
    def concatenated(self, groups: object) -> ConcatenatedBank:
        X, _ = random_problem(12, 3)
        functions = [Gaussian(0.5), Gaussian(2.0)]
        return ConcatenatedBank([DenseBank(X, functions), FeatureBank(X, functions)], groups)  # type: ignore[arg-type]

    def test_parts_are_groups_where_asked(self) -> None:
        assert self.concatenated(None).groups is None
        assert self.concatenated("parts").groups == [[0, 1], [2, 3, 4, 5, 6, 7]]
        with pytest.raises(InputError, match="do not name each of the 8 kernels exactly once"):
            self.concatenated("part")
        with pytest.raises(InputError, match="do not name each of the 8 kernels"):
            self.concatenated([[0]])

    @pytest.mark.parametrize("which", ["concatenated", "scaled", "features", "dense"])
    def test_restrictions_and_scales_keep_them(self, which: str) -> None:
        X, _ = random_problem(12, 3)
        bank: Bank = {
            "concatenated": lambda: self.concatenated("parts"),
            "scaled": lambda: unit_trace(self.concatenated("parts")),
            "features": lambda: feature_gaussians(X),
            "dense": lambda: DenseBank(X, [Gaussian(0.5)]),
        }[which]()
        if bank.groups is None:
            bank.groups = [[m] for m in range(bank.n_kernels)]
        assert bank.take([3, 0, 5]).groups == bank.groups
        assert unit_trace(bank).groups == bank.groups
