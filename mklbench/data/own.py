"""What the cells of a table mean: its header, label, groups, features and missing values.

What cannot be told for certain is asked about, in a sentence that names the options to choose from.
A set of the catalogue states all of it, and is read to the letter.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.data.dataset import Split
from mklbench.data.header import MARKS, has_header
from mklbench.data.numbers import Notation, notation, plain_number
from mklbench.data.schema import ColumnReference, Layout
from mklbench.data.tables import Cells, excerpt, shortened, text_of
from mklbench.errors import DataError, nearest

# Those of them that are labels elsewhere, and numbers that stand for a missing one.
_MAY_BE_LABELS = ("none", "-", ".")
_SENTINELS = (-99.0, -999.0, -9999.0, -99999.0, 99.0, 999.0, 9999.0, 99999.0)
# Of fewer rows a column may be in order by chance; of fewer values it names no subjects.
_FEWEST = 8
_FEWEST_GROUPS = 5
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
    r"(?:ids?|nr|no|num|number|code|key|name)?|ids?|qid"
)
_NAMES_PARTS = re.compile(r"(?:cv)?folds?(?:ids?|nr|no|number)?|splits?|partition|istrain|istest")
_NAMES_CODES = re.compile(r"[a-z]*(?:zip|postcode|postal|code|codes|icd|category|type)")
_LEADING_ZERO = re.compile(r"0\d+")
_UNNAMED = re.compile(r"|Unnamed: \d+(?:\.\d+)*|__index_level_\d+__")
_WITH_UNIT = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s*[^\d\s/:.,-]+")
_TRUTH = {"true": "1", "false": "0"}


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
    bodies = [Body(cells, layout, f"{place}, file {k}") for k, cells in enumerate(files, 1)]
    label = str(layout.label)
    if label.lower() == "last":
        raise DataError(
            f"{place} are several files: set data.label to the name of the column of the labels."
        )
    if all(body.header and set(body.header) == set(bodies[0].header or ()) for body in bodies):
        raise DataError(
            f"{place} have the same columns, so that they seem to be parts of one table, and files "
            "are joined by the names of their samples: put them under each other in one file, and "
            "name the rows of each part with split=file."
        )
    keys = _samples(bodies, place)
    shared = [name for name in keys[0][1] if all(name in of for _, of in keys[1:])]
    if not shared:
        shown = " and ".join(excerpt(next(iter(of), "")) for _, of in keys[:2])
        raise DataError(
            f"{place} share no name of a sample, such as {shown}: the first column, or one that "
            "has the same name in all files, has to name the samples alike."
        )
    columns: dict[str, NDArray[Any]] = {}
    bounds = [0]
    for body, (key, rows), view in zip(bodies, keys, names, strict=True):
        order = [rows[name] for name in shared]
        for column in range(body.n_own):
            if column == key:
                continue
            cells = body.in_points(column)[order]
            name = body.header[column] if body.header else f"{view}{column + 1}"
            if name in columns:
                odd = np.flatnonzero(columns[name].astype(str) != cells.astype(str))
                if not odd.size:
                    continue  # such as the label in each of the files
                if name in (label, str(layout.groups)):
                    raise DataError(
                        f"{place} have a column {name} each, which differ for sample "
                        f"{shared[odd[0]]}, {columns[name][odd[0]]} and {cells[odd[0]]}: leave it "
                        "in one of the files."
                    )
                name = f"{view}: {name}"
            columns[name] = cells
        bounds.append(len(columns))
    index = {"samples": np.array(shared, dtype=object)}
    table = Body(Cells(list(columns.values()), list(columns), index), layout, place).table()
    n_others = len(set().union(*(rows for _, rows in keys))) - len(shared)
    dropped = (f"{n_others} not in every file",) if n_others else ()
    return replace(
        table.in_views(bounds, names),
        dropped_rows=table.dropped_rows + n_others,
        dropped=dropped + table.dropped,
    )


def _samples(bodies: Sequence[Body], place: str) -> list[tuple[int, dict[str, int]]]:
    """Return of each file the column that names its samples, and the row of each name.

    Of the columns whose cells are all different, these share the most with the first file.
    """
    tried = [_naming(body) for body in bodies]
    for body, columns in zip(bodies, tried, strict=True):
        if not columns:
            raise DataError(
                f"{body.place} has no column that names each sample once, by which files are "
                "joined: give it one, as its first column."
            )

    def shared(names: Mapping[str, int], columns: Mapping[int, dict[str, int]]) -> tuple[int, int]:
        """Return how many names a column has at most, and which: of several the first."""
        return max((len(names.keys() & rows.keys()), -column) for column, rows in columns.items())

    first = max(tried[0], key=lambda c: (min(shared(tried[0][c], o)[0] for o in tried[1:]), -c))
    chosen = [first, *(-shared(tried[0][first], columns)[1] for columns in tried[1:])]
    called = [body.reference(key) for body, key in zip(bodies, chosen, strict=True)]
    numbers = all(name.isdigit() for name in tried[0][first])
    if numbers and (len({*called}) > 1 or _UNNAMED.match(called[0])):
        raise DataError(
            f"{place} would be joined by the numbers in {' and '.join(called)}, which may agree by "
            "chance: give the columns that name the samples the same name in all files."
        )
    return [(key, columns[key]) for key, columns in zip(chosen, tried, strict=True)]


def _naming(body: Body) -> dict[int, dict[str, int]]:
    """Return the columns that may name the samples, each with the row of each name."""
    found = {}
    for column in [*range(body.n_own, body.width), *range(min(body.n_own, _FIRST_COLUMNS))]:
        names = [text_of(value) for value in body.columns[column]]
        measured = any(plain_number(name) is not None and not name.isdigit() for name in names)
        if len(set(names)) == len(names) and "" not in names and not measured:
            found[column] = {name: row for row, name in enumerate(names)}
    return found


class Body:
    """The rows below the header of a file, and what its columns are.

    Attributes
    ----------
    columns : list of ndarray of shape (n,)
        The cells, those of an index that the file itself has at the end.
    n_own, width : int
        Number of columns without and with the index.
    """

    def __init__(self, cells: Cells, layout: Layout, place: str) -> None:
        self.cells, self.layout, self.place = cells, layout, place
        self.header = cells.names
        self.start = 0
        columns = list(cells.columns)
        if self.header is None and has_header(cells, layout, place):
            self.header, self.start = [text_of(column[0]) for column in columns], 1
            columns = [_narrowed(column[1:]) for column in columns]
        self.n_own = len(columns)
        self.columns = [*columns, *cells.index.values()]
        self.width = len(self.columns)
        if self.header is not None:
            self.header = [*self.header, *cells.index]
        if not columns or not len(columns[0]):
            raise DataError(f"{place} holds no rows of data.")

    def in_points(self, column: int) -> NDArray[Any]:
        """Return a column, its numbers as such where they are written otherwise."""
        cells, layout = self.columns[column], self.layout
        if cells.dtype == object and self._notation != Notation():
            numbers = self._notation.numbers(cells)
            if not np.isnan(numbers[~missing_in(cells, layout)]).any():
                return numbers
        return cells

    @cached_property
    def _notation(self) -> Notation:
        texts = [(self.describe(c), self.columns[c]) for c in range(self.n_own)]
        texts = [(name, cells) for name, cells in texts if cells.dtype == object]
        return notation(texts, self.layout.decimal, self.layout.thousands, self.place)

    def find(self, reference: ColumnReference, option: str) -> int:
        """Position of the column an option refers to by name, number from 1, or "last"."""
        header, stated = self.header or [], f"data.{option}={reference}"
        named = [c for c, name in enumerate(header) if name == str(reference)]
        number = None
        if isinstance(reference, int) and 1 <= abs(reference) <= self.n_own:
            number = reference - 1 if reference > 0 else self.n_own + reference
            if named and named != [number]:
                raise DataError(
                    f"{stated} is the number of column {number + 1} of {self.place} and the name "
                    f"of column {named[0] + 1}: give data.{option}=\"'{reference}'\" for the name, "
                    f"or count from the end, data.{option}={number - self.n_own}."
                )
        elif len(named) == 1:
            number = named[0]
        elif not named and str(reference).lower() == "last":
            number = self.n_own - 1
        if number is not None:
            return number
        if named:
            raise DataError(
                f"{stated} is the name of {len(named)} columns of {self.place}: give the column's "
                "number instead."
            )
        if remedy := self._elsewhere(str(reference)):
            raise DataError(f"{stated} is not a column of {self.place}{remedy}.")
        if isinstance(reference, str) and self.header is None:
            raise DataError(
                f"{stated} cannot be found, as {self.place} has no header line: give a column "
                f"number from 1 to {self.n_own}, or 'last'."
            )
        had = shortened(header) if header and isinstance(reference, str) else self.n_own
        near = nearest(str(reference), header)
        meant = f"; did you mean data.{option}={near[0]}" if near else ""
        raise DataError(f"{stated} is not a column of {self.place}: it has {had}{meant}.")

    def _elsewhere(self, name: str) -> str:
        """Say how a name that stands elsewhere in the file becomes that of a column."""
        if self.layout.transpose is True:
            if any(name in column.tolist() for column in self.columns[-1:]):
                return ", of which data.transpose=true makes samples: leave that out"
            return ""
        for row in range(min(20, len(self.columns[0]))):
            if name in [text_of(column[row]) for column in self.columns]:
                if name in self.columns[0].tolist():
                    return ": it is in the first one, so set data.transpose=true if that names them"
                above = int(self.cells.line(row + self.start).removeprefix("line ")) - 1
                return f": it is in line {above + 1}, set data.skip_lines={above}"
        return ""

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

    def others(self, columns: Sequence[int]) -> list[int]:
        """Return those of some columns that are neither label nor groups nor left out by name."""
        taken = {self.label, self.groups, *self.stated}
        return [column for column in columns if column not in taken]

    def line(self, row: int) -> str:
        """Say where a row of the body stands."""
        return f"{self.place}, {self.cells.line(self.start + row)}"

    def table(self) -> Table:
        """Read all rows.

        Raises
        ------
        DataError
            A column cannot be what it is to be, or may be two things.
        """
        layout, place = self.layout, self.place
        inputs, indices = self.others(range(self.n_own)), self.others(range(self.n_own, self.width))
        if not inputs and self.n_own > 1 and not layout.own:
            raise DataError(f"{place} has no inputs: all its columns are labels or ids.")
        self._require_known([*inputs, self.label])
        unnamed = self._unnamed(inputs)
        labels, unlabelled = self._labels()
        features = Features(self, [c for c in inputs if c not in unnamed], ~unlabelled)
        groups = self._groups()
        features.check_identifiers(unnamed, indices)
        left_out = dict.fromkeys(self.stated, "as stated")
        left_out |= dict.fromkeys(indices, "the names of the rows")
        left_out |= dict.fromkeys(features.empty, "which is empty")
        left_out |= dict.fromkeys([*unnamed, *features.numbering], "as data.index=drop says")
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
        called = [tuple(map(text_of, self.columns[c][kept])) for c in [*indices, *self.stated]]
        return Table(
            X=X,
            labels=tuple(labels[kept].tolist()),
            feature_names=names,
            dropped_rows=int((~kept).sum()),
            notes=features.notes(labels, kept) if layout.own else (),
            groups=None if groups is None else tuple(groups[kept].tolist()),
            label=self.describe(self.label),
            left_out=tuple(f"{self.describe(c)}, {why}" for c, why in left_out.items()),
            dropped=tuple(dropped),
            columns=columns,
            sample_names=tuple(one for one in called if len(set(one)) == len(one)),
            rows=np.flatnonzero(kept),
        )

    def _require_known(self, columns: Sequence[int]) -> None:
        """Raise DataError for a used column of dates, lists or other values."""
        known = str | int | float | np.number | np.bool_ | Decimal | None
        for column in columns:
            values = self.columns[column]
            for row, value in enumerate(values) if values.dtype.kind not in "biuf" else ():
                if not isinstance(value, known):
                    raise DataError(
                        f"{self.place}, {self.describe(column)} holds {str(value)[:40]} in "
                        f"{self.cells.line(self.start + row)}, of type {type(value).__name__}, "
                        "which is neither a number nor text: leave it out with "
                        f"data.drop=[{self.reference(column)}], or write it as numbers."
                    )

    def _unnamed(self, inputs: Sequence[int]) -> list[int]:
        """Return the inputs without a name that are left out, as the index that pandas writes."""
        if self.header is None or self.layout.index == "keep":
            return []
        found = [c for c in inputs if _UNNAMED.fullmatch(self.header[c])]
        if found and self.layout.index == "ask":
            shown = " and ".join(map(self.describe, found))
            raise _asking(
                f"{self.place} has {shown} without a name, as an index that numbers the rows has "
                "none"
            )
        return found

    def _labels(self) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the labels (n,) as texts, and which rows have none."""
        layout, column = self.layout, self.columns[self.label]
        absent = missing_in(column, layout)
        texts = np.array([text_of(value) for value in column], dtype=object)
        if layout.label_names:
            named = {str(key): value for key, value in layout.label_names.items()}
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
        if layout.task == "regression":
            written = [(self.describe(self.label), texts)]
            form = notation(written, layout.decimal, layout.thousands, self.place)
            numbers = form.numbers(texts)
            if form != Notation():
                texts = np.where(np.isnan(numbers), texts, numbers.astype(str).astype(object))
        else:
            what = f"{self.place}, {self.describe(self.label)} has labels"
            require_one_form(texts[~absent], what, "data.label_names")
        if layout.missing is None:
            self._ask_about_marks(texts, absent)
        return texts, absent

    def _ask_about_marks(self, texts: NDArray[Any], absent: NDArray[np.bool_]) -> None:
        """Raise DataError where it is open whether a label is one or stands for none."""
        counts = Counter(texts[~absent].tolist())
        fewest = min(counts.values(), default=0)
        marks = Counter(text for text in texts[absent] if text.lower() in _MAY_BE_LABELS)
        asked = {text: n for text, n in marks.items() if n > fewest}
        numbers = {text: plain_number(text) for text in counts}
        values = np.array([number for number in numbers.values() if number is not None])
        odd = _sentinel(values, (*_SENTINELS[:4], -9.0))
        asked |= {t: counts[t] for t, n in numbers.items() if n is not None and n == odd}
        for text, n_rows in asked.items():
            raise DataError(
                f"{self.place}, {self.describe(self.label)} has {text} in {n_rows} rows, which may "
                "be a label or stand for a missing one: set 'data.missing="
                f"[{text}]' to drop these rows, or 'data.missing=[]' to keep it."
            )

    def _groups(self) -> NDArray[Any] | None:
        if self.groups is None:
            return None
        column, what = self.columns[self.groups], self.describe(self.groups)
        if (empty := np.flatnonzero(missing_in(column, self.layout))).size:
            raise DataError(
                f"{self.line(empty[0])}, {what} names no group, which "
                f"data.groups={self.layout.groups} needs: fill it in."
            )
        texts = np.array([text_of(value) for value in column], dtype=object)
        require_one_form(texts, f"{self.place}, {what} has groups")
        return texts


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
        self._body, self._labelled, layout = body, labelled, body.layout
        self._missing = {c: missing_in(body.columns[c], layout) for c in inputs}
        self.numbering: list[int] = []
        self.empty = [c for c in inputs if layout.own and self._missing[c].all()]
        self._inputs = inputs = [c for c in inputs if c not in self.empty]
        self._cells = {c: self._truths(c) for c in inputs}
        stated = self._stated_categories()
        plain = [c for c in inputs if c not in stated]
        texts = [(body.describe(c), self._cells[c]) for c in plain]
        texts = [(name, cells) for name, cells in texts if cells.dtype == object]
        form = notation(texts, layout.decimal, layout.thousands, body.place)
        self._numbers = {c: form.numbers(self._cells[c]) for c in plain}
        odd = {column: self._odd(column) for column in plain}
        if others := {column: cells for column, cells in odd.items() if cells.any()}:
            if layout.categories != "onehot":
                raise self._no_number(others)
            stated = self._require_few(others)
        self.codes = {c: self._values(c) for c in stated}
        for column in set(plain) - set(stated):
            if (absent := self._missing[column]).any():
                self._numbers[column] = np.where(absent, np.nan, self._numbers[column])
            self._require_finite(column, self._numbers[column])

    def _truths(self, column: int) -> NDArray[Any]:
        """Return the cells of a column, with 1 and 0 for true and false."""
        cells = self._body.columns[column]
        if not self._body.layout.own or cells.dtype != object:
            return cells
        lower = {cell: str(cell).lower() for cell in set(cells[~self._missing[column]])}
        if not set(lower.values()) <= set(_TRUTH):
            return cells
        return np.array([_TRUTH.get(lower.get(cell, ""), cell) for cell in cells], dtype=object)

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
            odd[odd] = [plain_number(cell) is None for cell in self._cells[column][odd]]
        cells, layout = self._cells[column], self._body.layout
        if not layout.own or cells.dtype != object or layout.categories == ():
            return odd
        # 01234 is a code, such as a postcode, and so is all of its column.
        is_code = any(_LEADING_ZERO.fullmatch(text_of(cell)) for cell in cells)
        return ~self._missing[column] if is_code else odd

    def _values(self, column: int) -> list[str]:
        """Return the values of a category, in order."""
        there = self._cells[column][~self._missing[column]]
        return sorted({text_of(value) for value in there})

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
        shown = excerpt(text_of(self._cells[column][row]))
        texts = [c for c, odd in columns.items() if 2 * odd.sum() > (~self._missing[c]).sum()]
        if column not in texts or not layout.own or len(self._labelled) < 2:
            remedy = (
                "set data.header=true if this line names the columns"
                if row == 0 and body.header is None
                else "correct it, or set data.missing to what stands for a missing value"
            )
            where = f"{body.line(row)}, {body.describe(column)}"
            return DataError(f"{where}: {shown} is not a number: {remedy}.")
        subject = next((c for c in texts if self._names_subjects(c)), None)
        if subject is not None:
            return self._asking_about_groups(subject)
        names = ",".join(map(body.reference, texts))
        counts = [len(self._values(c)) for c in texts]
        verb = "holds" if len(texts) == 1 else "hold"
        if all(n > max(10, len(self._labelled) // 2) for n in counts):
            measured = all(map(_WITH_UNIT.fullmatch, self._values(texts[0])))
            units = "write the numbers without units, or " if measured else ""
            remedy = f"{units}leave out what identifies a row with data.drop=[{names}]"
        else:
            remedy = (
                f"set data.categories=onehot to make features of the values "
                f"({', '.join(map(str, counts))}), or data.drop=[{names}] to leave out "
                "what identifies a row"
            )
            if str(layout.label).lower() == "last" and body.header is not None:
                remedy += f"; the labels are {body.describe(body.label)} without data.label=NAME"
        what = "text"
        if all(re.fullmatch(r"\d+", value) for c in texts for value in self._values(c)):
            what = "codes that begin with 0"
            remedy += ", or 'data.categories=[]' to read numbers"
        return DataError(
            f"{body.place}, {shortened(list(map(body.describe, texts)))} {verb} {what}, such as "
            f"{shown} in {body.cells.line(row + body.start)}: {remedy}."
        )

    def _require_finite(self, column: int, values: NDArray[np.float64]) -> None:
        body, absent = self._body, self._missing[column]
        odd = np.flatnonzero(~np.isfinite(values) & ~absent)
        if odd.size:
            cell = text_of(self._cells[column][odd[0]])
            raise DataError(
                f"{body.line(odd[0])}, {body.describe(column)}: {excerpt(cell)} is not a finite "
                f"number: correct it, or set data.missing={cell[:60]} to drop such rows."
            )
        if body.layout.own and body.layout.missing is None:
            sentinel = _sentinel(values[~absent], _SENTINELS)
            if sentinel is not None:
                raise DataError(
                    f"{body.place}, {body.describe(column)} has {sentinel:g} in "
                    f"{(values == sentinel).sum()} rows, which may stand for a missing value: set "
                    f"'data.missing=[{sentinel:g}]', or 'data.missing=[]' if it is a number as any "
                    "other."
                )

    def check_identifiers(self, unnamed: Sequence[int], indices: Sequence[int]) -> None:
        """Find the columns that identify rows or subjects, and ask what becomes of them."""
        body, index = self._body, self._body.layout.index
        if index == "keep":
            return
        plain = [c for c in self._inputs if c not in self.codes]
        self.numbering = [c for c in plain if self._numbers_rows(c)]
        if self.numbering and index == "ask":
            verb = "identifies" if len(self.numbering) == 1 else "identify"
            raise _asking(
                f"{body.place} has {' and '.join(map(body.describe, self.numbering))}, which "
                f"{verb} the rows, as an index or a time does"
            )
        asked = self._inputs if body.layout.categories == "onehot" else plain
        for column in [*asked, *([] if body.groups is not None else indices)]:
            if column not in self.numbering and self._names_subjects(column):
                raise self._asking_about_groups(column)
            if body.header and _is_called(body.header[column], _NAMES_PARTS, ids=False):
                raise DataError(
                    f"{body.place} has {body.describe(column)}, which seems to say in which part "
                    f"or fold a row is: set data.drop=[{body.reference(column)}] to leave it out, "
                    "or data.index=keep to learn from it."
                )
            if column in plain and _are_dates(self._numbers[column]):
                raise DataError(
                    f"{body.place} has {body.describe(column)}, whose numbers are dates: set "
                    f"data.drop=[{body.reference(column)}] to leave it out, or data.index=keep to "
                    "learn from it."
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
        n_values = len(set(self._body.columns[column].tolist()))
        return _FEWEST_GROUPS <= n_values < len(self._labelled)

    def _asking_about_groups(self, column: int) -> DataError:
        body = self._body
        name = body.reference(column)
        return DataError(
            f"{body.place}, {body.describe(column)} names "
            f"{len(set(body.columns[column].tolist()))} subjects or the like in "
            f"{len(self._labelled)} rows: set data.groups={name} to keep the rows of each on one "
            f"side of every split, data.drop=[{name}] to leave it out, or data.index=keep to learn "
            "from it."
        )

    def incomplete(self) -> NDArray[np.bool_]:
        """Return which rows are dropped for a missing value."""
        found = np.zeros(len(self._labelled), bool)
        for column in self._inputs if self._body.layout.impute is None else ():
            if column not in self.numbering:
                found |= self._missing[column]
        return found

    def require_most(self, n_incomplete: int) -> None:
        """Raise DataError where most rows of a user's own file would be dropped."""
        n_labelled = int(self._labelled.sum())
        if not self._body.layout.own or self._body.layout.missing or 2 * n_incomplete <= n_labelled:
            return
        kept = [c for c in self._inputs if c not in self.numbering]
        counts = {c: int(self._missing[c][self._labelled].sum()) for c in kept}
        worst = max(counts, key=lambda c: counts[c])
        raise DataError(
            f"{self._body.place} has a missing value in {n_incomplete} of {n_labelled} rows, most "
            f"of them ({counts[worst]}) in {self._body.describe(worst)}: leave columns out with "
            f"data.drop=[{self._body.reference(worst)}], or set data.impute=mean or median."
        )

    def notes(self, labels: NDArray[Any], kept: NDArray[np.bool_]) -> tuple[str, ...]:
        """Say what was made of categories, and what is to be seen in the columns."""
        body, found = self._body, []
        if self.codes:
            codes = ", ".join(f"{body.describe(c)}: {len(v)}" for c, v in self.codes.items())
            found.append(f"a feature for each value of {codes}")
        for column, values in self.codes.items():
            for alike in _alike(values):
                found.append(f"{body.describe(column)} has {' and '.join(alike)} as two values")
        n_classes = len(set(labels[kept].tolist()))
        for column in self._inputs if body.layout.task != "regression" else ():
            if column in self.numbering:
                continue
            values = self._cells[column][kept].tolist()
            if len(set(values[: 2 * n_classes + 1])) > n_classes or len(set(values)) != n_classes:
                continue
            if len(set(zip(values, labels[kept], strict=True))) == n_classes:
                found.append(f"{body.describe(column)} tells the label of every row")
        for column in self._numbers:
            name = body.header[column] if body.header else ""
            if column not in self.codes and _is_called(name, _NAMES_CODES, ids=False):
                found.append(
                    f"{body.describe(column)} is read as numbers, and "
                    f"data.categories=[{body.reference(column)}] makes features of its values"
                )
        return tuple(found)

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
            texts = np.array([text_of(value) for value in self._cells[column][kept]], dtype=object)
            absent = self._missing[column][kept]
            for value in self.codes[column]:
                part = np.where(absent, np.nan, texts == value)
                parts.append((f"{name}={value}", column, part))
        if not parts:
            return np.empty((int(kept.sum()), 0)), (), ()
        names, columns, features = zip(*parts, strict=True)
        return np.ascontiguousarray(np.column_stack(features)), names, columns


def _alike(texts: Iterable[str]) -> list[list[str]]:
    """Return the texts that differ in their form alone, as 1 and 1.0, Yes and yes."""
    forms: dict[object, list[str]] = {}
    for text in dict.fromkeys(texts):
        number = plain_number(text)
        key = " ".join(text.casefold().split()) if number is None else number
        forms.setdefault(key, []).append(text)
    return [alike for alike in forms.values() if len(alike) > 1]


def require_one_form(
    texts: Sequence[str] | NDArray[Any], what: str, option: str | None = None
) -> None:
    """Raise DataError for labels or groups that differ in form alone; `option` can join them."""
    counts = Counter(texts)
    for alike in _alike(counts):
        shown = " and ".join(f"{text!r} ({counts[text]} rows)" for text in alike)
        how = f', as by \'{option}={{"{alike[1]}": "{alike[0]}"}}\'' if option else ""
        raise DataError(f"{what} that differ in form only, {shown}: write them in one way{how}.")


def missing_in(cells: NDArray[Any], layout: Layout) -> NDArray[np.bool_]:
    """Return which cells (n,) have no value: None and NaN, and what stands for them."""
    marks = {mark.casefold() for mark in layout.missing or ()}
    numbers = [n for n in map(plain_number, marks) if n is not None and not np.isnan(n)]
    if cells.dtype.kind in "biuf":
        found = np.isin(cells, numbers) if numbers else np.zeros(len(cells), bool)
        return found | np.isnan(cells) if cells.dtype.kind == "f" else found
    if layout.own:
        marks |= {""} if layout.missing == () else MARKS

    def is_missing(cell: Any) -> bool:
        if not isinstance(cell, str):
            return cell is None or cell != cell or cell in numbers
        return cell.casefold() in marks or (bool(numbers) and plain_number(cell) in numbers)

    return np.fromiter((is_missing(cell) for cell in cells), bool, len(cells))


def _sentinel(values: NDArray[np.float64], sentinels: Sequence[float]) -> float | None:
    """Return which number far from all others, such as -999, stands for a missing one."""
    for sentinel in sentinels:
        others = values[values != sentinel]
        if sentinel < 0 and len(others) < len(values) and others.min(initial=0) > sentinel / 5:
            return sentinel
        if sentinel > 0 and len(others) < len(values) - 1 and others.max(initial=0) < sentinel / 5:
            return sentinel
    return None


def _are_dates(values: NDArray[np.float64]) -> bool:
    """Tell whether all numbers are days as in 20240131."""
    days = np.unique(values[~np.isnan(values)])
    if len(days) < _FEWEST or days[0] < 19000101 or days[-1] > 21001231:
        return False
    try:
        return all(dt.datetime.strptime(f"{day:.0f}", "%Y%m%d") for day in days)
    except ValueError:
        return False


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


def _narrowed(cells: NDArray[Any]) -> NDArray[Any]:
    """Return cells of Excel as numbers where all of them are."""
    if all(type(cell) in (int, float, bool) for cell in cells):
        return cells.astype(np.float64)
    return cells
