"""Groups of kernels: a partition of a bank's kernels, such as one group a descriptor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError
from mklbench.kernels.base import Array, Bank
from mklbench.validation import check_choice

GroupLists = Sequence[Sequence[int]]

_CHOICES = ("bank", "one", "singletons", "features")


class Groups:
    """A partition of M kernels into groups, and sums and maxima within its groups.

    Parameters
    ----------
    lists : GroupLists
        The indices of the kernels of each group.
    n_kernels : int
        M.

    Attributes
    ----------
    owner : ndarray of int of shape (M,)
        The number of the group that each kernel is in.
    sizes : ndarray of shape (number of groups,)
        Kernels in each group.

    Raises
    ------
    InputError
        If a group is empty, or the groups do not name each of the M kernels exactly once.
    """

    def __init__(self, lists: GroupLists, n_kernels: int) -> None:
        check_groups(lists, n_kernels)
        self.owner: NDArray[np.intp] = np.empty(n_kernels, dtype=np.intp)
        for number, group in enumerate(lists):
            self.owner[np.asarray(group, dtype=np.intp)] = number
        self.sizes = np.array([len(group) for group in lists])

    def __len__(self) -> int:
        return len(self.sizes)

    def sums(self, values: Array) -> Array:
        """Return the sum of the values within each group.

        Parameters
        ----------
        values : ndarray of shape (M,)
            One number a kernel.
        """
        totals = np.bincount(self.owner, weights=values, minlength=len(self))
        return totals.astype(np.float64, copy=False)

    def maxima(self, values: Array) -> Array:
        """Return the largest of the values within each group.

        Parameters
        ----------
        values : ndarray of shape (M,)
            One number a kernel.
        """
        largest = np.full(len(self), -np.inf)
        np.maximum.at(largest, self.owner, values)
        return largest

    def spread(self, by_group: Array) -> Array:
        """Return for each kernel (M,) the value of its group.

        Parameters
        ----------
        by_group : ndarray of shape (number of groups,)
            One value a group.
        """
        return by_group[self.owner]


def groups_of(bank: Bank, choice: str | GroupLists = "bank") -> Groups:
    """Return the groups of the kernels of a bank.

    Parameters
    ----------
    bank : Bank
        The bank of M kernels.
    choice : str or GroupLists, default="bank"
        "bank" for the groups that the bank itself has, or one of all kernels where it has
        none; "one" for one group of all kernels; "singletons" for a group of each kernel;
        "features" for a group of the kernels on each feature, and one of those on several features;
        or lists of kernel indices.

    Raises
    ------
    InputError
        If `choice` is no known name, or its lists are no partition of the kernels.
    """
    check_grouping(choice)
    everything = range(bank.n_kernels)
    lists: GroupLists = [everything]
    if not isinstance(choice, str):
        lists = choice
    elif choice == "singletons":
        lists = [[m] for m in everything]
    elif choice == "features":
        of_feature: dict[int, list[int]] = {}
        for m, feature in enumerate(bank.features):
            of_feature.setdefault(feature, []).append(m)
        lists = list(of_feature.values())
    elif choice == "bank" and bank.groups is not None:
        lists = bank.groups
    return Groups(lists, bank.n_kernels)


def check_grouping(choice: Any) -> None:
    """Raise an InputError unless `choice` is a known name or lists of whole numbers."""
    if isinstance(choice, str):
        check_choice("groups", choice, _CHOICES)
        return
    try:
        if all(not len(group) or np.asarray(group).dtype.kind in "iu" for group in choice):
            return
    except (TypeError, ValueError):
        pass
    raise InputError(
        f"groups={choice} is not accepted: give {', '.join(_CHOICES)}, or one list of kernel "
        "indices a group, as in [[0,1],[2]]."
    )


def check_groups(lists: GroupLists | None, n_kernels: int) -> None:
    """Raise an InputError unless `lists` are None or a partition of the kernels 0 ... M - 1."""
    if lists is None:
        return
    shown = f"groups={[list(group) for group in lists]}"
    if not all(len(group) for group in lists):
        raise InputError(f"{shown} has an empty group: leave it out.")
    if sorted(m for group in lists for m in group) != list(range(n_kernels)):
        raise InputError(
            f"{shown} do not name each of the {n_kernels} kernels exactly once: "
            f"give a partition of the indices 0 to {n_kernels - 1}."
        )
