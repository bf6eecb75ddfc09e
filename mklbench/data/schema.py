"""The schema of one data configuration (``configs/data/NAME.yaml``), as frozen dataclasses.

`mklbench.data.options.parse_config` makes them from a plain dict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

SourceKind = Literal["embedded", "mirror", "url", "path"]
ColumnReference = str | int


@dataclass(frozen=True)
class Layout:
    """How a delimited text file is read.

    Attributes
    ----------
    delimiter : one character, or "whitespace" for runs of blanks and tabs.
    header : whether the first line names the columns; "auto" takes it as names when none of its
        cells is a number.
    skip_lines : lines to pass over at the top of the file, before the header.
    label : the column of the class labels: a name, a number from 1 (negative from the end), "last".
    id_columns : columns that identify a row and are not inputs (names or numbers from 1).
    missing : the text of a missing value, in upper or lower case; rows that hold one in an input
        or the label are dropped. None: no such text.
    label_names : label in the file -> label to use instead.
    """

    delimiter: str = ","
    header: bool | Literal["auto"] = False
    skip_lines: int = 0
    label: ColumnReference = "last"
    id_columns: tuple[ColumnReference, ...] = ()
    missing: str | None = None
    label_names: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Source:
    """One place a file may come from, and how it is read there.

    Attributes
    ----------
    kind : "embedded" (inside an installed package: ``package/path``), "mirror" (path below the
        mirror), "url" (upstream) or "path" (the user's own file).
    location : the path or URL.
    layout : the layout of the set, with the differences this source states.
    """

    kind: SourceKind
    location: str
    layout: Layout

    @property
    def basename(self) -> str:
        """The file name, which is also its name in the cache."""
        return self.location.rstrip("/").rsplit("/", 1)[-1]


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
    """

    n_samples: int
    n_features: int
    classes: Mapping[str, int]
    digest: str
    dropped_rows: int = 0
    constant_features: tuple[str, ...] = ()


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
    """

    name: str
    title: str = ""
    licence: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()
    noise_features: int = 0
    drop_constant: bool = False
    drop_features: tuple[str, ...] = ()


@dataclass(frozen=True)
class FileConfig(DataConfig):
    """A data set read from a file.

    Attributes
    ----------
    sources : where the file may come from, in order of preference within a kind.
    positive : the label that becomes code 1 in a binary set; None: the last label in order.
    feature_names : names of the inputs; empty: those of the header, or x1, x2, ...
    expected : the content to verify; None for a user's own file.
    """

    sources: tuple[Source, ...] = ()
    positive: str | None = None
    feature_names: tuple[str, ...] = ()
    expected: Expected | None = None


@dataclass(frozen=True)
class GeneratedConfig(DataConfig):
    """A data set drawn from a published definition.

    Attributes
    ----------
    generator : name of the definition (`mklbench.data.generate.GENERATORS`).
    n_samples : number of rows to draw.
    seed : of the generator.
    """

    generator: str = ""
    n_samples: int = 0
    seed: int = 0
