"""Names of rows and columns, as data frames have them: whether two lists of them agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.errors import InputError

Names = list[Any]


def names_of_rows(X: Any) -> Names | None:
    """Return the names (n,) of the rows of a data frame or a series, None of other samples."""
    return list(X.index) if hasattr(X, "iloc") else None


def names_of_columns(X: Any) -> Names | None:
    """Return the names (d,) of the columns of a data frame, None of other samples."""
    return list(X.columns) if hasattr(X, "iloc") and hasattr(X, "columns") else None


def difference(known: Names | None, new: Names | None) -> str | None:
    """Return in which way names are others than those known, None if they are not.

    They are not where one of the two has no names, or numbers from 0 to n - 1 that stand for none;
    but such numbers in another order are another order.

    Parameters
    ----------
    known, new : list or None
        Names of rows or columns, of any type.
    """
    if known is None or new is None or known == new:
        return None
    if reordered(known, new):
        j = next(j for j, (one, other) in enumerate(zip(known, new, strict=True)) if one != other)
        return f"in another order, {new[j]!r} in the place of {known[j]!r}"
    if is_numbering(known) or is_numbering(new):
        return None
    lacking = [name for name in known if name not in set(new)]
    return f"without {lacking[0]!r}" if lacking else f"with {_first_other(new, known)!r}"


def check_same_names(
    what: str, kind: str, new: Sequence[str] | None, known: Sequence[str] | None
) -> None:
    """Raise an InputError unless views or kernels have the names of those known, in any order."""
    if set(new or ()) == set(known or ()):
        return
    had, have = (
        f"{kind} without names" if names is None else f"the {kind} {', '.join(map(repr, names))}"
        for names in (known, new)
    )
    raise InputError(
        f"{what} has {have}, but the training samples had {had}: give the same, as a dict where "
        "that was one."
    )


def reordered(known: Names | None, new: Names | None) -> bool:
    """Tell whether names are those known in another order."""
    if known is None or new is None or len(known) != len(new) or known == new:
        return False
    return Counter(known) == Counter(new)


def first_named(several: Iterable[Names | None]) -> Names | None:
    """Return the first list of names that are none of pandas' own numbers, else the first."""
    found = [names for names in several if names is not None]
    return next((names for names in found if not is_numbering(names)), found[0] if found else None)


def is_numbering(names: Names) -> bool:
    """Tell whether names are the numbers from 0 on that pandas gives what has none."""
    return names == list(range(len(names)))


class RowNumbers:
    """The row numbers that samples of a whole data set have, in whatever way they are given.

    Parameters
    ----------
    n : int
        How many samples there are.
    names : list or None, default=None
        What they are called; numbers from 0 on are no names.
    """

    def __init__(self, n: int, names: Names | None = None) -> None:
        self._n = n
        self._names = None if names is None or is_numbering(names) else names

    def __call__(self, given: Any) -> Any:
        """Return the row numbers (k,) that a mask or names stand for, others as they are.

        Parameters
        ----------
        given : array_like of shape (k,), (k, 1) or, a mask, (n,)
            Row numbers, names of samples, or a mask.

        Raises
        ------
        InputError
            If a mask has another length, or a name is that of no sample.
        """
        values = np.asarray(given)
        flat = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
        if flat.ndim != 1 or not len(flat):
            return given
        if is_mask(flat):
            if len(flat) != self._n:
                raise InputError(
                    f"a mask of {len(flat)} truth values chooses none of the {self._n} samples "
                    "there are: give one value a sample, or row numbers."
                )
            return np.flatnonzero(flat.astype(bool))
        if flat.dtype.kind in "iuf" and len(flat) == self._n > 2 and np.isin(flat, (0, 1)).all():
            raise InputError(
                f"row numbers are 0 and 1 alone, as many as the {self._n} samples there are: give "
                "a mask as truth values, by astype(bool)."
            )
        if self._names is None or type(flat.tolist()[0]) is not type(self._names[0]):
            return given
        return positions_of(flat.tolist(), self._names, "K")


def is_mask(values: NDArray[Any]) -> bool:
    """Tell whether all values (k,) are truth values."""
    return values.dtype.kind == "b" or (
        values.dtype.kind == "O" and all(isinstance(each, (bool, np.bool_)) for each in values)
    )


def positions_of(names: Sequence[Any], known: Names, what: str) -> NDArray[np.intp]:
    """Return where the names (k,) stand among those known.

    Raises
    ------
    InputError
        If one is not there, or there twice.
    """
    place = {name: i for i, name in enumerate(known)}
    if len(place) < len(known):
        twice = next(name for name, count in Counter(known).items() if count > 1)
        raise InputError(f"{what} has the name {twice!r} twice: give each sample its own.")
    try:
        return np.array([place[name] for name in names], dtype=np.intp)
    except KeyError as error:
        raise InputError(
            f"{what} has no sample {error.args[0]!r}: name samples that are there."
        ) from error


def _first_other(names: Names, known: Names) -> Any:
    return next((name for name in names if name not in set(known)), names[-1])
