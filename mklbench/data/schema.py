"""The schema of one data configuration (``configs/data/NAME.yaml``), as frozen dataclasses.

`mklbench.data.options.parse_config` makes them from a plain dict, field by field, so that of two
mistakes the first is reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from mklbench.data import values
from mklbench.data.dataset import Distance
from mklbench.data.preprocessing import ScalingName
from mklbench.data.values import ColumnReference, FromOne, FromZero, Label, Whole

SourceKind = Literal["embedded", "mirror", "url", "path"]
FileFormat = Literal["text", "svmlight", "npz", "mat", "images"]
Edition = Literal["auto", "official", "pooled"]
Task = Literal["classification", "regression"]

# Rows of a generated set: of 20 and more numbers, as many as a file may hold.
_MOST_DRAWN = 5_000_000


@dataclass(frozen=True)
class Layout:
    """How a file is read: delimited text unless `format` says otherwise.

    Attributes
    ----------
    format : "text"; "svmlight"; "npz" or "mat" (MATLAB, up to version 7), files of named arrays;
        "images", a tar archive of photographs whose descriptors are the inputs.
    inputs : name of the array of inputs, whose `label` is a name, too. In a MATLAB file it may be a
        cell with one array a view, (n, d) or (d, n).
    struct : the variable of a MATLAB file whose fields the arrays are, besides the fields train
        and test: rows of 1-based numbers, one a split. None: the arrays are variables themselves.
    delimiter : one character, or "whitespace" for runs of blanks and tabs.
    header : whether the first line names the columns; "auto" takes it as names when none of its
        cells is a number.
    skip_lines : lines to pass over at the top of the file, before the header.
    zero_based : whether the indices of an svmlight file begin at 0 rather than 1.
    label : the column of the class labels: a name, a number from 1 (negative from the end), "last".
    id_columns : columns that identify a row and are not inputs (names or numbers from 1).
    missing : the text of a missing value, in upper or lower case; rows that hold one in an input
        or the label are dropped. None: no such text.
    label_names : label in the file -> label to use instead.
    per_class : of images, in the order of their names, so many make a class.
    max_bytes : that a file may hold, as it comes and unpacked; None: `mklbench.data.limits`.
    """

    format: FileFormat = "text"
    inputs: str = "x"
    struct: str | None = None
    delimiter: Annotated[str, values.delimiter] = ","
    skip_lines: FromZero = 0
    zero_based: bool = False
    header: Annotated[bool | Literal["auto"], values.header] = False
    per_class: FromOne = 1
    max_bytes: FromOne | None = None
    label: ColumnReference = "last"
    id_columns: tuple[ColumnReference, ...] = ()
    missing: str | None = None
    label_names: Mapping[str, Label] | None = None


@dataclass(frozen=True)
class Source:
    """One place the files of a set may come from, and how they are read there.

    Attributes
    ----------
    kind : "embedded" (inside an installed package: ``package/path``), "mirror" (path below the
        mirror), "url" (upstream) or "path" (the user's own file).
    locations : the path or URL of each file; the rows of several are taken one after the other.
    layout : the layout of the set, with the differences this source states.
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
    n_samples, n_features : the shape, after id columns and incomplete rows are taken out.
    classes : label -> number of rows.
    digest : "sha256:..." of the parsed arrays (`mklbench.data.dataset.content_digest`).
    dropped_rows : rows with a missing value.
    constant_features : names of the features that have a single value.
    splits_digest : of the splits that the file holds (`mklbench.data.dataset.splits_digest`);
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
    n_train, n_test : rows of the two parts.
    n_splits : number of splits.
    stratified : whether each class has its share of either part.
    scaling : of the features, as in `mklbench.data.preprocessing`.
    in_order : whether the source has its training rows first, then its test rows: split 0 is this
        official one.
    """

    n_train: FromOne
    n_test: FromOne
    n_splits: FromOne
    stratified: bool = False
    scaling: Annotated[ScalingName, values.scaling] = "standard"
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
    mirror : its path below a mirror.
    url : its upstream address.
    struct : the variable of the set, with the fields x, t, train and test.
    sha256 : digest of the file, 64 hexadecimal digits.
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
    name, title, licence, citation : as shown by ``mklbench data list``.
    notes : what a reader of results should know about the set.
    noise_features : number of N(0, 1) features to append to every input vector.
    drop_constant : leave out the features that have a single value.
    drop_features : names of features to leave out.
    n_features : keep so many of the others: those that are not 0 in the most rows. None: all.
    splits : those of the publications, if the set has such.
    """

    name: Annotated[str, values.set_name]
    title: str = ""
    licence: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()
    noise_features: FromZero = 0
    drop_constant: bool = False
    drop_features: tuple[str, ...] = ()
    n_features: FromOne | None = None
    splits: PublishedSplits | None = None


@dataclass(frozen=True)
class FileConfig(DataConfig):
    """A data set read from files.

    Attributes
    ----------
    sources : where the file may come from, in order of preference within a kind.
    positive : the label that becomes code 1 in a binary set; None: the last label in order.
    feature_names : names of the inputs; empty: those of the header, or x1, x2, ...
    expected : the content to verify; None for a user's own file.
    keep_classes : the labels whose rows are used; empty: all rows are.
    official : the file with the official splits, if the set has one.
    edition : "official" reads that file, "pooled" the sources; "auto" leaves it to
        `mklbench.data.editions`.
    folder : of the files in the cache; empty: the name of the set.
    sha256 : digest that the bytes of the file must have; None: the content is verified alone.
    views : what the views of the file are called and how they are compared; empty: view1, view2,
        ..., if it has views.
    splits_file : a MATLAB file with the official splits of the set; None: it is not at hand.
    task : "regression" reads the column of the labels as real numbers to predict.
    """

    expected: Expected | None = None
    official: OfficialFile | None = None
    sources: tuple[Source, ...] = ()
    positive: str | None = None
    feature_names: tuple[str, ...] = ()
    keep_classes: tuple[str, ...] = ()
    edition: Edition = "pooled"
    task: Task = "classification"
    views: tuple[ViewConfig, ...] = ()
    splits_file: str | None = None
    folder: str = ""
    sha256: str | None = None


@dataclass(frozen=True)
class GeneratedConfig(DataConfig):
    """A data set drawn from its definition.

    Attributes
    ----------
    generator : name of the definition (`mklbench.data.generate.GENERATORS`).
    n_samples : number of rows to draw.
    seed : of the generator.
    """

    generator: str = ""
    n_samples: Annotated[int, Whole(2, _MOST_DRAWN)] = field(kw_only=True)
    seed: FromZero = 0
