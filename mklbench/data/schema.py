"""What one data configuration (``configs/data/NAME.yaml``) may say, as frozen dataclasses.

`parse_config` makes them from a plain dict, field by field, so that of two mistakes the first is
reported. Every mistake a user can make in it is an `InputError` that names the key.
"""

from __future__ import annotations

import numbers
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, ClassVar, Literal, get_args

from mklbench.data.dataset import Distance
from mklbench.data.numbers import Decimal
from mklbench.data.preprocessing import ScalingName
from mklbench.errors import InputError, check_known
from mklbench.reader import Made, Rule, Where, flag, read, value

ColumnReference = str | int


def read_text(found: Any, where: Where) -> str:
    """Read a text."""
    if not isinstance(found, str):
        raise InputError(f"{where}={found} must be text: quote it, as in '{where}=\"{found}\"'.")
    return found


def read_column(found: Any, where: Where) -> ColumnReference:
    """Read a reference to a column: its name, or its number from 1."""
    if isinstance(found, bool) or not isinstance(found, str | int) or found in ("", 0):
        raise InputError(f"{where}={found!r} is not a column: give its name or its number, from 1.")
    return found


def read_marks(found: Any, where: Where) -> tuple[str, ...] | None:
    """Read what stands for a missing value: one text or number, or a list of them."""
    if found is None:
        return None
    listed = [found] if isinstance(found, str | numbers.Real) else where.items(found)
    return tuple("" if item is None else str(item) for item in listed)


def read_transpose(found: Any, where: Where) -> bool | tuple[str, ...]:
    """Read whether a file is transposed, or which files are."""
    return flag(found, where) if isinstance(found, bool) else tuple(map(str, where.items(found)))


def read_columns(found: Any, where: Where) -> Any:
    """Read "onehot", or references to columns, or None."""
    if found is None or found == "onehot":
        return found
    return tuple(read_column(item, where) for item in where.items(found))


def read_sign(found: Any, where: Where) -> str:
    """Read a sign between cells: one character, "whitespace" or "auto".

    A tab may be written as elsewhere, for no shell takes it easily.
    """
    stated = "\t" if found in ("\\t", "tab") else str(found)
    if stated in ("whitespace", "auto") or (len(stated) == 1 and stated not in '"\r\n'):
        return stated
    raise InputError(
        f"{where}={found!r} must be one character, not a quote, as in '{where}=\";\"', which is "
        "quoted twice for the shell and for Hydra."
    )


@dataclass(frozen=True)
class Whole:
    """The rule of a whole number from `least` to `most`."""

    least: int
    most: int = sys.maxsize

    def __call__(self, found: Any, where: Where) -> int:
        whole = isinstance(found, numbers.Integral) and not isinstance(found, bool)
        if not whole or not self.least <= found <= self.most:
            at_most = f" and at most {self.most}" if self.most < sys.maxsize else ""
            raise InputError(
                f"{where}={found!r} must be a whole number of at least {self.least}{at_most}."
            )
        return int(found)


FromZero = Annotated[int, Whole(0)]
FromOne = Annotated[int, Whole(1)]
Label = Annotated[str, lambda found, where: str(found)]  # a number is one, too


@dataclass(frozen=True)
class DataWhere(Where):
    """A place in a data configuration, named by its last key as in an override."""

    rules: ClassVar[Mapping[Any, Rule]] = {
        str: read_text,
        bool: flag,
        str | None: lambda found, at: None if found is None else str(found),
        ColumnReference: read_column,
        ColumnReference | None: lambda found, at: None if found is None else read_column(found, at),
    }

    def __str__(self) -> str:
        return "data" if len(self.parts) == 1 else f"data.{self.parts[-1]}"


DATA = DataWhere(("data",))

SourceKind = Literal["embedded", "mirror", "url", "path"]
FileFormat = Literal[
    "auto", "text", "svmlight", "npy", "npz", "mat", "parquet", "xlsx", "arff", "images"
]
Edition = Literal["auto", "official", "pooled"]
Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Layout:
    """How a file is read: delimited text unless `format` says otherwise.

    Attributes
    ----------
    format : FileFormat
        "text"; "svmlight"; "npy", a matrix; "npz" or "mat" (MATLAB), files of named arrays;
        "parquet" or "xlsx" (Excel), tables of typed values; "images", a tar archive of photographs
        whose descriptors are the inputs; "auto": what the first bytes of the file tell.
    inputs : str
        Name of the array of inputs, whose `label` is a name, too. In a MATLAB file it may be a
        cell with one array a view, (n, d) or (d, n). "auto": by its usual names
        (`mklbench.data.arrays`); "none": there are labels alone.
    struct : str or None
        The variable of a MATLAB file whose fields the arrays are, besides the fields train
        and test: rows of 1-based numbers, one a split. None: the arrays are variables themselves.
    delimiter : str
        One character, or "whitespace" for runs of blanks and tabs; "auto": what splits the first
        lines into as many cells, most of them numbers.
    decimal : Decimal
        What stands before the decimals, a "point" or a "comma"; the other sign may stand between
        thousands. "auto": as in the whole file.
    thousands : {".", ","} or None
        What stands between thousands, which says `decimal`, too.
    index : {"keep", "drop", "ask"}
        What becomes of columns that number the rows, such as the index that pandas writes: they
        are inputs, are left out, or are refused with a sentence that asks.
    categories : {"onehot"}, tuple of ColumnReference or None
        Columns that become a feature for each of their values: "onehot", all that hold text; or
        those that are listed. None: text is refused.
    header : bool or {"auto"}
        Whether the first line names the columns; "auto" takes it as names when none of its
        cells is a number.
    skip_lines : FromZero
        Lines to pass over at the top of the file, before the header.
    label : ColumnReference
        The column of the class labels: a name, a number from 1 (negative from the end), "last".
    drop : tuple of ColumnReference
        Columns that are not inputs, such as those that identify a row (names or numbers from 1).
    groups : ColumnReference or None
        The column of the group of each row, whose rows are on one side of every split.
    missing : tuple of str or None
        What stands for a missing value, in upper or lower case; rows that hold one in an input
        or the label are dropped. Of a user's own file it comes on top of `mklbench.data.own.MARKS`;
        an empty tuple is for nothing but empty cells.
    impute : {"mean", "median"} or None
        What takes the place of a missing input, of the training part; None: its row is dropped.
    transpose : bool or tuple of str
        Whether the samples are columns; of several files, the names of those in which they are.
    label_names : mapping of str to Label or None
        Label in the file -> label to use instead.
    keep_classes : tuple of str
        The labels whose rows are used, and no splits of the file; empty: all rows are.
    per_class : FromOne
        Of images, in the order of their names, so many make a class.
    sheet : str or None
        Of an Excel file; None: the only one that is not empty.
    task : Task
        What the labels are for.
    own : bool
        Whether the file is the user's own, who is asked what is not certain.
    """

    format: FileFormat = "text"
    inputs: str = "x"
    struct: str | None = None
    delimiter: Annotated[str, read_sign] = ","
    skip_lines: FromZero = 0
    header: Literal[True, False, "auto"] = False
    per_class: FromOne = 1
    sheet: str | None = None
    label: ColumnReference = "last"
    drop: tuple[ColumnReference, ...] = ()
    groups: ColumnReference | None = None
    missing: Annotated[tuple[str, ...] | None, read_marks] = None
    impute: Literal["mean", "median"] | None = None
    transpose: Annotated[bool | tuple[str, ...], read_transpose] = False
    label_names: Mapping[str, Label] | None = None
    decimal: Decimal = "point"
    thousands: Literal[".", ","] | None = None
    index: Literal["keep", "drop", "ask"] = "keep"
    categories: Annotated[Literal["onehot"] | tuple[ColumnReference, ...] | None, read_columns] = (
        None
    )
    keep_classes: tuple[str, ...] = ()
    task: Task = "classification"
    own: bool = False


@dataclass(frozen=True)
class Source:
    """One place the files of a set may come from, and how they are read there.

    Attributes
    ----------
    kind : SourceKind
        "embedded" (inside an installed package: ``package/path``), "mirror" (path below the
        mirror), "url" (upstream) or "path" (the user's own file).
    locations : tuple of str
        The path or URL of each file; the rows of several are taken one after the other.
    layout : Layout
        The layout of the set, with the differences this source states.
    """

    kind: SourceKind
    locations: tuple[str, ...]
    layout: Layout

    @property
    def basenames(self) -> tuple[str, ...]:
        """The file names, which are also those in the cache."""
        return tuple(location.rstrip("/").rsplit("/", 1)[-1] for location in self.locations)


@dataclass(frozen=True)
class Expected:
    """The published content, against which what was read is verified.

    Attributes
    ----------
    n_samples, n_features : FromOne
        The shape, after id columns and incomplete rows are taken out.
    classes : mapping of str to FromOne
        Label -> number of rows.
    digest : str
        "sha256:..." of the parsed arrays (`mklbench.data.dataset.content_digest`).
    dropped_rows : FromZero
        Rows with a missing value.
    constant_features : tuple of str
        Names of the features that have a single value.
    splits_digest : str or None
        Of the splits that the file holds (`mklbench.data.dataset.splits_digest`);
        None: it holds none.
    """

    classes: Mapping[str, FromOne]
    n_samples: FromOne
    n_features: FromOne
    digest: str
    dropped_rows: FromZero = 0
    constant_features: tuple[str, ...] = ()
    splits_digest: str | None = None


@dataclass(frozen=True)
class PublishedSplits:
    """The splits that publications use with a set: what ``split=published`` draws or takes.

    Attributes
    ----------
    n_train, n_test : FromOne
        Rows of the two parts.
    n_splits : FromOne
        Number of splits.
    stratified : bool
        Whether each class has its share of either part.
    scaling : ScalingName
        Of the features, as in `mklbench.data.preprocessing`.
    in_order : bool
        Whether the source has its training rows first, then its test rows: split 0 is this
        official one.
    """

    n_train: FromOne
    n_test: FromOne
    n_splits: FromOne
    stratified: bool = False
    scaling: ScalingName = "standard"
    in_order: bool = False


@dataclass(frozen=True)
class ViewConfig:
    """One of the views of a set, in the order of their columns (`mklbench.data.dataset.View`)."""

    name: str
    distance: Distance = "euclidean"


@dataclass(frozen=True)
class OfficialFile:
    """A MATLAB file with the rows of a set and the splits that its publications use.

    Attributes
    ----------
    mirror : str
        Its path below a mirror.
    url : str
        Its upstream address.
    struct : str
        The variable of the set, with the fields x, t, train and test.
    sha256 : str
        Digest of the file, 64 hexadecimal digits.
    """

    mirror: str
    url: str
    struct: str
    sha256: str


@dataclass(frozen=True)
class DataConfig:
    """What every kind of data set states.

    Attributes
    ----------
    name, title, licence, citation : str
        As shown by ``mklbench data list``.
    notes : tuple of str
        What a reader of results should know about the set.
    noise_features : FromZero
        Number of N(0, 1) features to append to every input vector.
    more_views : tuple of str
        Views to append (`mklbench.data.preprocessing.with_more_views`).
    drop_constant : bool
        Leave out the features that have a single value.
    drop_features : tuple of str
        Names of features to leave out.
    n_features : FromOne or None
        Keep so many of the others: those that are not 0 in the most rows. None: all.
    scaling : ScalingName or None
        Of the features, fitted on all rows, before noise is appended. None: none.
    splits : PublishedSplits or None
        Those of the publications, if the set has such.
    """

    name: str
    title: str = ""
    licence: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()
    noise_features: FromZero = 0
    more_views: tuple[str, ...] = ()
    drop_constant: bool = False
    drop_features: tuple[str, ...] = ()
    n_features: FromOne | None = None
    scaling: ScalingName | None = None
    splits: PublishedSplits | None = None


@dataclass(frozen=True)
class FileConfig(DataConfig):
    """A data set read from files.

    Attributes
    ----------
    sources : tuple of Source
        Where the file may come from, in order of preference within a kind.
    positive : str or None
        The label that becomes code 1 in a binary set; None: the last label in order.
    feature_names : tuple of str
        Names of the inputs; empty: those of the header, or x1, x2, ...
    expected : Expected or None
        The content to verify; None for a user's own file.
    official : OfficialFile or None
        The file with the official splits, if the set has one.
    edition : Edition
        "official" reads that file, "pooled" the sources; "auto" leaves it to
        `mklbench.data.sources.settle`.
    folder : str
        Of the files in the cache; empty: the name of the set.
    sha256 : str or None
        Digest that the bytes of the file must have; None: the content is verified alone.
    views : tuple of ViewConfig
        What the views of the file are called and how they are compared; empty: view1, view2,
        ..., if it has views.
    task : Task
        "regression" reads the column of the labels as real numbers to predict.
    """

    expected: Expected | None = None
    official: OfficialFile | None = None
    sources: tuple[Source, ...] = ()
    positive: str | None = None
    feature_names: tuple[str, ...] = ()
    edition: Edition = "pooled"
    task: Task = "classification"
    views: tuple[ViewConfig, ...] = ()
    folder: str = ""
    sha256: str | None = None


@dataclass(frozen=True)
class GeneratedConfig(DataConfig):
    """A data set drawn from its definition.

    Attributes
    ----------
    generator : str
        Name of the definition (`mklbench.data.generate.GENERATORS`).
    n_samples : int
        Number of rows to draw.
    seed : FromZero
        Of the generator.
    dimension : int or None
        Number of features, of a generator that has this option.
    informative_percent : int or None
        Of the features, those that tell the classes apart; likewise.
    """

    generator: str = ""
    n_samples: Annotated[int, Whole(2, 1_000_000)] = field(kw_only=True)
    seed: FromZero = 0
    dimension: Annotated[int, Whole(1, 1_000)] | None = None
    informative_percent: Annotated[int, Whole(1, 100)] | None = None

    @property
    def options(self) -> dict[str, int]:
        """The options of the generator's own that are set."""
        given = {"dimension": self.dimension, "informative_percent": self.informative_percent}
        return {name: value for name, value in given.items() if value is not None}


_LAYOUT_KEYS = tuple(item.name for item in fields(Layout) if item.name != "own")


def parse_config(config: Mapping[str, Any]) -> FileConfig | GeneratedConfig:
    """Check a plain data configuration and give it its types.

    Parameters
    ----------
    config : mapping of str to object
        The content of ``configs/data/NAME.yaml``, overrides applied. A key ``generator`` makes
        it a generated set; otherwise ``sources`` or ``path`` say where its file is.

    Raises
    ------
    InputError
        An unknown key (with the nearest ones), a missing key, or a value of the wrong type.
    """
    if "generator" in DATA.mapping(config):
        return read(GeneratedConfig, config, DATA)
    made = {
        "sources": Made(_sources, ("path", "sources", *_LAYOUT_KEYS)),
        "folder": Made(),
        "sha256": Made(),
    }
    return read(FileConfig, config, DATA, made=made)


def _sources(
    config: Mapping[str, Any], where: DataWhere, before: Mapping[str, Any]
) -> tuple[Source, ...]:
    """Read the list of sources; a ``path`` of the user's own replaces it."""
    layout = _layout(config, Layout())
    if "path" in config:
        if config["path"] in (None, "", "-", []):
            raise InputError(
                "data.path is not set: give the path of your file, as in data.path=mine.csv."
            )
        return (Source("path", _paths(config["path"], where / "path"), replace(layout, own=True)),)
    entries = (where / "sources").items(config.get("sources"))
    return tuple(_source(entry, layout, where / "sources") for entry in entries)


def _source(entry: Any, layout: Layout, where: DataWhere) -> Source:
    kinds = get_args(SourceKind)
    check_known(f"{where}: key", where.mapping(entry), (*kinds, *_LAYOUT_KEYS))
    stated = [kind for kind in kinds if kind in entry]
    if len(stated) != 1:
        raise InputError(f"{where} needs exactly one of {', '.join(kinds)} in each entry.")
    return Source(stated[0], _paths(entry[stated[0]], where), _layout(entry, layout))


def _paths(found: Any, where: DataWhere) -> tuple[str, ...]:
    """Read one path or address, or a list of them."""
    return value(tuple[str, ...], [found] if isinstance(found, str) else found, where)


def _layout(config: Mapping[str, Any], default: Layout) -> Layout:
    """Apply the layout keys of `config` to `default`."""
    stated = {key: config[key] for key in _LAYOUT_KEYS if key in config}
    layout = read(Layout, stated, DATA, defaults=vars(default))
    if layout.thousands is None:
        return layout
    decimal: Decimal = "comma" if layout.thousands == "." else "point"
    if config.get("decimal", "auto") not in ("auto", decimal):
        raise InputError(
            f"data.thousands={layout.thousands!r} and data.decimal={layout.decimal} are one sign: "
            "set one of them."
        )
    return replace(layout, decimal=decimal)
