"""What the cells of a table mean: its header, label, groups, features and missing values.

What cannot be told for certain is asked about, in a sentence that names the options to choose from.
A set of the catalogue states all of it, and is read to the letter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.data.dataset import Split
from mklbench.data.numbers import Notation, is_number, notation, plain_number
from mklbench.data.schema import ColumnReference, Layout
from mklbench.data.tables import Cells, excerpt, shortened
from mklbench.errors import DataError

# What pandas takes for missing, and what others write, in lower case.
MARKS = frozenset({
    "", "#n/a", "#n/a n/a", "#na", "-1.#ind", "-1.#qnan", "-nan", "1.#ind", "1.#qnan", "<na>",
    "n/a", "na", "nan", "none", "null", "?", "-", ".",
})  # fmt: skip
# Those of them that are labels elsewhere, and numbers that stand for a missing one.
_MAY_BE_LABELS = ("none", "-", ".")
_SENTINELS = (-99.0, -999.0, -9999.0, -99999.0)
# Of fewer rows a column may be in order by chance; of fewer values it names no subjects.
_FEWEST = 8
_FEWEST_GROUPS = 5
# Rows, and columns at either end, that tell whether the first row has names.
_SEEN, _TRIED = 2000, 100
# Of these one names the samples of files that are joined.
_FIRST_COLUMNS = 10
_WORDS = (
    "unnamed|index|level|rows?|ids?|uid|uuid|guid|key|nr|no|num|number|obs|observation|record|case|"
    "samples?|subj|subject|patient|participant|person|individual|animal|donor|specimen|barcode|"
    "times?|timestamp|datetime|date|epoch"
)
_NAMES_ROWS = re.compile(rf"(?:{_WORDS}|name)?(?:{_WORDS}|name)")
_NAMES_SUBJECTS = re.compile(
    r"(?:subj|subject|patient|participant|person|individual|animal|donor|user|family)s?"
    r"(?:ids?|nr|no|num|number|code|key|name)?|ids?"
)
_NAMES_PARTS = re.compile(r"(?:cv)?folds?(?:ids?|nr|no|number)?|splits?|partition|istrain|istest")
_SPACED = re.compile(r"[+-]?\d{1,3}(?:([ \u00a0\u202f'’])\d{3})+(?:[.,]\d+)?")
_UNNAMED = re.compile(r"|Unnamed: \d+(?:\.\d+)*|__index_level_\d+__")


@dataclass(frozen=True)
class Table:
    """A parsed file, before any choice about its content is made.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The inputs; NaN where a value is missing and is imputed later.
    labels : tuple of str
        n labels as text.
    feature_names : tuple of str
        d names, from the header or x1 ... xd.
    dropped_rows : int
        Number of rows left out for a missing value.
    splits : tuple of Split
        Training and test rows of each split that the file holds, from 0.
    view_sizes : tuple of int
        Columns of each view, where the file has several; else empty.
    view_names : tuple of str
        Of these, where the files name them.
    digest : str or None
        Of the content, where that is not `X`; else None.
    notes : tuple of str
        What was done to the columns of the file.
    groups : tuple of str or None
        To which each row belongs, where rows are not split one by one.
    label : str
        What the label is called.
    left_out : tuple of str
        Columns that are no features, and why.
    dropped : tuple of str
        Why rows were left out, with their number.
    columns : tuple of int
        Of the file, from which each feature comes.
    sample_names : tuple of tuple of str
        n names each, of every column that may name the samples and is no feature.
    rows : ndarray of shape (n,) or None
        Their numbers in the file, from 0, where some are left out.
    """

    X: NDArray[np.float64]
    labels: tuple[str, ...]
    feature_names: tuple[str, ...]
    dropped_rows: int = 0
    splits: tuple[Split, ...] = ()
    view_sizes: tuple[int, ...] = ()
    view_names: tuple[str, ...] = ()
    digest: str | None = None
    notes: tuple[str, ...] = ()
    groups: tuple[str, ...] | None = None
    label: str = ""
    left_out: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    columns: tuple[int, ...] = ()
    sample_names: tuple[tuple[str, ...], ...] = ()
    rows: NDArray[np.int64] | None = None

    def in_views(self, bounds: Sequence[int], names: Sequence[str] = ()) -> Table:
        """Return the table with the columns ``bounds[v] ... bounds[v + 1] - 1`` as view v."""
        sizes = np.histogram(self.columns, bins=[*bounds[:-1], bounds[-1] - 0.5])[0].tolist()
        kept = [v for v, size in enumerate(sizes) if size]
        return replace(
            self,
            view_sizes=tuple(sizes[v] for v in kept),
            view_names=tuple(names[v] for v in kept if names),
        )


def table_of(cells: Cells, layout: Layout, place: str) -> Table:
    """Return the table that the cells of a file make.

    Parameters
    ----------
    cells : Cells
        As they stand in the file.
    layout : Layout
        What the columns are.
    place : str
        The file's name in messages.

    Raises
    ------
    DataError
        The cells are no such table, or may be meant in two ways.
    """
    return Body(cells, layout, place).table()


def joined_table(files: Sequence[Cells], names: Sequence[str], layout: Layout, place: str) -> Table:
    """Return the table of the samples that several files have, by name; a view a file.

    Parameters
    ----------
    files : sequence of Cells
        The cells of each.
    names : sequence of str
        What the views are called.
    layout : Layout
        What the columns are; the names of their columns are those of all files.
    place : str
        The files in messages.

    Raises
    ------
    DataError
        A file does not name its samples, or names one twice, or they share none.
    """
    import pandas as pd

    bodies = [Body(cells, layout, f"{place}, file {k}") for k, cells in enumerate(files, 1)]
    keys = _samples(bodies, place)
    shared = [name for name in keys[0][1] if all(name in of for _, of in keys[1:])]
    if not shared:
        shown = " and ".join(excerpt(next(iter(of), "")) for _, of in keys[:2])
        raise DataError(
            f"{place} share no name of a sample, such as {shown}: the first column, or one that "
            "has the same name in all files, has to name the samples alike."
        )
    columns: dict[str, Any] = {}
    bounds = [0]
    for body, (key, rows), view in zip(bodies, keys, names, strict=True):
        order = [rows[name] for name in shared]
        for column in range(body.n_own):
            if column == key:
                continue
            cells = body.in_points(column).iloc[order].reset_index(drop=True)
            name = body.header[column] if body.header else f"{view}{column + 1}"
            if name in columns:
                if columns[name].astype(str).equals(cells.astype(str)):
                    continue  # such as the label in each of the files
                name = f"{view}: {name}"
            columns[name] = cells
        bounds.append(len(columns))
    frame = pd.concat(list(columns.values()), axis=1).set_axis(range(len(columns)), axis=1)
    table = Body(
        Cells(frame, list(columns), {"samples": pd.Series(shared, dtype=object)}), layout, place
    ).table()
    n_others = len(set().union(*(rows for _, rows in keys))) - len(shared)
    dropped = (f"{n_others} not in every file",) if n_others else ()
    return replace(
        table.in_views(bounds, names),
        dropped_rows=table.dropped_rows + n_others,
        dropped=dropped + table.dropped,
    )


def _samples(bodies: Sequence[Body], place: str) -> list[tuple[int, dict[str, int]]]:
    """Return of each file the column that names its samples, and the row of each name.

    Of the columns whose cells are all different, these share the most with the other files.
    """
    tried = [_naming(body) for body in bodies]
    if empty := [body for body, columns in zip(bodies, tried, strict=True) if not columns]:
        raise DataError(
            f"{empty[0].place} has no column that names each sample once, by which files are "
            "joined: give it one, as its first column."
        )

    def shared(rows: Mapping[str, int], columns: Mapping[int, dict[str, int]]) -> dict[int, int]:
        return {column: len(rows.keys() & other.keys()) for column, other in columns.items()}

    first = max(
        tried[0],
        key=lambda c: min(max(shared(tried[0][c], other).values()) for other in tried[1:]),
    )
    keys = [(first, tried[0][first])]
    for columns in tried[1:]:
        counts = shared(keys[0][1], columns)
        best = max(counts, key=lambda column: counts[column])
        keys.append((best, columns[best]))
    return keys


def _naming(body: Body) -> dict[int, dict[str, int]]:
    """Return the columns that may name the samples, each with the row of each name."""
    found = {}
    for column in [*range(body.n_own, body.width), *range(min(body.n_own, _FIRST_COLUMNS))]:
        names = [_text(value) for value in body.column(column)]
        rows = {name: row for row, name in enumerate(names)}
        if len(rows) == len(names) and "" not in rows:
            found[column] = rows
    return found


class Body:
    """The rows below the header of a file, and what its columns are."""

    def __init__(self, cells: Cells, layout: Layout, place: str) -> None:
        self.cells, self.layout, self.place = cells, layout, place
        self.header = cells.names
        start = 0
        if self.header is None and len(cells.frame) and has_header(cells, layout, place):
            names = [_text(cell) for cell in cells.frame.iloc[0]]
            names[0] = names[0].removeprefix("#").strip()
            self.header, start = names, 1
        frame = cells.frame.iloc[start:]
        if self.header is not None:
            self.header = [*self.header, *(cells.index or {})]
            index = {frame.shape[1] + i: c for i, c in enumerate((cells.index or {}).values())}
            frame = _with(frame, index)
        if not len(frame):
            raise DataError(f"{place} holds no rows of data.")
        self.frame = frame
        self.width = frame.shape[1]
        self._columns: dict[int, NDArray[Any]] = {}
        self.n_own = self.width - len(cells.index or {})  # of those, columns that are no index

    def column(self, number: int) -> NDArray[Any]:
        """Return the cells of a column (n,): numbers, or texts and other values."""
        if number not in self._columns:
            self._columns[number] = _plain(self.frame.iloc[:, number])
        return self._columns[number]

    @cached_property
    def notation(self) -> Notation:
        """How the numbers in the columns of text are written."""
        texts = [(self.describe(c), self.column(c)) for c in range(self.n_own)]
        layout = self.layout
        return notation(
            [(name, cells) for name, cells in texts if cells.dtype == object],
            layout.decimal,
            layout.thousands,
            self.place,
        )

    def in_points(self, column: int) -> Any:
        """Return a column, a Series, with its numbers as such where they are written otherwise."""
        cells = self.frame.iloc[:, column]
        if self.notation == Notation() or self.column(column).dtype != object:
            return cells
        numbers = self.notation.numbers(self.column(column))
        if np.isnan(numbers[~missing_in(self.column(column), self.layout)]).any():
            return cells
        return type(cells)(numbers, index=cells.index)

    def find(self, reference: ColumnReference, option: str) -> int:
        """Position of the column an option refers to by name, number from 1, or "last"."""
        if isinstance(reference, int):
            if 1 <= abs(reference) <= self.n_own:
                number = reference - 1 if reference > 0 else self.n_own + reference
                header = self.header or []
                named = header.index(str(reference)) if str(reference) in header else number
                if named != number:
                    raise DataError(
                        f"data.{option}={reference} is the number of column {number + 1} of "
                        f"{self.place} and the name of column {named + 1}: give "
                        f"data.{option}=\"'{reference}'\" for the name, or count from the end, "
                        f"data.{option}={number - self.n_own}."
                    )
                return number
            if str(reference) not in (self.header or ()):
                raise DataError(
                    f"data.{option}={reference} is not a column of {self.place}: it has "
                    f"{self.n_own}."
                )
            reference = str(reference)
        if self.header is not None and reference in self.header:
            if self.header.count(reference) > 1:
                raise DataError(
                    f"data.{option}={reference} is the name of {self.header.count(reference)} "
                    f"columns of {self.place}: give the column's number instead."
                )
            return self.header.index(reference)
        if reference.lower() == "last":
            return self.n_own - 1
        if self.header is None:
            raise DataError(
                f"data.{option}={reference} cannot be found, as {self.place} has no header line: "
                f"give a column number from 1 to {self.n_own}, or 'last'."
            )
        raise DataError(
            f"data.{option}={reference} is not a column of {self.place}: it has "
            f"{shortened(self.header)}."
        )

    def describe(self, column: int) -> str:
        """The column as messages call it, such as ``column 3 (age)``."""
        if column >= self.n_own:
            return f"the index {self.header[column]}" if self.header else "the index"
        name = f" ({self.header[column]})" if self.header and self.header[column] else ""
        return f"column {column + 1}{name}"

    def reference(self, column: int) -> str:
        """What an option calls the column: its name, or its number where it has none."""
        return self.header[column] if self.header and self.header[column] else str(column + 1)

    @cached_property
    def label(self) -> int:
        """The column of the labels."""
        return self.find(self.layout.label, "label")

    @cached_property
    def groups(self) -> int | None:
        """The column of the groups, if there is one."""
        return None if self.layout.groups is None else self.find(self.layout.groups, "groups")

    @cached_property
    def stated(self) -> list[int]:
        """The columns that the user leaves out."""
        options = [("drop", r) for r in self.layout.drop]
        options += [("id_columns", r) for r in self.layout.id_columns]
        return [self.find(reference, option) for option, reference in options]

    @cached_property
    def inputs(self) -> list[int]:
        """The columns that are neither label nor group nor left out by name."""
        other = {self.label, self.groups, *self.stated}
        return [column for column in range(self.n_own) if column not in other]

    @cached_property
    def indices(self) -> list[int]:
        """The columns that the file itself has as names of rows, and that nothing is made of."""
        other = {self.label, self.groups, *self.stated}
        return [column for column in range(self.n_own, self.width) if column not in other]

    def line(self, row: int) -> str:
        """Say where a row of the body stands."""
        return f"{self.place}, {self.cells.line(int(self.frame.index[row]))}"

    def table(self) -> Table:
        """Read all rows.

        Raises
        ------
        DataError
            A column cannot be what it is to be, or may be two things.
        """
        layout, place = self.layout, self.place
        if self.width == 1 and self.cells.text and layout.delimiter not in ("auto", ""):
            raise DataError(
                f"{place} has a single column when split at data.delimiter="
                f"{layout.delimiter!r}: set data.delimiter to what separates its cells, as in "
                f"'data.delimiter=\";\"' or data.delimiter=whitespace."
            )
        if not self.inputs and self.n_own > 1 and not layout.own:
            raise DataError(f"{place} has no inputs: all its columns are labels or ids.")
        if not self.cells.text:
            self._require_known([*self.inputs, self.label])
        unnamed = self._unnamed()
        labels, unlabelled = self._labels()
        features = Features(self, [c for c in self.inputs if c not in unnamed], ~unlabelled)
        left_out = [f"{self.describe(c)}, as stated" for c in self.stated]
        left_out += [f"{self.describe(c)}, as data.index=drop says" for c in unnamed]
        left_out += [f"{self.describe(c)}, the names of the rows" for c in self.indices]
        groups = self._groups()
        features.check_identifiers(unnamed)
        left_out += [f"{self.describe(c)}, which is empty" for c in features.empty]
        left_out += [f"{self.describe(c)}, as data.index=drop says" for c in features.numbering]
        incomplete = features.incomplete()
        kept = ~unlabelled & ~incomplete
        dropped = [f"{unlabelled.sum()} without a label"] if unlabelled.any() else []
        if n_incomplete := int((incomplete & ~unlabelled).sum()):
            features.require_most(n_incomplete)
            dropped.append(f"{n_incomplete} with a missing value")
        if not kept.any():
            marks = ", ".join(layout.missing or ()) or "empty"
            raise DataError(f"{place} has no row without a missing value ({marks}).")
        X, names, columns = features.expanded(kept)
        called = [tuple(map(_text, self.column(c)[kept])) for c in [*self.indices, *self.stated]]
        categories = ", ".join(f"{self.describe(c)}: {len(v)}" for c, v in features.codes.items())
        return Table(
            X=X,
            labels=tuple(labels[kept].tolist()),
            feature_names=names,
            dropped_rows=int((~kept).sum()),
            notes=(f"a feature for each value of {categories}",) if categories else (),
            groups=None if groups is None else tuple(groups[kept].tolist()),
            label=self.describe(self.label),
            left_out=tuple(left_out),
            dropped=tuple(dropped),
            columns=columns,
            sample_names=tuple(one for one in called if len(set(one)) == len(one)),
            rows=np.flatnonzero(kept),
        )

    def _require_known(self, columns: Sequence[int]) -> None:
        """Raise DataError for a used column of dates, lists or other values."""
        for column in columns:
            values = self.column(column)
            known = values.dtype.kind in "biuf" or values.dtype == object
            odd = np.arange(0 if known else 1)
            if values.dtype == object:
                odd = np.flatnonzero([not _is_known(value) for value in values])
            if len(odd):
                value = values[odd[0]]
                shown = str(value)[:40]
                line = self.cells.line(int(self.frame.index[odd[0]]))
                raise DataError(
                    f"{self.place}, {self.describe(column)} holds {shown} in {line}, of type "
                    f"{type(value).__name__}, which is neither a number nor text: leave it out "
                    f"with data.drop=[{self.reference(column)}], or write it as numbers."
                )

    def _unnamed(self) -> list[int]:
        """Return the inputs without a name that are left out, as the index that pandas writes."""
        if self.header is None or self.layout.index == "keep":
            return []
        found = [c for c in self.inputs if _UNNAMED.fullmatch(self.header[c])]
        if found and self.layout.index == "ask":
            shown = " and ".join(self.describe(column) for column in found)
            raise _asking(
                f"{self.place} has {shown} without a name, as an index that numbers the rows has "
                "none"
            )
        return found

    def _labels(self) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the labels (n,) as texts, and which rows have none."""
        layout, column = self.layout, self.column(self.label)
        absent = missing_in(column, layout)
        texts = np.array([_text(value) for value in column], dtype=object)
        named = {str(key): value for key, value in (layout.label_names or {}).items()}
        if named:
            texts = np.array([named.get(text, text) for text in texts], dtype=object)
            absent &= ~np.isin(texts.astype(str), list(named.values()))
        if not layout.own:
            if (empty := np.flatnonzero((texts == "") & ~absent)).size:
                raise DataError(
                    f"{self.line(empty[0])}, {self.describe(self.label)}: the label is empty."
                )
            return texts, absent
        if "-" in texts and "+" in texts:  # which are two classes
            absent &= texts != "-"
        what = f"{self.place}, {self.describe(self.label)}"
        if layout.task == "regression":
            form = notation([(self.describe(self.label), texts)], layout.decimal, layout.thousands,
                            self.place)  # fmt: skip
            if form != Notation():
                numbers = form.numbers(texts)
                texts = np.where(np.isnan(numbers), texts, numbers.astype(str).astype(object))
        else:
            require_one_form(texts[~absent], what)
        if layout.missing is None:
            self._ask_about_marks(texts, absent, what)
        return texts, absent

    def _ask_about_marks(self, texts: NDArray[Any], absent: NDArray[np.bool_], what: str) -> None:
        """Raise DataError where it is open whether a label is one or stands for none."""
        counts = Counter(texts[~absent].tolist())
        fewest = min(counts.values(), default=0)
        marks = Counter(text for text in texts[absent] if text.lower() in _MAY_BE_LABELS)
        numbers = {text: plain_number(text) for text in counts}
        sentinel = {t for t, n in numbers.items() if n in (*_SENTINELS, -9.0)}
        others = [n for t, n in numbers.items() if t not in sentinel and n is not None]
        sentinel = {t for t in sentinel if min(others, default=0) > (numbers[t] or 0) / 5}
        asked = {text: n for text, n in marks.items() if n > fewest}
        asked |= {text: counts[text] for text in sentinel}
        for text, n_rows in asked.items():
            raise DataError(
                f"{what} has {text} in {n_rows} rows, which may be a label or stand for a missing "
                f"one: set 'data.missing=[{text}]' to drop these rows, or 'data.missing=[]' to "
                "keep it."
            )

    def _groups(self) -> NDArray[Any] | None:
        if self.groups is None:
            return None
        column = self.column(self.groups)
        if (empty := np.flatnonzero(missing_in(column, self.layout))).size:
            raise DataError(
                f"{self.line(empty[0])}, {self.describe(self.groups)} names no group, which "
                f"data.groups={self.layout.groups} needs: fill it in."
            )
        return np.array([_text(value) for value in column], dtype=object)


class Features:
    """The inputs of a table, column by column.

    Attributes
    ----------
    codes : dict of int to list of str
        The columns that become a feature for each of their values, with these.
    numbering, empty : list of int
        The columns that are left out, as they number the rows or have no value.
    """

    def __init__(self, body: Body, inputs: list[int], labelled: NDArray[np.bool_]) -> None:
        self._body, self._inputs, self._labelled = body, inputs, labelled
        self._cells = {column: body.column(column) for column in inputs}
        self._missing = {c: missing_in(v, body.layout) for c, v in self._cells.items()}
        self.numbering: list[int] = []
        self.empty: list[int] = []
        if body.layout.own:
            self.empty = [c for c in inputs if self._missing[c].all()]
            self._inputs = inputs = [c for c in inputs if c not in self.empty]
        stated = self._stated_categories()
        texts = [c for c in inputs if c not in stated and self._cells[c].dtype == object]
        layout = body.layout
        plain = [(body.describe(c), self._cells[c]) for c in texts]
        form = notation(plain, layout.decimal, layout.thousands, body.place)
        self._numbers = {
            c: form.numbers(self._cells[c]) for c in inputs if c not in stated
        }  # fmt: skip
        others = self._text_columns()
        if layout.categories == "onehot":
            stated = self._require_few(others)
        elif others:
            raise self._no_number(others)
        self.codes = {c: self._values(c) for c in stated}
        for column in self._numbers:
            if column not in self.codes:
                if (absent := self._missing[column]).any():
                    self._numbers[column] = np.where(absent, np.nan, self._numbers[column])
                self._require_finite(column, self._numbers[column])

    def _stated_categories(self) -> list[int]:
        listed = self._body.layout.categories
        if listed is None or isinstance(listed, str):
            return []
        found = [self._body.find(reference, "categories") for reference in listed]
        for column in found:
            if column not in self._inputs:
                raise DataError(
                    f"data.categories={self._body.describe(column)} is no input of "
                    f"{self._body.place}: leave it out of the list."
                )
        return found

    def _odd(self, column: int) -> NDArray[np.bool_]:
        """Return which cells are neither missing nor numbers."""
        odd: NDArray[np.bool_] = np.isnan(self._numbers[column]) & ~self._missing[column]
        if odd.any():  # the text "nan" is a number, of a file that does not take it for missing
            cells = self._cells[column]
            odd[odd] = [plain_number(cell) is None for cell in cells[odd]]
        return odd

    def _text_columns(self) -> dict[int, NDArray[np.bool_]]:
        found = {column: self._odd(column) for column in self._numbers}
        return {column: odd for column, odd in found.items() if odd.any()}

    def _values(self, column: int) -> list[str]:
        """Return the values of a category, in order."""
        there = self._cells[column][~self._missing[column]]
        return sorted({_text(value) for value in there})

    def _require_few(self, columns: Mapping[int, Any]) -> list[int]:
        for column in columns:
            n_values, n_rows = len(self._values(column)), int((~self._missing[column]).sum())
            if n_values > max(10, n_rows // 2):
                raise DataError(
                    f"{self._body.place}, {self._body.describe(column)} has {n_values} "
                    f"different values in {n_rows} rows: leave it out with "
                    f"data.drop=[{self._body.reference(column)}]."
                )
        return list(columns)

    def _no_number(self, columns: Mapping[int, NDArray[np.bool_]]) -> DataError:
        """Build the error for cells that are no numbers: mistakes, a header, or categories."""
        body, layout = self._body, self._body.layout
        row, column = min((int(np.flatnonzero(odd)[0]), c) for c, odd in columns.items())
        cell = self._cells[column][row]
        place = f"{body.line(row)}, {body.describe(column)}"
        shares = {c: odd.sum() / max(1, (~self._missing[c]).sum()) for c, odd in columns.items()}
        texts = [c for c in columns if 2 * shares[c] > 1]
        is_grouped = bool(_SPACED.fullmatch(_text(cell)))
        if column not in texts or not layout.own or len(self._labelled) < 2 or is_grouped:
            remedy = (
                "set data.header=true if this line names the columns"
                if row == 0 and body.header is None
                else "correct it, or set data.missing to what stands for a missing value"
            )
            if is_grouped and (grouped := _SPACED.fullmatch(_text(cell))):
                remedy = f"set 'data.thousands=\"{grouped[1]}\"' if that stands between thousands"
            return DataError(f"{place}: {excerpt(_text(cell))} is not a number: {remedy}.")
        names = ",".join(str(body.reference(c)) for c in texts)
        counts = {c: len(self._values(c)) for c in texts}
        subject = next((c for c in texts if self._names_subjects(c)), None)
        if subject is not None:
            raise self._asking_about_groups(subject)
        if all(n > max(10, len(self._labelled) // 2) for n in counts.values()):
            remedy = f"leave out what identifies a row with data.drop=[{names}]"
        else:
            remedy = (
                f"set data.categories=onehot to make features of the values "
                f"({', '.join(map(str, counts.values()))}), or data.drop=[{names}] to leave out "
                "what identifies a row"
            )
        return DataError(
            f"{body.place}, {shortened([body.describe(c) for c in texts])} "
            f"{'holds' if len(texts) == 1 else 'hold'} text, such as {excerpt(_text(cell))} in "
            f"{body.line(row).rpartition(', ')[2]}: {remedy}."
        )

    def _require_finite(self, column: int, values: NDArray[np.float64]) -> None:
        odd = np.flatnonzero(~np.isfinite(values) & ~self._missing[column])
        if odd.size:
            cell = _text(self._cells[column][odd[0]])
            raise DataError(
                f"{self._body.line(odd[0])}, {self._body.describe(column)}: {excerpt(cell)} is not "
                f"a finite number: correct it, or set data.missing={cell[:60]} to drop such rows."
            )
        layout = self._body.layout
        if layout.own and layout.missing is None:
            there = values[~self._missing[column]]
            for sentinel in _SENTINELS:
                found = there == sentinel
                if found.any() and not found.all() and there[~found].min() > sentinel / 5:
                    raise DataError(
                        f"{self._body.place}, {self._body.describe(column)} has {sentinel:g} in "
                        f"{found.sum()} rows, which may stand for a missing value: set "
                        f"'data.missing=[{sentinel:g}]', or 'data.missing=[]' if it is a number "
                        "as any other."
                    )

    def check_identifiers(self, unnamed: Sequence[int]) -> None:
        """Find the columns that identify rows or subjects, and ask what becomes of them."""
        body, index = self._body, self._body.layout.index
        if index == "keep":
            return
        plain = [c for c in self._numbers if c not in self.codes]
        self.numbering = [c for c in plain if self._numbers_rows(c)]
        if self.numbering and index == "ask":
            columns = [body.describe(c) for c in self.numbering]
            verb = "identifies" if len(columns) == 1 else "identify"
            raise _asking(
                f"{body.place} has {' and '.join(columns)}, which {verb} the rows, as an index or "
                "a time does"
            )
        listed = body.layout.categories
        asked = [c for c in self._inputs if c in plain or listed == "onehot"]
        asked += body.indices if body.groups is None else []
        for column in asked:
            if column not in self.numbering and self._names_subjects(column):
                raise self._asking_about_groups(column)
            if body.header and _is_called(body.header[column], _NAMES_PARTS, ids=False):
                raise DataError(
                    f"{body.place} has {body.describe(column)}, which seems to say in which part "
                    f"or fold a row is: set data.drop=[{body.reference(column)}] to leave it out, "
                    "or data.index=keep to learn from it."
                )
        if index == "drop" and not self.numbering and not unnamed:
            raise DataError(
                f"data.index=drop finds no column in {body.place} that numbers the rows: "
                "leave it out, or name the column in data.drop."
            )
        if self.numbering and len(self.numbering) == len(self._inputs):
            raise DataError(f"{body.place} has no inputs: all its columns are labels or an index.")

    def _numbers_rows(self, column: int) -> bool:
        """Tell whether integers are all different, and in order, 0 or 1 to n, or called so."""
        values = self._numbers[column][~self._missing[column]]
        if len(values) < _FEWEST or not np.array_equal(values, np.round(values)):
            return False
        if len(np.unique(values)) < len(values):
            return False
        steps = np.diff(values)
        if (steps > 0).all() or (steps < 0).all():
            return True
        if values.min() in (0, 1) and np.ptp(values) == len(values) - 1:
            return True
        header = self._body.header
        return header is not None and _is_called(header[column], _NAMES_ROWS)

    def _names_subjects(self, column: int) -> bool:
        """Tell whether a column is called like subjects, of which some have several rows."""
        header = self._body.header
        if header is None or not _is_called(header[column], _NAMES_SUBJECTS):
            return False
        n_values = len(set(self._body.column(column).tolist()))
        return _FEWEST_GROUPS <= n_values < len(self._labelled)

    def _asking_about_groups(self, column: int) -> DataError:
        body = self._body
        name = body.reference(column)
        return DataError(
            f"{body.place}, {body.describe(column)} names "
            f"{len(set(body.column(column).tolist()))} subjects or the like in "
            f"{len(self._labelled)} rows: set data.groups={name} to keep the rows of each on one "
            f"side of every split, data.drop=[{name}] to leave it out, or data.index=keep to learn "
            "from it."
        )

    @property
    def _kept(self) -> list[int]:
        return [column for column in self._inputs if column not in self.numbering]

    def incomplete(self) -> NDArray[np.bool_]:
        """Return which rows are dropped for a missing value."""
        none = np.zeros(len(self._labelled), bool)
        if self._body.layout.impute is not None:
            return none
        return np.logical_or.reduce([none, *(self._missing[c] for c in self._kept)])

    def require_most(self, n_incomplete: int) -> None:
        """Raise DataError where most rows of a user's own file would be dropped."""
        n_labelled = int(self._labelled.sum())
        if not self._body.layout.own or self._body.layout.missing or 2 * n_incomplete <= n_labelled:
            return
        counts = {c: int(self._missing[c][self._labelled].sum()) for c in self._kept}
        worst = max(counts, key=lambda c: counts[c])
        raise DataError(
            f"{self._body.place} has a missing value in {n_incomplete} of {n_labelled} rows, most "
            f"of them ({counts[worst]}) in {self._body.describe(worst)}: leave columns out with "
            f"data.drop=[{self._body.reference(worst)}], or set data.impute=mean or median."
        )

    def expanded(
        self, kept: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], tuple[str, ...], tuple[int, ...]]:
        """Return the inputs (n, d) of some rows, their names and the columns that they are from.

        A category is a feature for each of its values.
        """
        parts: list[tuple[str, int, NDArray[np.float64]]] = []
        header = self._body.header
        for i, column in enumerate(self._inputs):
            if column in self.numbering:
                continue
            name = header[column] if header else f"x{i + 1}"
            if column not in self.codes:
                values = self._numbers[column]
                parts.append((name, column, values if kept.all() else values[kept]))
                continue
            texts = np.array([_text(value) for value in self._cells[column][kept]], dtype=object)
            absent = self._missing[column][kept]
            for value in self.codes[column]:
                part = np.where(absent, np.nan, texts == value)
                parts.append((f"{name}={value}", column, part))
        if not parts:
            return np.empty((int(kept.sum()), 0)), (), ()
        names, columns, features = zip(*parts, strict=True)
        return np.ascontiguousarray(np.column_stack(features)), names, columns


def require_one_form(labels: Sequence[str] | NDArray[Any], what: str) -> None:
    """Raise DataError for labels that differ in their form alone, as 1 and 1.0, Yes and yes."""
    forms: dict[object, list[str]] = {}
    counts = Counter(labels)
    for label in counts:
        number = plain_number(label)
        key = " ".join(label.casefold().split()) if number is None else number
        forms.setdefault(key, []).append(label)
    for alike in forms.values():
        if len(alike) > 1:
            shown = " and ".join(f"{label!r} ({counts[label]} rows)" for label in alike)
            raise DataError(
                f"{what} has labels that differ in form only, {shown}: write them in one way, as "
                f'by \'data.label_names={{"{alike[1]}": "{alike[0]}"}}\'.'
            )


def missing_in(cells: NDArray[Any], layout: Layout) -> NDArray[np.bool_]:
    """Return which cells (n,) have no value: None and NaN, and what stands for them."""
    marks = {mark.casefold() for mark in layout.missing or ()}
    numbers = [n for n in map(plain_number, marks) if n is not None and not np.isnan(n)]
    if cells.dtype.kind in "biuf":
        found = np.isin(cells, numbers)
        return found | np.isnan(cells) if cells.dtype.kind == "f" else found
    if layout.own:
        marks |= {""} if layout.missing == () else MARKS

    def is_missing(cell: Any) -> bool:
        if not isinstance(cell, str):
            return cell is None or cell != cell or cell in numbers
        return cell.casefold() in marks or (bool(numbers) and plain_number(cell) in numbers)

    return np.fromiter((is_missing(cell) for cell in cells), bool, len(cells))


def has_header(cells: Cells, layout: Layout, place: str) -> bool:
    """Tell whether the first row of a file names the columns.

    Raises
    ------
    DataError
        It may be one or the other.
    """
    if layout.header != "auto":
        return bool(layout.header)
    frame = cells.frame
    first = [_text(cell) for cell in frame.iloc[0]]
    if not layout.own:
        marks = {mark.casefold() for mark in layout.missing or ()}
        return not any(is_number(cell) or cell.casefold() in marks for cell in first)
    options = layout.label, layout.groups, *layout.drop, *layout.id_columns
    categories = layout.categories if isinstance(layout.categories, tuple) else ()
    stated = {r for r in (*options, *categories) if isinstance(r, str) and r.lower() != "last"}
    if stated & set(first):
        return True
    if len(frame) == 1:
        return not any(map(is_number, first))
    tried = list(range(len(first)))
    if len(first) > 2 * _TRIED:
        tried = tried[:_TRIED] + tried[-_TRIED:]
    found = _Evidence(first, frame.iloc[1:_SEEN], tried, layout)
    if found.answer is None:
        shown = ", ".join(excerpt(cell) for cell in first[:4])
        more = ", ..." if len(first) > 4 else ""
        raise DataError(
            f"{place} begins with {shown}{more}, which may be the names of the columns or a "
            "sample: set data.header=true or data.header=false."
        )
    return found.answer


class _Evidence:
    """What the cells of a first row, beside those below, tell of it.

    Attributes
    ----------
    answer : bool or None
        Whether they are names; None: it is open.
    """

    def __init__(
        self, first: Sequence[str], rest: Any, tried: Sequence[int], layout: Layout
    ) -> None:
        self.numbers: dict[int, NDArray[np.float64]] = {}
        self.first = first
        kinds = [self._kind(c, [_text(v) for v in rest.iloc[:, c]]) for c in tried]
        values = [plain_number(first[c].replace(",", ".", 1)) for c in self.numbers]
        label = layout.label if isinstance(layout.label, int) else len(first)
        at = label - 1 if label > 0 else len(first) + label
        features = {c: v for c, v in zip(self.numbers, values, strict=True) if c != at}
        repeats = len(set(features.values())) < len(features)
        are_names = not repeats and self._are_names(features)
        if at in self.numbers and layout.task != "regression":
            # A number that no other row has is no class.
            column = self.numbers[at]
            own = plain_number(first[at])
            if len(np.unique(column)) <= len(column) // 2 and own not in column:
                are_names = True
        is_sample = "sample" in kinds or repeats
        if "name" in kinds:
            open_numbers = bool(features) and not are_names
            self.answer = None if is_sample or open_numbers else True
        elif is_sample:
            self.answer = False
        else:
            self.answer = None if are_names or not self.numbers else False

    def _kind(self, column: int, below: list[str]) -> str:
        cell = self.first[column]
        below = [text for text in below if text.casefold() not in MARKS]
        if cell.casefold() in MARKS or not below:
            return ""
        numeric = [text for text in below if is_number(text)]
        if 2 * len(numeric) >= len(below):
            if not is_number(cell):
                return "name"
            found = (plain_number(text.replace(",", ".", 1)) for text in numeric)
            self.numbers[column] = np.array([n for n in found if n is not None])
            return "number"
        counts = Counter(below)
        if cell in counts:
            return "sample"
        return "name" if is_number(cell) or min(counts.values()) > 1 else ""

    def _are_names(self, found: Mapping[int, float | None]) -> bool:
        """Tell whether numbers look like names, as 0, 1, 2, ..., years, or wavelengths do."""
        values = np.array([value for value in found.values() if value is not None])
        outside = recurring = 0
        for column, value in found.items():
            below = self.numbers[column]
            recurring += value in below
            span = np.ptp(below)
            inside = value is None or below.min() - span <= value <= below.max() + span
            outside += bool(span) and not inside
        if 2 * recurring > len(values) or not len(values):
            return False
        if 2 * outside > len(values):
            return True
        steps = np.diff(values)
        counts = np.arange(len(values))
        if len(values) > 1 and np.array_equal(values, counts):
            return True
        in_order = len(values) > 2 and bool((steps > 0).all() or (steps < 0).all())
        even = in_order and np.allclose(steps, steps[0], rtol=1e-6)
        whole = np.array_equal(values, np.round(values))
        return in_order and (len(values) >= 6 or whole or even)


def names_subjects(name: str) -> bool:
    """Tell whether a column or an array is called like subjects, or groups."""
    return _is_called(name, _NAMES_SUBJECTS) or name.lower() in ("group", "groups")


def _is_called(name: str, pattern: re.Pattern[str], ids: bool = True) -> bool:
    """Tell whether the words of a name, as in patient_id and SubjectNr, are of a pattern."""
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]
    is_id = ids and words[-1:] in (["id"], ["ids"])
    return bool(words) and (is_id or pattern.fullmatch("".join(words)) is not None)


def _asking(found: str) -> DataError:
    return DataError(
        f"{found}: set data.index=drop to leave that out, or data.index=keep to learn from it."
    )


def _with(frame: Any, columns: Mapping[int, Any]) -> Any:
    frame = frame.copy()
    for number, column in columns.items():
        frame[number] = column
    return frame


def _is_known(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | np.number | np.bool_ | Decimal)


def _plain(column: Any) -> NDArray[Any]:
    """Return a column as an array of numbers, of texts and other values, or of dates."""
    from pandas.api import types

    if types.is_bool_dtype(column.dtype) and not column.isna().any():
        return column.to_numpy(np.float64)
    if types.is_numeric_dtype(column.dtype):
        if types.is_integer_dtype(column.dtype) and not column.isna().any():
            return column.to_numpy(np.int64) if column.dtype != np.uint64 else column.to_numpy()
        return column.to_numpy(np.float64, na_value=np.nan)
    if types.is_datetime64_any_dtype(column.dtype):
        return column.to_numpy(object)
    values: NDArray[Any] = column.to_numpy(object)
    return values


def _text(value: Any) -> str:
    """Return a cell as text: true and false are 1 and 0, a missing value is empty."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, int | float | np.number | np.bool_):
        number = float(value)
        return str(int(value)) if number.is_integer() and abs(number) < 2**63 else repr(number)
    return str(value)
