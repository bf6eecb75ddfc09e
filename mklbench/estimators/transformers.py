"""Steps of pipelines: the combined kernel (`KernelTransformer`), and raw tables as features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mklbench.errors import InputError
from mklbench.estimators.base import Array, KernelEstimator
from mklbench.estimators.checks import check_column_names
from mklbench.kernels.samples import is_numbering, numbers
from mklbench.validation import check_finite, columns_called


class KernelTransformer(MetaEstimatorMixin, TransformerMixin, BaseEstimator):
    """Learns the combination of kernels, and turns samples into its values with the training ones.

    What follows takes a kernel, such as ``SVC(kernel="precomputed")`` or KernelPCA. It keeps all
    training samples, also when it is saved.

    Parameters
    ----------
    estimator : KernelEstimator
        The estimator that learns the combination.

    Attributes
    ----------
    estimator_ : KernelEstimator
        The one that was fitted.
    """

    def __init__(self, estimator: KernelEstimator) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: ArrayLike | None = None, **options: Any) -> Self:
        """Learn the combination.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Training samples, as the estimator takes them.
        y : array_like of shape (n,) or None, default=None
            Class labels or real targets.
        **options : object
            Keywords of the `fit` of the estimator.
        """
        self.estimator_ = clone(self.estimator).fit(X, y, **options)
        self.estimator_.keep_training_samples()
        return self

    def transform(self, X: Any) -> Array:
        """Return the combined kernel (n_new, n) between samples and the training samples.

        Parameters
        ----------
        X : array_like of shape (n_new, d)
            Samples, as the estimator takes them.
        """
        check_is_fitted(self)
        return self.estimator_.combined_kernel(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = self.estimator.__sklearn_tags__().input_tags
        return tags


# Values of a column that a message tells.
_TOLD = 10


class RawTable(TransformerMixin, BaseEstimator):
    """Picks the columns of a data frame by name and makes a feature of each value of a category.

    Other columns, such as the label, are not looked at. Arrays are features already, and stay.

    Parameters
    ----------
    names : sequence of str
        The names (d,) of the features, "colour=red" for a value of a category.
    encoded : sequence of str
        The columns that are categories.
    missing : bool, default=False
        Whether missing values stay, as NaN, for a transformer that imputes them.
    """

    def __init__(self, names: Sequence[str], encoded: Sequence[str], missing: bool = False) -> None:
        self.names = names
        self.encoded = encoded
        self.missing = missing

    @classmethod
    def of(cls, names: Sequence[str], X: Array) -> Self:
        """Return that of features: categories are those of which each row has one value.

        Parameters
        ----------
        names : sequence of str
            The names (d,) of the features.
        X : ndarray of shape (n, d)
            Their values; NaN where one is missing.
        """
        absent = np.isnan(X)
        groups: dict[str, list[int]] = {}
        for j, name in enumerate(names):
            if "=" in name:
                groups.setdefault(name.split("=", 1)[0], []).append(j)
        encoded = [
            column
            for column, features in groups.items()
            if (absent[:, features] | np.isin(X[:, features], (0.0, 1.0))).all()
            and (absent[:, features].all(axis=1) | (X[:, features].sum(axis=1) == 1)).all()
        ]
        return cls(list(names), encoded, bool(absent.any()))

    @property
    def columns(self) -> list[str]:
        """The columns of the table that are looked at, in the order of the features."""
        return list(dict.fromkeys(self._column(name) for name in self.names))

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Return itself: there is nothing to learn.

        Parameters
        ----------
        X : object
            Not used.
        y : object, default=None
            Not used.
        """
        return self

    def transform(self, X: Any) -> Any:
        """Return the features (n, d) of a data frame; an array as it is.

        Parameters
        ----------
        X : DataFrame or array_like of shape (n, d)
            A table like the one that the model was trained on, or features.

        Raises
        ------
        InputError
            If the table lacks a column, or a cell is missing, no number or no known value.
        """
        if not hasattr(X, "iloc"):
            if isinstance(X, np.ndarray) and X.dtype.kind in "OUS":
                raise InputError(
                    "X is an array of texts or objects: give a data frame with the columns "
                    f"{_shown(self.columns)}."
                )
            return X
        table = X
        if set(self.names) <= set(table.columns):  # encoded already
            return self._numbers(table[list(self.names)])
        columns = self.columns
        if is_numbering(list(table.columns)) and len(columns) == table.shape[1]:
            table = table.set_axis(columns, axis=1)
        missing = [name for name in columns if name not in table.columns]
        if missing:
            raise InputError(
                f"X has no column {missing[0]!r}: give a table with the columns {_shown(columns)}."
            )
        check_column_names(table[columns])
        parts: dict[str, Any] = {}
        for column in columns:
            if column in self.encoded:
                parts.update(self._values(column, table[column]))
            else:
                parts[column] = self._numbers(table[[column]])[:, 0]
        return np.column_stack([parts[name] for name in self.names])

    def _column(self, name: str) -> str:
        column = name.split("=", 1)[0]
        return column if column in self.encoded else name

    def _numbers(self, table: Any) -> Array:
        with columns_called(list(table.columns)):
            array: Array = numbers(table, "X")
            check_finite("X", np.where(np.isnan(array) & self.missing, 0.0, array))
        return array

    def _values(self, column: str, cells: Any) -> dict[str, Array]:
        """Return the feature (n,) of each value of a category."""
        known = {name.split("=", 1)[1]: name for name in self.names if self._column(name) == column}
        features = {name: np.zeros(len(cells)) for name in known.values()}
        for row, cell in enumerate(cells):
            if self.missing and (cell is None or cell != cell):
                for of_value in features.values():
                    of_value[row] = np.nan
                continue
            value = next((text for text in _texts(cell) if text in known), None)
            if value is None:
                raise InputError(
                    f"X has {cell!r} at row {row}, column {column!r}, where the model knows "
                    f"{_shown(list(known))}: mend or remove the row."
                )
            features[known[value]][row] = 1.0
        return features


def _shown(names: Sequence[str]) -> str:
    """List names, the first few if they are many."""
    return f"{', '.join(map(repr, names[:_TOLD]))}{', ...' if len(names) > _TOLD else ''}"


def _texts(cell: Any) -> list[str]:
    """Return the texts that a file may have had for a value: 1 for 1.0, true for True."""
    texts = [str(cell).strip()]
    if isinstance(cell, (bool, np.bool_)):
        texts += [texts[0].lower(), str(int(cell))]
    elif isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        texts.append(str(int(cell)))
    return texts
