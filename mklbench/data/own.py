"""What the cells of a table mean: its header, label, groups, features and missing values.

What cannot be told for certain is asked about, in a sentence that names the options to choose from.
A set of the catalogue states all of it, and is read to the letter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.data.dataset import Split
from mklbench.data.numbers import decimal_of, numbers_of, plain_number
from mklbench.data.schema import ColumnReference, Layout
from mklbench.data.tables import MARKS, Cells, has_header, shortened, text_of
from mklbench.errors import DataError, nearest

# Those of the marks that are labels elsewhere, and numbers that stand for a missing value.
_MAY_BE_LABELS = ("none", "-", ".")
_SENTINELS = (-99.0, -999.0, -9999.0, -99999.0, 99.0, 999.0, 9999.0, 99999.0)
# Of fewer rows a column may be in order by chance; of fewer values it names no subjects.
_FEWEST = 8
_FEWEST_GROUPS = 5
# From here on doubles are no whole numbers one by one.
_EXACT = 2.0**53
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
_NAMES_PARTS = re.compile(
    r"(?:cv)?[ _]?folds?[ _]?(?:ids?|nr|no|number)?|splits?|partition|is_?(?:train|test)"
)
_NAMES_CODES = re.compile(r"[a-z]*(?:zip|postcode|postal|code|codes|icd|category|type)")
_LEADING_ZERO = re.compile(r"0\d+")
UNNAMED = re.compile(r"|Unnamed: \d+(?:\.\d+)*|__index_level_\d+__")


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


class Body:
    """The rows below the header of a file, and what its columns are.

    Parameters
    ----------
    cells : Cells
        As they stand in the file.
    layout : Layout
        What the columns are.
    place : str
        The file's name in messages.

    Attributes
    ----------
    columns : list of ndarray of shape (n,)
        The cells, those of an index that the file itself has at the end.
    n_own : int
        Number of columns without the index.
    """

    def __init__(self, cells: Cells, layout: Layout, place: str) -> None:
        self.cells, self.layout, self.place = cells, layout, place
        self.header, self.start = cells.names, 0
        columns = list(cells.columns)
        if self.header is None and has_header(cells, layout, place):
            self.header, self.start = [text_of(column[0]) for column in columns], 1
            columns = [column[1:] for column in columns]
        if not columns or not len(columns[0]):
            raise DataError(f"{place} holds no rows of data.")
        self.n_own = len(columns)
        self.columns = [*columns, *cells.index.values()]
        if self.header is not None:
            self.header = [*self.header, *cells.index]

    def find(self, reference: ColumnReference, option: str) -> int:
        """Position of the column an option refers to by name, number from 1, or "last"."""
        header, stated = self.header or [], f"data.{option}={reference}"
        found = {c for c, name in enumerate(header) if name == str(reference)}
        if isinstance(reference, int) and 1 <= abs(reference) <= self.n_own:
            found.add(reference - 1 if reference > 0 else self.n_own + reference)
        elif not found and str(reference).lower() == "last":
            found.add(self.n_own - 1)
        if len(found) == 1:
            return found.pop()
        if found:
            may_be = " or ".join(map(self.describe, sorted(found)))
            raise DataError(
                f"{stated} may be {may_be} of {self.place}: give its number from the end, as in "
                f"data.{option}=-1, or the name in quotes, as in data.{option}=\"'{reference}'\"."
            )
        had = shortened(header) if header else f"{self.n_own} columns without names"
        near = [f"; did you mean data.{option}={name}" for name in nearest(str(reference), header)]
        raise DataError(
            f"{stated} is not a column of {self.place}: it has {had}{''.join(near[:1])}; "
            "see also data.header, data.skip_lines and data.transpose."
        )

    def describe(self, column: int) -> str:
        """The column as messages call it, such as ``column 3 (age)``."""
        name = self.header[column] if self.header else ""
        if column >= self.n_own:
            return f"the index {name}"
        return f"column {column + 1} ({name})" if name else f"column {column + 1}"

    def reference(self, column: int) -> str:
        """What an option calls the column: its name, or its number where it has none."""
        return self.header[column] if self.header and self.header[column] else str(column + 1)

    def table(self) -> Table:
        """Read all rows.

        Raises
        ------
        DataError
            A column cannot be what it is to be, or may be two things.
        """
        layout, place = self.layout, self.place
        self.label = self.find(layout.label, "label")
        self.left_out = {self.find(reference, "drop"): "as stated" for reference in layout.drop}
        taken = {self.label, *self.left_out}
        labels, unlabelled = self._labels()
        others = np.zeros(len(labels), bool)  # of no class that is kept
        if layout.keep_classes:
            others = ~np.isin(labels.astype(str), layout.keep_classes) & ~unlabelled
            if absent := np.setdiff1d(layout.keep_classes, labels.astype(str)).tolist():
                raise DataError(f"data.keep_classes={absent[0]} is not a label of {place}.")
        groups = None
        if layout.groups is not None:
            column = self.find(layout.groups, "groups")
            taken.add(column)
            where = f"{place}, {self.describe(column)}"
            if missing_in(self.columns[column], layout).any():
                raise DataError(f"{where} has rows without a group: fill them in.")
            groups = np.array(list(map(text_of, self.columns[column])), dtype=object)
            _require_one_form(groups, f"{where} has groups")
        self._read_inputs([c for c in range(len(self.columns)) if c not in taken])
        incomplete = np.zeros(len(labels), bool)
        for column in self.inputs if layout.impute is None else ():
            incomplete |= self.missing[column] & ~unlabelled & ~others
        dropped = [f"{unlabelled.sum()} without a label"] if unlabelled.any() else []
        if incomplete.any():
            n_labelled = (~unlabelled).sum()
            if layout.own and not layout.missing and 2 * incomplete.sum() > n_labelled:
                raise DataError(
                    f"{place} has a missing value in {incomplete.sum()} of {n_labelled} rows: "
                    "leave columns out with data.drop, or set data.impute=mean or median."
                )
            dropped.append(f"{incomplete.sum()} with a missing value")
        kept = ~(unlabelled | incomplete | others)
        if not kept.any():
            raise DataError(f"{place} has no row without a missing value.")
        X, names, columns = self._features(kept)
        called = [tuple(map(text_of, self.columns[c][kept])) for c in self.left_out]
        return Table(
            X=X,
            labels=tuple(labels[kept].tolist()),
            feature_names=names,
            dropped_rows=int((unlabelled | incomplete).sum()),
            notes=tuple(self._notes(labels[kept], kept)) if layout.own else (),
            groups=None if groups is None else tuple(groups[kept].tolist()),
            label=self.describe(self.label),
            left_out=tuple(f"{self.describe(c)}, {why}" for c, why in self.left_out.items()),
            dropped=tuple(dropped),
            columns=columns,
            sample_names=tuple(one for one in called if len(set(one)) == len(one)),
            rows=np.flatnonzero(kept),
        )

    def _notes(self, labels: NDArray[Any], kept: NDArray[np.bool_]) -> Iterator[str]:
        """Say what was made of categories, and what in the columns may be a mistake."""
        if sizes := ", ".join(f"{self.describe(c)}: {len(v)}" for c, v in self.codes.items()):
            yield f"a feature for each value of {sizes}"
        n_classes = 0 if self.layout.task == "regression" else len(set(labels.tolist()))
        for column in self.inputs:
            cells, name = self.columns[column][kept], self.reference(column)
            # Of most columns the first values tell that they have more than there are classes.
            few = len(set(cells[: 2 * n_classes + 1].tolist())) <= n_classes
            if few and _tells(cells, labels):
                yield f"{self.describe(column)} tells the label of every row"
            if column not in self.codes and _is_called(name, _NAMES_CODES, ids=False):
                yield (
                    f"{self.describe(column)} is read as numbers, and data.categories=[{name}] "
                    "makes features of its values"
                )

    def _labels(self) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the labels (n,) as texts, and which rows have none."""
        layout, column, where = self.layout, self.columns[self.label], self.describe(self.label)
        absent = missing_in(column, layout)
        texts = np.array([text_of(value) for value in column], dtype=object)
        if layout.label_names:
            named = {str(key): value for key, value in layout.label_names.items()}
            texts = np.array([named.get(text, text) for text in texts], dtype=object)
            absent &= ~np.isin(texts.astype(str), list(named.values()))
        if not layout.own:
            return texts, absent
        if "-" in texts and "+" in texts:  # which are two classes
            absent &= texts != "-"
        if layout.task == "regression":
            numbers = numbers_of(texts, decimal_of([(where, texts)], layout.decimal, self.place))
            texts = np.where(np.isnan(numbers), texts, numbers.astype(str).astype(object))
        else:
            what = f"{self.place}, {where} has labels"
            _require_one_form(texts[~absent], what, "data.label_names")
        if layout.missing is None:
            counts = Counter(texts[~absent].tolist())
            fewest = min(counts.values(), default=0)
            marks = Counter(text for text in texts[absent] if text.lower() in _MAY_BE_LABELS)
            for mark, n_rows in marks.items():
                if n_rows > fewest:
                    raise self._asking_if_missing(where, mark, n_rows)
            numbers = numbers_of(texts[~absent])
            self._ask_of_sentinels(where, numbers[~np.isnan(numbers)], (*_SENTINELS[:4], -9.0))
        return texts, absent

    def _ask_of_sentinels(
        self, where: str, values: NDArray[np.float64], sentinels: Sequence[float] = _SENTINELS
    ) -> None:
        """Raise DataError for a number far from all others, such as -999."""
        for one in sentinels if self.layout.own and self.layout.missing is None else ():
            others = values[values != one]
            n_rows = len(values) - len(others)
            low = one < 0 < n_rows and others.min(initial=0) > one / 5
            if low or (one > 0 and n_rows > 1 and others.max(initial=0) < one / 5):
                raise self._asking_if_missing(where, f"{one:g}", n_rows)

    def _asking_if_missing(self, where: str, value: str, n_rows: int) -> DataError:
        return DataError(
            f"{self.place}, {where} has {value} in {n_rows} rows, which may stand for a missing "
            f"value: set 'data.missing=[{value}]', or 'data.missing=[]' if it does not."
        )

    def _read_inputs(self, columns: Sequence[int]) -> None:
        """Find which columns are features, as numbers or as categories, and what they hold."""
        layout = self.layout
        self.missing = {c: missing_in(self.columns[c], layout) for c in columns}
        empty = [c for c in columns if layout.own and self.missing[c].all()]
        no_inputs = {c: "the names of the rows" for c in columns if c >= self.n_own}
        no_inputs |= dict.fromkeys(empty, "which is empty")
        self.left_out |= no_inputs
        inputs = [c for c in columns if c not in no_inputs]
        listed = layout.categories if isinstance(layout.categories, tuple) else ()
        stated = [c for c in (self.find(one, "categories") for one in listed) if c in inputs]
        plain = [c for c in inputs if c not in stated]
        cells = [(self.describe(c), self.columns[c]) for c in plain]
        decimal = decimal_of(cells, layout.decimal, self.place)
        self.numbers = {c: numbers_of(self.columns[c], decimal) for c in plain}
        self._leave_out_identifiers([c for c in columns if c not in (*stated, *empty)])
        self.inputs = [c for c in inputs if c not in self.left_out]
        texts = self._texts([c for c in plain if c not in self.left_out])
        self.codes = {c: self._values(c) for c in (*stated, *texts)}
        for column in self.inputs:
            if column not in self.codes:
                self._check_numbers(column)

    def _values(self, column: int) -> list[str]:
        """Return the values of a category, in order."""
        there = self.columns[column][~self.missing[column]]
        return sorted({text_of(value) for value in there})

    def _leave_out_identifiers(self, columns: Sequence[int]) -> None:
        """Find the columns that identify rows or subjects, and ask what becomes of them."""
        if self.layout.index == "keep":
            return
        names = {c: self.header[c] if self.header else None for c in columns}
        found = [c for c in columns if c < self.n_own and self._numbers_rows(c, names[c])]
        if found and self.layout.index == "ask":
            raise DataError(
                f"{self.place} has {' and '.join(map(self.describe, found))} to identify the rows, "
                "as an index or a time does: set data.index=drop to leave that out, or "
                "data.index=keep to learn from it."
            )
        if not found and self.layout.index == "drop":
            raise DataError(
                f"data.index=drop finds no column in {self.place} that numbers the rows: leave it "
                "out, or name the column in data.drop."
            )
        self.left_out |= dict.fromkeys(found, "as data.index=drop says")
        for column in columns:
            if column in found or (column in self.left_out and self.layout.groups is not None):
                continue
            name, n_rows = names[column] or "", len(self.columns[column])
            n_values, what, remedy = len(set(self.columns[column].tolist())), "", ""
            if _FEWEST_GROUPS <= n_values < n_rows and _is_called(name, _NAMES_SUBJECTS):
                what = f"names {n_values} subjects or the like in {n_rows} rows"
                remedy = f"data.groups={name} to keep the rows of each on one side of every split, "
            elif column not in self.left_out and _NAMES_PARTS.fullmatch(name.lower()):
                what = "seems to say in which part or fold a row is"
            elif column in self.numbers and _are_dates(self.numbers[column]):
                what = "has numbers that are dates"
            if what:
                raise DataError(
                    f"{self.place}, {self.describe(column)} {what}: set {remedy}data.drop="
                    f"[{self.reference(column)}] to leave it out, or data.index=keep to learn from "
                    "it."
                )

    def _numbers_rows(self, column: int, name: str | None) -> bool:
        """Tell whether a column has no name, or integers that are all different and in order.

        Or that are 0 or 1 to n, too large for a measurement, or called like an identifier.
        """
        if name is not None and UNNAMED.fullmatch(name):
            return True
        values = self.numbers[column][~self.missing[column]]
        if len(values) < _FEWEST or not np.array_equal(values, np.round(values)):
            return False
        # As written, as doubles may be equal.
        if len(set(self.columns[column][~self.missing[column]].tolist())) < len(values):
            return False
        steps = np.diff(values)
        is_long = _EXACT <= np.abs(values).max() < _EXACT * 2**10
        in_order = (steps >= 0).all() or (steps <= 0).all() or is_long
        counts = values.min() in (0, 1) and np.ptp(values) == len(values) - 1
        return bool(in_order or counts or (name and _is_called(name, _NAMES_ROWS)))

    def _texts(self, columns: Sequence[int]) -> list[int]:
        """Return the columns whose cells are no numbers, and become categories.

        Raises
        ------
        DataError
            There are such, and nothing is said of them; or they have a value for almost every row.
        """
        layout = self.layout
        odd = {c: np.isnan(self.numbers[c]) & ~self.missing[c] for c in columns}
        codes = [c for c in columns if layout.own and self._begins_with_zero(c)]
        texts = [c for c in columns if c in codes or odd[c].any()]
        if layout.categories != "onehot":
            # One cell of many is a mistake.
            texts = [c for c in texts if c in codes or 2 * odd[c].sum() > (~self.missing[c]).sum()]
            texts = texts if layout.own else []
        many = [c for c in texts if len(self._values(c)) > max(10, (~self.missing[c]).sum() // 2)]
        if not many and (layout.categories == "onehot" or not texts):
            return texts
        shown = many or texts
        names = ",".join(map(self.reference, shown))
        remedy = f"leave out what identifies a row with data.drop=[{names}]"
        if not many:
            counts = ", ".join(str(len(self._values(c))) for c in texts)
            onehot = f"set data.categories=onehot to make features of the values ({counts})"
            remedy = f"{onehot}, or {remedy}"
        if set(shown) <= set(codes):
            remedy += ", or set 'data.categories=[]' to read numbers"
        elif not many and str(layout.label).lower() == "last" and self.header is not None:
            remedy += f"; the labels are {self.describe(self.label)} without data.label=NAME"
        first = shown[0]
        row = int(np.argmax(odd[first] if odd[first].any() else ~self.missing[first]))
        what = "codes that begin with 0" if first in codes else "text"
        raise DataError(
            f"{self.place} has {what} in {shortened(list(map(self.describe, shown)))}, such as "
            f"{text_of(self.columns[first][row])!r} in {self.cells.line(row + self.start)}: "
            f"{remedy}."
        )

    def _begins_with_zero(self, column: int) -> bool:
        """Tell whether a column has codes such as 01234, which are no numbers."""
        cells = self.columns[column]
        if cells.dtype != object or self.layout.categories == ():
            return False
        return any(_LEADING_ZERO.fullmatch(text_of(cell)) for cell in cells)

    def _check_numbers(self, column: int) -> None:
        """Raise DataError for a cell that is no number, or may stand for a missing one."""
        absent = self.missing[column]
        numbers = self.numbers[column]
        if (absent & ~np.isnan(numbers)).any():  # the bits of other NaN are in digests
            numbers = np.where(absent, np.nan, numbers)
        if (odd := np.flatnonzero(~np.isfinite(numbers) & ~absent)).size:
            cell = text_of(self.columns[column][odd[0]])
            raise DataError(
                f"{self.place}, {self.cells.line(self.start + odd[0])}, {self.describe(column)}: "
                f"{cell!r} is not a finite number: correct it, or set "
                f"'data.missing=[\"{cell[:60]}\"]' to drop such rows."
            )
        self.numbers[column] = numbers
        self._ask_of_sentinels(self.describe(column), numbers[~absent])

    def _features(
        self, kept: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], tuple[str, ...], tuple[int, ...]]:
        """Return the inputs (n, d) of some rows, their names and the columns that they are from.

        A category is a feature for each of its values.
        """
        names: list[str] = []
        columns: list[int] = []
        features: list[NDArray[np.float64]] = []
        for i, column in enumerate(self.inputs):
            name = self.header[column] if self.header else f"x{i + 1}"
            if column in self.codes:
                texts = np.array(list(map(text_of, self.columns[column][kept])), dtype=object)
                absent = self.missing[column][kept]
                for value in self.codes[column]:
                    names.append(f"{name}={value}")
                    features.append(np.where(absent, np.nan, texts == value))
            else:
                names.append(name)
                features.append(self.numbers[column][kept])
            columns += [column] * (len(names) - len(columns))
        X = np.column_stack(features) if features else np.empty((int(kept.sum()), 0))
        return np.ascontiguousarray(X), tuple(names), tuple(columns)


def _require_one_form(
    texts: Sequence[str] | NDArray[Any], what: str, option: str | None = None
) -> None:
    """Raise DataError for texts that differ in form alone, as 1 and 1.0, Yes and yes.

    `option` can join them.
    """
    counts = Counter(texts)
    forms: dict[object, list[str]] = {}
    for text in counts:
        number = int(text) if text.isdecimal() else plain_number(text)
        key = " ".join(text.casefold().split()) if number is None else number
        forms.setdefault(key, []).append(text)
    for alike in forms.values():
        if len(alike) > 1:
            shown = " and ".join(f"{text!r} ({counts[text]} rows)" for text in alike)
            how = f', as by \'{option}={{"{alike[1]}": "{alike[0]}"}}\'' if option else ""
            raise DataError(
                f"{what} that differ in form only, {shown}: write them in one way{how}."
            )


def missing_in(cells: NDArray[Any], layout: Layout) -> NDArray[np.bool_]:
    """Return which cells (n,) have no value: None and NaN, and what stands for them."""
    marks = {mark.casefold() for mark in layout.missing or ()}
    numbers = [n for n in map(plain_number, marks) if n is not None and not np.isnan(n)]
    if cells.dtype.kind in "biuf":
        return np.isin(cells, numbers) | np.isnan(cells)
    if layout.own:
        marks |= {""} if layout.missing == () else MARKS

    def is_missing(cell: Any) -> bool:
        if not isinstance(cell, str):
            return cell is None or cell != cell or cell in numbers
        return cell.casefold() in marks or (bool(numbers) and plain_number(cell) in numbers)

    return np.fromiter((is_missing(cell) for cell in cells), bool, len(cells))


def _are_dates(values: NDArray[np.float64]) -> bool:
    """Tell whether all numbers are days as in 20240131."""
    days = np.unique(values[np.isfinite(values)])
    parts = ((days, 19000101, 21001231), (days // 100 % 100, 1, 12), (days % 100, 1, 31))
    within = all(((least <= part) & (part <= most)).all() for part, least, most in parts)
    return within and len(days) >= _FEWEST and np.array_equal(days, np.round(days))


def _tells(cells: NDArray[Any], labels: NDArray[Any]) -> bool:
    """Tell whether each value of a column (n,) goes with one label, and each label with one."""
    pairs = set(zip(cells.tolist(), labels.tolist(), strict=True))
    values, told = zip(*pairs, strict=True)
    return len(pairs) == len(set(values)) == len(set(told))


def names_subjects(name: str) -> bool:
    """Tell whether an array is called like subjects, or groups."""
    return _is_called(name, _NAMES_SUBJECTS) or name.lower() in ("group", "groups")


def _is_called(name: str, pattern: re.Pattern[str], *, ids: bool = True) -> bool:
    """Tell whether the words of a name, as in patient_id and SubjectNr, are of a pattern."""
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]
    is_id = ids and words[-1:] in (["id"], ["ids"])
    return is_id or (bool(words) and pattern.fullmatch("".join(words)) is not None)
