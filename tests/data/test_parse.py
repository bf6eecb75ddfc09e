"""The user's own file: what is read, and the sentence for what cannot be."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from data_fakes import CONFIG_DIRECTORY

from mklbench.data import Dataset, load
from mklbench.errors import DataError, InputError

GOOD = "id,age,weight,sick\na,30,70.5,yes\nb,41,80,no\nc,52,66,yes\nd,29,91,no\n"


def load_csv(path: Path, **options: Any) -> Dataset:
    config = yaml.safe_load((CONFIG_DIRECTORY / "csv.yaml").read_text())
    return load(config | {"path": str(path)} | options)


def written(tmp_path: Path, text: str, name: str = "mine.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("label", ["sick", "last", 4, -1])
def test_a_table_with_a_header(tmp_path: Path, label: str | int) -> None:
    dataset = load_csv(written(tmp_path, GOOD), label=label, id_columns=["id"])
    assert dataset.feature_names == ("age", "weight")
    assert dataset.classes == ("no", "yes")
    np.testing.assert_array_equal(dataset.X, [[30, 70.5], [41, 80], [52, 66], [29, 91]])
    np.testing.assert_array_equal(dataset.y, [1, 0, 1, 0])


def test_the_positive_class_may_be_chosen(tmp_path: Path) -> None:
    dataset = load_csv(written(tmp_path, GOOD), id_columns=[1], positive="no")
    assert dataset.classes == ("yes", "no")
    np.testing.assert_array_equal(dataset.y, [0, 1, 0, 1])


def test_a_table_without_a_header_and_its_label_first(tmp_path: Path) -> None:
    dataset = load_csv(written(tmp_path, "1,2.5,3\n10,1,1\n2,0,0\n10,4,4\n2,1,0\n1,0,1\n"), label=1)
    assert dataset.feature_names == ("x1", "x2")
    assert dataset.classes == ("1", "2", "10")  # numbers in the order of their values
    np.testing.assert_array_equal(dataset.y, [0, 2, 1, 2, 1, 0])


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("1;2;a\n3;4;b\n5;6;a\n", {"delimiter": ";"}),
        ("1 2\ta\n 3  4 b\n5 6 a\n", {"delimiter": "whitespace"}),
        ("1\t2\ta\n3\t4\tb\n5\t6\ta\n", {"delimiter": "\t"}),
        ("\ufeff1,2,a\r\n3, 4 ,b\r\n\r\n5,6,a\r\n \r\n", {}),
        ("made by a lab\n1,2,a\n3,4,b\n5,6,a", {"skip_lines": 1}),
        ('1,"2",a\n3,4,"b"\n5,6,a\n', {}),
        ("1,2,0\n3,4,1\n5,6,0\n", {"label_names": {"0": "a", 1: "b"}}),
    ],
)
def test_layouts_of_the_same_numbers(tmp_path: Path, text: str, options: dict[str, Any]) -> None:
    dataset = load_csv(written(tmp_path, text), **options)
    np.testing.assert_array_equal(dataset.X, [[1, 2], [3, 4], [5, 6]])
    assert dataset.classes == ("a", "b")


def test_a_compressed_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    assert load_csv(path, id_columns=["id"]).X.shape == (4, 2)


@pytest.mark.parametrize("missing", ["?", "NA", "", "-999", "nan"])
def test_rows_with_a_missing_value_are_dropped_and_noted(tmp_path: Path, missing: str) -> None:
    text = f"?,1,2,a\nr,{missing},2,b\ns,3,4,b\nt,5,6,a\n"
    dataset = load_csv(written(tmp_path, text), missing=missing, id_columns=[1], header=False)
    np.testing.assert_array_equal(dataset.X, [[1, 2], [3, 4], [5, 6]])  # "?" as an id is no matter
    assert "1 rows with a missing value dropped" in dataset.notes


FAULTS = {
    "text in a number": (
        "1,2,a\n3,four,b\n",
        {},
        "line 2, column 2: 'four' is not a number: correct it, or set data.missing",
    ),
    "text under a header": (
        "u,v,w\n1,2,a\n3,4 kg,b\n",
        {},
        "line 3, column 2 (v): '4 kg' is not a number",
    ),
    "half a header": ("u,2,w\n1,2,a\n", {}, "line 1, column 1: 'u' is not a number: set data.head"),
    "an empty cell": ("1,2,a\n3,,b\n", {}, "line 2, column 2: '' is not a number"),
    "an underscore": ("1,2,a\n3,1_0,b\n", {}, "line 2, column 2: '1_0' is not a number"),
    "NaN": ("1,2,a\nNaN,4,b\n", {}, "line 2, column 1: 'NaN' is not a finite number: correct it"),
    "infinity": ("1,2,a\n3,-inf,b\n", {}, "line 2, column 2: '-inf' is not a finite number"),
    "beyond doubles": ("1,2,a\n3,1e999,b\n", {}, "line 2, column 2: '1e999' is not a finite"),
    "an empty label": ("1,2,a\n3,4,\n", {}, "line 2, column 3: the label is empty"),
    "a short row": ("1,2,a\n\n3,b\n", {}, "line 3 has 2 cells where 3 were expected"),
    "an unclosed quote": ('1,"2,a\n3,4,b\n', {}, "line 1 cannot be split into cells"),
    "another delimiter": (
        "1;2;a\n3;4;b\n",
        {"delimiter": ","},
        "has a single column when split at data.delimiter",
    ),
    "one class": ("1,2,a\n3,4,a\n", {}, "has one class only, a, in data.label=last"),
    "a label that is an input": (
        "1,2,0.1\n3,4,0.2\n5,6,0.3\n",
        {},
        "has 3 different labels in 3 rows: is data.label=last the column of the classes?",
    ),
    "no such label by name": ("u,v\n1,a\n", {"label": "w"}, "data.label=w is not a column of"),
    "a name without a header": (
        "1,2,a\n3,4,b\n",
        {"label": "w"},
        "data.label=w cannot be found, as data.path=",
    ),
    "no such label by number": ("1,2,a\n3,4,b\n", {"label": 4}, "data.label=4 is not a column of"),
    "a label name used twice": ("u,u\n1,a\n", {"label": "u"}, "is the name of 2 columns"),
    "no such id": ("1,2,a\n3,4,b\n", {"id_columns": [9]}, "data.id_columns=9 is not a column of"),
    "only ids": ("1,a\n3,b\n", {"id_columns": [1]}, "has no inputs"),
    "no such positive": ("1,2,a\n3,4,b\n", {"positive": "c"}, "data.positive=c is not a label of"),
    "positive of three": (
        "1,a\n2,b\n3,c\n4,a\n5,b\n6,c\n",
        {"positive": "c"},
        "data.positive=c needs a set of two classes",
    ),
    "an empty file": ("", {}, "holds no rows of data"),
    "a header alone": ("u,v,w\n", {}, "holds no rows of data"),
    "no complete row": ("1,?,a\n?,1,b\n", {"missing": "?"}, "has no row without a missing value"),
    "names that do not fit": (
        "1,2,a\n3,4,b\n",
        {"feature_names": ["u"]},
        "data.feature_names lists 1 names for 2 features",
    ),
}


@pytest.mark.parametrize(("text", "options", "sentence"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_one_sentence_that_names_the_place(
    tmp_path: Path, text: str, options: dict[str, Any], sentence: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(DataError, match=re.escape(sentence)) as caught:
        load_csv(path, **options)
    message = str(caught.value)
    assert message.startswith("data.")
    assert "\n" not in message
    assert message.endswith((".", "?"))
    assert str(path) in message or "feature_names" in message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"data.path=.*none.csv does not exist: give the path"):
        load_csv(tmp_path / "none.csv")
    with pytest.raises(
        DataError, match=r"data.path=.* is a directory and not a regular file: give"
    ):
        load_csv(tmp_path)
    (tmp_path / "photo.csv").write_bytes(b"\xff\xd8\xff\xe0")
    with pytest.raises(DataError, match=r"photo.csv is not a text file in UTF-8: byte 1 cannot"):
        load_csv(tmp_path / "photo.csv")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(GOOD.encode())[:-9])
    with pytest.raises(DataError, match=r"cut.csv.gz is a damaged compressed file"):
        load_csv(tmp_path / "cut.csv.gz")


def test_the_path_is_asked_for() -> None:
    with pytest.raises(InputError, match=r"data.path is not set: give the path of your file"):
        load(yaml.safe_load((CONFIG_DIRECTORY / "csv.yaml").read_text()))


def test_a_wrong_mirror_does_not_matter_to_a_file_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MKLBENCH_MIRROR", "/no/such/directory")
    assert load_csv(written(tmp_path, GOOD), id_columns=["id"]).source.endswith("mine.csv")
