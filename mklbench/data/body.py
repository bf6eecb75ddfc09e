"""The rows below the header: to inputs, categories and labels, with errors that name the place."""

from __future__ import annotations

import contextlib
import math
from array import array
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from mklbench.data.columns import Columns, asking_about_index
from mklbench.data.decimals import Decimals
from mklbench.data.delimiters import COMMA_NUMBER
from mklbench.data.limits import most_bytes
from mklbench.data.row_numbers import row_numbers
from mklbench.data.schema import Layout
from mklbench.data.table import SHOWN, Row, Table, excerpt, shortened
from mklbench.errors import DataError


class Body:
    """The rows below the header, read column by column as the layout says."""

    def __init__(
        self,
        columns: Columns,
        inputs: list[int],
        label: int,
        layout: Layout,
        rows: Callable[[], Iterator[Row]],
    ) -> None:
        self._columns, self._inputs, self._label = columns, inputs, label
        self._layout, self._rows = layout, rows
        self._decimals = Decimals(layout.decimal)
        self._codes = {column: dict[str, int]() for column in self._categories()}

    def table(self, unnamed: list[int]) -> Table:
        """Read all rows; `unnamed` are the columns that were left out for their lack of a name."""
        numbers, labels, n_dropped = array("d"), _Labels(self._layout), 0
        place = self._columns.place
        for row in self._rows():
            _require_width(row, self._columns)
            if _is_incomplete(row, [*self._inputs, self._label], self._layout):
                n_dropped += 1
                continue
            numbers.extend(self._numbers(row, is_first=not labels.found))
            labels.add(row, self._label, self._columns, self._decimals)
        if not labels.found:
            raise DataError(f"{place} has no row without a missing value ({self._layout.missing}).")
        self._decimals.check(place)
        shape = len(labels.found), len(self._inputs)
        X = np.frombuffer(numbers, dtype=np.float64).reshape(shape)
        texts = labels.found
        if self._decimals.has_commas:
            texts = [t.replace(",", ".", 1) if COMMA_NUMBER.fullmatch(t) else t for t in texts]
        return self.table_of(X, texts, n_dropped, unnamed)

    def table_of(
        self, X: NDArray[np.float64], labels: list[str], n_dropped: int, unnamed: list[int]
    ) -> Table:
        """Return the table of inputs (n, d) and labels that have been read.

        `n_dropped` is the number of rows that were left out; `unnamed` as in `table`.
        """
        kept, left_out = self._without_numbers_of_rows(X, len(labels) + n_dropped, unnamed)
        X, names = self._expanded(X, kept)
        return Table(
            X=X,
            labels=tuple(labels),
            feature_names=names,
            dropped_rows=n_dropped,
            notes=self._notes(left_out),
        )

    def _notes(self, left_out: list[int]) -> tuple[str, ...]:
        notes = []
        if left_out:
            shown = ", ".join(map(self._columns.describe, left_out))
            notes.append(f"{shown} left out, as data.index=drop says")
        if self._codes:
            shown = ", ".join(
                f"{self._columns.describe(c)}: {len(v)}" for c, v in self._codes.items()
            )
            notes.append(f"a feature for each value of {shown}")
        return tuple(notes)

    def _without_numbers_of_rows(
        self, X: NDArray[np.float64], n_rows: int, unnamed: list[int]
    ) -> tuple[list[int], list[int]]:
        """Return the positions of the inputs to keep, and the columns left out as an index."""
        everything = list(range(len(self._inputs)))
        if self._layout.index == "keep":
            return everything, []
        found = [i for i in row_numbers(X, n_rows) if self._inputs[i] not in self._codes]
        numbering = [self._inputs[i] for i in found]
        if self._layout.index == "ask":
            if numbering:
                raise asking_about_index(numbering, self._columns)
            return everything, []
        left_out = sorted([*unnamed, *numbering])
        if not left_out:
            raise DataError(
                f"data.index=drop finds no column in {self._columns.place} that numbers the rows: "
                "leave it out, or name the column in data.id_columns."
            )
        kept = [i for i in everything if i not in found]
        if not kept:
            raise DataError(
                f"{self._columns.place} has no inputs: all its columns are labels or an index."
            )
        return kept, left_out

    def _expanded(
        self, X: NDArray[np.float64], kept: list[int]
    ) -> tuple[NDArray[np.float64], tuple[str, ...]]:
        """Return the inputs, a category as a feature for each of its values, and their names."""
        if len(kept) == X.shape[1] and not self._codes:
            return X, tuple(self._name(i) for i in kept)
        n_features = sum(len(self._codes.get(self._inputs[i], [0])) for i in kept)
        if len(X) * n_features > most_bytes(self._layout) // 2:
            raise DataError(
                f"{self._columns.place} makes {n_features} features of {len(X)} rows, which is "
                "too much: leave columns with many values out, with data.id_columns."
            )
        parts, names = [], list[str]()
        for i in kept:
            codes = self._codes.get(self._inputs[i])
            if codes is None:
                parts.append(X[:, [i]])
                names.append(self._name(i))
                continue
            ordered = sorted(codes)
            parts.append(np.array([X[:, i] == codes[value] for value in ordered], float).T)
            names += [f"{self._name(i)}={value}" for value in ordered]
        return np.hstack(parts) if parts else X[:, :0], tuple(names)

    def _name(self, i: int) -> str:
        header = self._columns.header
        return header[self._inputs[i]] if header else f"x{i + 1}"

    def _categories(self) -> list[int]:
        """Return the columns that become a feature for each of their values."""
        stated = self._layout.categories
        if stated is None:
            return []
        if stated != "onehot":
            found = [self._columns.find(reference, "categories") for reference in stated]
            for column in found:
                if column not in self._inputs:
                    raise DataError(
                        f"data.categories={self._columns.describe(column)} is no input of "
                        f"{self._columns.place}: leave it out of the list."
                    )
            return found
        texts = self._texts()
        for column, (values, n_texts, n_rows) in texts.items():
            if n_texts and len(values) > max(10, n_rows // 2):
                raise DataError(
                    f"{self._columns.place}, {self._columns.describe(column)} has {len(values)} "
                    f"different values in {n_rows} rows: leave it out with "
                    f"data.id_columns=[{self._columns.reference(column)}]."
                )
        return [column for column, (_, n_texts, _) in texts.items() if n_texts]

    def _texts(self) -> dict[int, tuple[set[str], int, int]]:
        """Return of each input its values, how many cells are no numbers, and how many there are.

        Of a column of numbers alone no values are kept.
        """
        texts = dict.fromkeys(self._inputs, 0)
        n_rows = 0
        for row in self._complete():
            n_rows += 1
            for column in self._inputs:
                cell = row.cells[column]
                texts[column] += bool(cell) and not self._decimals.is_number(cell)
        values: dict[int, set[str]] = {column: set() for column in self._inputs}
        columns = [column for column in self._inputs if texts[column]]
        for row in self._complete() if columns else ():
            for column in columns:
                values[column].add(row.cells[column])
        return {column: (values[column], texts[column], n_rows) for column in self._inputs}

    def _complete(self) -> Iterator[Row]:
        for row in self._rows():
            _require_width(row, self._columns)
            if not _is_incomplete(row, [*self._inputs, self._label], self._layout):
                yield row

    def _numbers(self, row: Row, is_first: bool) -> list[float]:
        """The inputs of a row as finite numbers; of a category the number of its value."""
        read, cells = self._decimals.number, row.cells
        try:
            if self._codes:
                numbers = [self._coded(row, column) for column in self._inputs]
            else:
                numbers = [read(cells[column]) for column in self._inputs]
        except ValueError as error:
            if isinstance(error, DataError):
                raise
            raise self._no_number(row, is_first) from None
        if not all(map(math.isfinite, numbers)):
            column = self._inputs[[math.isfinite(number) for number in numbers].index(False)]
            cell = cells[column]
            raise DataError(
                f"{self._columns.place}, line {row.line}, {self._columns.describe(column)}: "
                f"{excerpt(cell)} is not a finite number: correct it, or set "
                f"data.missing={cell[:SHOWN]} to drop such rows."
            )
        return numbers

    def _coded(self, row: Row, column: int) -> float:
        cell, codes = row.cells[column], self._codes.get(column)
        if codes is None:
            return self._decimals.number(cell)
        if not cell:
            raise DataError(
                f"{self._columns.place}, line {row.line}, {self._columns.describe(column)} is "
                "empty: fill it in, or set data.missing= to drop such rows."
            )
        return codes.setdefault(cell, len(codes))

    def _no_number(self, row: Row, is_first: bool) -> DataError:
        """Build the error for a cell that is no number: a mistake, a header, or a category."""
        is_number, columns = self._decimals.is_number, self._columns
        bad = [c for c in self._inputs if c not in self._codes and not is_number(row.cells[c])]
        column = bad[0]
        counts = {c: (v, n, of) for c, (v, n, of) in self._texts().items() if 2 * n > of > 1}
        place = f"{columns.place}, line {row.line}, {columns.describe(column)}"
        if column not in counts or not self._layout.asks_for_categories:
            remedy = (
                "set data.header=true if this line names the columns"
                if is_first and columns.header is None
                else "correct it, or set data.missing to what stands for a missing value"
            )
            return DataError(f"{place}: {excerpt(row.cells[column])} is not a number: {remedy}.")
        listed = [columns.describe(c) for c in counts]
        names = ",".join(str(columns.reference(c)) for c in counts)
        each = ", ".join(f"{len(values)}" for values, *_ in counts.values())
        if all(len(values) > max(10, of // 2) for values, _, of in counts.values()):
            remedy = f"leave out what identifies a row with data.id_columns=[{names}]"
        else:
            remedy = (
                f"set data.categories=onehot to make features of the values ({each}), or "
                f"data.id_columns=[{names}] to leave out what identifies a row"
            )
        verb = "holds" if len(listed) == 1 else "hold"
        return DataError(
            f"{columns.place}, {shortened(listed)} {verb} text, such as "
            f"{excerpt(row.cells[column])} in line {row.line}: {remedy}."
        )


class _Labels:
    """The labels of the rows, each text once in memory."""

    def __init__(self, layout: Layout) -> None:
        self.found: list[str] = []
        self._names = layout.label_names or {}
        self._known: dict[str, str] = {}

    def add(self, row: Row, column: int, columns: Columns, decimals: Decimals) -> None:
        """Take the label of one more row; its decimals are those of the file."""
        cell = row.cells[column]
        if not cell:
            raise DataError(
                f"{columns.place}, line {row.line}, {columns.describe(column)}: the label is empty."
            )
        if cell not in self._known and COMMA_NUMBER.fullmatch(cell):
            with contextlib.suppress(ValueError):
                decimals.number(cell)
        label = self._names.get(cell, cell)
        self.found.append(self._known.setdefault(label, label))


def is_missing(cell: str, layout: Layout) -> bool:
    """Tell whether a cell is what stands for a missing value."""
    return layout.missing is not None and cell.lower() == layout.missing.lower()


def _is_incomplete(row: Row, columns: list[int], layout: Layout) -> bool:
    return any(is_missing(row.cells[column], layout) for column in columns)


def _require_width(row: Row, columns: Columns) -> None:
    if len(row.cells) != columns.width:
        raise DataError(
            f"{columns.place}, line {row.line} has {len(row.cells)} cells where "
            f"{columns.width} were expected."
        )
