"""Tables of the user's own: read as they were meant, or asked about in one sentence."""

from __future__ import annotations

import datetime as dt
import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data_fakes import read_own as read
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mklbench.data import Dataset
from mklbench.errors import InputError

N = 24
X = np.random.default_rng(0).standard_normal((N, 4)).round(6)
SICK = ["yes", "no", "no"] * 8
INDEX = np.random.default_rng(1).permutation(N)


def frame() -> pd.DataFrame:
    made = pd.DataFrame(X.copy(), columns=list("abcd"))
    made["sick"] = SICK
    return made


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(path, **options)
    return str(caught.value).replace(f"data.path={path}", "FILE")


def csv(tmp_path: Path, made: pd.DataFrame | str, **options: Any) -> Path:
    path = tmp_path / "own.csv"
    if isinstance(made, str):
        path.write_text(made, encoding="utf-8")
    else:
        made.to_csv(path, **{"index": False} | options)
    return path


def xlsx(tmp_path: Path, made: pd.DataFrame, **options: Any) -> Path:
    made.to_excel(tmp_path / "own.xlsx", **{"index": False} | options)
    return tmp_path / "own.xlsx"


def is_right(dataset: Dataset, names: str = "abcd") -> bool:
    return (
        np.array_equal(dataset.X, X)
        and dataset.feature_names == tuple(names)
        and dataset.classes == ("no", "yes")
        and dataset.y.tolist() == [int(label == "yes") for label in SICK]
    )


class TestHeader:
    @pytest.mark.parametrize("write", [csv, xlsx])
    @pytest.mark.parametrize(
        "names", [[400, 410, 420, 430], [0, 1, 2, 3], [7157, 672, 1956, 4609], list("abcd")]
    )
    def test_column_names_that_are_numbers_are_no_sample(
        self, names: list[Any], write: Any, tmp_path: Path
    ) -> None:
        dataset = read(write(tmp_path, frame().set_axis([*names, "sick"], axis=1)))
        assert is_right(dataset, tuple(map(str, names)))  # type: ignore[arg-type]

    @pytest.mark.parametrize("write", [csv, xlsx])
    @pytest.mark.parametrize("names", [[1990, 1991, 1992, 1993, 1994], [0, 1, 2, 3, 4]])
    def test_numbers_over_numbers_alone_are_asked_about(
        self, names: list[int], write: Any, tmp_path: Path
    ) -> None:
        made = frame().set_axis(names, axis=1)
        made[names[-1]] = (made[names[-1]] == "yes").astype(int)
        path = write(tmp_path, made)
        assert "set data.header=true or data.header=false" in refusal(path)
        assert read(path, header=True).X.shape == (N, 4)
        assert read(path, header=False).X.shape == (N + 1, 4)

    def test_samples_are_no_header(self, tmp_path: Path) -> None:
        assert_array_equal(read(csv(tmp_path, frame(), header=False)).X, X)
        made = frame().assign(sick=[int(label == "yes") for label in SICK])
        assert_array_equal(read(csv(tmp_path, made, header=False)).X, X)

    def test_a_table_of_text_keeps_its_first_sample(self, tmp_path: Path) -> None:
        weather = pd.DataFrame({"sky": ["sun", "rain", "fog"] * 8, "play": ["go", "stay"] * 12})
        with_names = read(csv(tmp_path, weather), categories="onehot")
        assert with_names.feature_names == ("sky=fog", "sky=rain", "sky=sun")
        without = read(csv(tmp_path, weather, header=False), categories="onehot")
        assert_array_equal(without.X, with_names.X)

    def test_a_name_of_an_option_is_in_the_header(self, tmp_path: Path) -> None:
        made = frame()[["a", "b"]].set_axis(["1990", "1991"], axis=1).assign(y=[0, 1] * 12)
        assert read(csv(tmp_path, made.set_axis([1, 2, 3], axis=1)), label="3").X.shape == (N, 2)

    def test_a_number_that_is_a_name_too_is_asked_about(self, tmp_path: Path) -> None:
        path = csv(tmp_path, frame().set_axis([0, 1, 2, 3, 4], axis=1))
        assert (
            "data.label=4 may be column 4 (3) or column 5 (4) of FILE: give its number"
            in refusal(path, label=4)
        )
        assert is_right(read(path, label="4"), "0123")

    def test_a_title_above_the_names_is_pointed_out(self, tmp_path: Path) -> None:
        path = csv(tmp_path, "My study\na,b,y\n1,2,p\n3,4,q\n5,6,q\n")
        assert refusal(path).endswith("correct it, or begin there with data.skip_lines=1.")
        assert read(path, skip_lines=1).X.shape == (3, 2)


class TestMissing:
    @pytest.mark.parametrize(
        "mark", ["NA", "nan", "NaN", "?", "None", "NULL", "N/A", "-", ".", "", "missing"]
    )
    def test_a_missing_label_is_no_class(self, mark: str, tmp_path: Path) -> None:
        made = frame()
        made.loc[[3, 8], "sick"] = mark
        made.loc[5, "b"] = np.nan
        options = {"missing": ["missing", -999]} if mark == "missing" else {}
        dataset = read(csv(tmp_path, made), **options)
        assert dataset.classes == ("no", "yes")
        assert_array_equal(dataset.X, np.delete(X, [3, 5, 8], axis=0))
        assert dataset.understood[2] == (
            "rows      24 read, 3 dropped (2 without a label, 1 with a missing value)"
        )

    @pytest.mark.parametrize("labels", [["-", "+"], ["yes", "no"]])
    def test_marks_that_are_labels(self, labels: list[str], tmp_path: Path) -> None:
        assert read(csv(tmp_path, frame().assign(sick=labels * 12))).class_counts == dict.fromkeys(
            sorted(labels), 12
        )

    def test_a_mark_that_may_be_a_class_is_asked_about(self, tmp_path: Path) -> None:
        path = csv(tmp_path, frame().assign(sick=["None", "None", "mild", "severe"] * 6))
        assert "has None in 12 rows, which may stand for a missing value" in refusal(path)
        assert read(path, missing=[]).class_counts == {"None": 12, "mild": 6, "severe": 6}
        assert read(path, missing=["None"]).class_counts == {"mild": 6, "severe": 6}

    @pytest.mark.parametrize("column", ["sick", "b"])
    def test_minus_999_is_asked_about(self, column: str, tmp_path: Path) -> None:
        made = frame()
        made[column] = made[column].astype(object)
        made.loc[[2, 9], column] = -999
        path = csv(tmp_path, made)
        assert "has -999 in 2 rows, which may" in refusal(path)
        assert read(path, missing=["NA", "?", -999]).X.shape == (N - 2, 4)
        assert read(path, missing=[]).X.shape == (N, 4)

    def test_most_rows_are_not_dropped_in_silence(self, tmp_path: Path) -> None:
        made = frame()
        made.loc[5:, "b"] = np.nan
        path = csv(tmp_path, made)
        assert "has a missing value in 19 of 24 rows: leave columns out with" in refusal(path)
        assert read(path, drop=["b"]).X.shape == (N, 3)
        kept = read(path, impute="mean")
        assert np.isnan(kept.X).sum() == 19
        assert kept.digest != read(path, impute="median").digest


class TestLabels:
    @pytest.mark.parametrize(
        ("labels", "said"),
        [
            (["1", "1.0", "2"], "'1' (8 rows) and '1.0' (8 rows)"),
            (["Yes", "yes", "no"], "'Yes' (8 rows) and 'yes' (8 rows)"),
        ],
    )
    def test_that_differ_in_form_are_refused(
        self, labels: list[str], said: str, tmp_path: Path
    ) -> None:
        path = csv(tmp_path, frame().assign(sick=labels * 8))
        assert f"labels that differ in form only, {said}" in refusal(path)
        names = {labels[1]: labels[0]}
        assert len(read(path, label_names=names).classes) == 2

    def test_blanks_around_them_are_no_form(self, tmp_path: Path) -> None:
        path = csv(tmp_path, frame().assign(sick=["yes ", "no", " no"] * 8))
        assert is_right(read(path))

    def test_real_targets_are_told_from_classes(self, tmp_path: Path) -> None:
        made = frame().assign(sick=np.arange(N) % 11 + 0.5)
        path = csv(tmp_path, made, decimal=",", sep=";")
        assert "set data.task=regression" in refusal(path)
        dataset = read(path, task="regression")
        assert_array_equal(dataset.targets, np.arange(N) % 11 + 0.5)
        assert dataset.understood[0] == "label     column 5 (sick), a target from 0.5 to 10.5"

    @pytest.mark.parametrize("name", ["", "state\n"])
    @pytest.mark.parametrize("labels", [SICK, ["1", "2"] * 12])
    def test_alone(self, name: str, labels: list[str], tmp_path: Path) -> None:
        dataset = read(csv(tmp_path, name + "\n".join(labels)))
        assert dataset.X.shape == (N, 0)
        assert dataset.y.tolist() == [int(label == max(labels)) for label in labels]


class TestIdentifiers:
    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("k", range(N)),
            ("k", range(1000, 1000 + 3 * N, 3)),
            ("k", 1_600_000_000 + np.cumsum(np.arange(N) % 5 + 1)),
            ("k", -np.arange(N)),
            ("k", INDEX),
            ("patient_id", 7 * INDEX + 1000),
            ("SubjectNr", 7 * INDEX + 1000),
            ("Unnamed: 0", 7 * INDEX),
        ],
    )
    @pytest.mark.parametrize("write", [csv, xlsx])
    def test_are_asked_about(self, name: str, values: Any, write: Any, tmp_path: Path) -> None:
        made = frame()
        made.insert(0, name, np.asarray(values))
        path = write(tmp_path, made)
        assert "set data.index=drop to leave that out, or data.index=keep" in refusal(path)
        assert is_right(read(path, index="drop"))
        assert is_right(read(path, drop=[name]))
        assert read(path, index="keep").X.shape == (N, 5)

    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_that_doubles_cannot_tell_apart(self, kind: str, tmp_path: Path) -> None:
        made, long = frame().assign(sick=[10**17, 10**17 + 1, 10**17 + 1] * 8), 10**17 + INDEX
        path = tmp_path / f"own.{kind}"
        (made.to_csv if kind == "csv" else made.to_parquet)(path, index=False)
        assert read(path).class_counts == {str(10**17): 8, str(10**17 + 1): 16}
        made.insert(0, "tweet", long)
        (made.to_csv if kind == "csv" else made.to_parquet)(path, index=False)
        assert "FILE has column 1 (tweet) to identify the rows" in refusal(path)

    def test_other_integers_are_features(self, tmp_path: Path) -> None:
        made = frame()
        made.insert(0, "years", (np.arange(N) * 5) % 17)
        made.insert(0, "count", 3 * INDEX + 7)
        assert read(csv(tmp_path, made)).X.shape == (N, 6)

    def test_an_index_that_is_not_there_cannot_be_dropped(self, tmp_path: Path) -> None:
        assert "data.index=drop finds no column" in refusal(csv(tmp_path, frame()), index="drop")

    @pytest.mark.parametrize("prefix", ["", "S"])
    def test_subjects_with_several_rows_are_asked_about(self, prefix: str, tmp_path: Path) -> None:
        made = frame()
        subjects = [f"{prefix}{k}" for k in np.repeat(np.arange(6), 4) + 30]
        made.insert(0, "subject", subjects)
        path = csv(tmp_path, made)
        assert "names 6 subjects or the like in 24 rows: set data.groups=subject" in refusal(path)
        grouped = read(path, groups="subject")
        assert is_right(grouped)
        assert grouped.groups is not None
        assert_array_equal(grouped.groups, np.repeat(np.arange(6), 4))
        assert grouped.understood[2].endswith(", 6 groups")
        assert grouped.digest != read(path, drop=["subject"]).digest


class TestParquet:
    def write(self, tmp_path: Path, made: pd.DataFrame, **options: Any) -> Path:
        made.to_parquet(tmp_path / "own.parquet", **options)
        return tmp_path / "own.parquet"

    @pytest.mark.parametrize("name", [None, "patient"])
    def test_the_index_of_pandas_is_left_out(self, name: str | None, tmp_path: Path) -> None:
        dataset = read(self.write(tmp_path, frame().set_index(pd.Index(INDEX, name=name))))
        assert is_right(dataset)
        assert f"left out: the index {name or 'index'}" in dataset.understood[1]

    def test_the_index_may_be_the_label(self, tmp_path: Path) -> None:
        assert is_right(read(self.write(tmp_path, frame().set_index("sick")), label="sick"))

    def test_an_index_of_subjects_is_asked_about(self, tmp_path: Path) -> None:
        made = frame().set_index(pd.Index(np.repeat(np.arange(6), 4), name="patient"))
        path = self.write(tmp_path, made)
        assert "set data.groups=patient" in refusal(path)
        assert read(path, groups="patient").groups is not None
        assert is_right(read(path, drop=["patient"]))

    def test_types_become_their_numbers(self, tmp_path: Path) -> None:
        made = frame().assign(a=np.arange(N) % 2 == 0, b=pd.array([2**53, None] * 12, "Int64"))
        made["sick"] = made["sick"].astype("category")
        dataset = read(self.write(tmp_path, made))
        assert_array_equal(dataset.X[:, 0], np.ones(12))
        assert_array_equal(dataset.X[:, 1], np.full(12, 2.0**53))
        assert dataset.classes == ("no", "yes")


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_the_same_frame_is_the_same_data(kind: str, tmp_path: Path) -> None:
    made = frame().assign(ward=["east", "west", "north"] * 8)[["a", "ward", "b", "sick"]]
    made.loc[[2, 7], "a"] = np.nan
    made.loc[4, "sick"] = None
    path = tmp_path / f"own.{kind}"
    writers: dict[str, Any] = {"csv": made.to_csv, "xlsx": made.to_excel}
    writers.get(kind, made.to_parquet)(path, index=False)
    where = "row 1" if kind == "parquet" else "line 2"
    assert f"text in column 2 (ward), such as 'east' in {where}" in refusal(path)
    dataset = read(path, categories="onehot")
    kept = made.dropna()
    assert_array_equal(dataset.X[:, [0, 4]], kept[["a", "b"]].to_numpy())
    assert_array_equal(dataset.X[:, 1:4], pd.get_dummies(kept["ward"]).to_numpy(float))
    assert dataset.feature_names == ("a", "ward=east", "ward=north", "ward=west", "b")
    assert dataset.dropped_rows == 3


@pytest.mark.parametrize("kind", ["xlsx", "parquet"])
def test_dates_are_no_features(kind: str, tmp_path: Path) -> None:
    made = frame()
    made.insert(1, "born", [dt.datetime(1960 + i, 1, 2) for i in range(N)])
    if kind == "parquet":
        made["lists"] = [[k, k + 1] for k in range(N)]
    path = tmp_path / f"own.{kind}"
    (made.to_excel if kind == "xlsx" else made.to_parquet)(path, index=False)
    drop = ["born", "lists"] if kind == "parquet" else ["born"]
    said = refusal(path, drop=drop[1:], label="sick")
    assert "text in column 2 (born), such as '1960-01-02 00:00:00' in " in said
    assert is_right(read(path, drop=drop, label="sick"))


def test_sheets_of_excel(tmp_path: Path) -> None:
    path = tmp_path / "own.xlsx"
    with pd.ExcelWriter(path) as writer:
        frame().to_excel(writer, sheet_name="data", index=False, startrow=2, startcol=1)
        frame().iloc[:5].to_excel(writer, sheet_name="more", index=False)
        pd.DataFrame().to_excel(writer, sheet_name="empty")
    assert "FILE has the sheets data, more: set data.sheet to one" in refusal(path)
    assert is_right(read(path, sheet="data"))
    assert "FILE has the sheets data, more: set data.sheet to one" in refusal(path, sheet="other")


class TestNumbers:
    @pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
    @pytest.mark.parametrize("decimal", [".", ","])
    def test_what_pandas_writes_is_read_back(self, sep: str, decimal: str, tmp_path: Path) -> None:
        assert is_right(read(csv(tmp_path, frame(), sep=sep, decimal=decimal)))

    def test_european_thousands(self, tmp_path: Path) -> None:
        income = [f"1.{k:03}" if k % 3 else f"{900 + k}" for k in range(N)]
        expected = [1000.0 + k if k % 3 else 900.0 + k for k in range(N)]
        made = frame().assign(d=income)
        path = csv(tmp_path, made.assign(a=0, b=1, c=2), sep=";")
        assert "1.001, whose point may stand before decimals or aft" in refusal(path)
        for stated in ({"decimal": "comma"}, {"thousands": "."}):
            assert_array_equal(read(path, **stated).X[:, 3], expected)
        with pytest.raises(InputError, match="are one sign: set one of them"):
            read(path, decimal="point", thousands=".")
        assert read(path, decimal="point").X[1, 3] == 1.001
        for column in "abc":
            made[column] = made[column].map(lambda x: f"{x:.6f}".replace(".", ","))
        assert_array_equal(
            read(csv(tmp_path, made, sep=";")).X, np.column_stack([X[:, :3], expected])
        )

    @pytest.mark.parametrize(
        ("cells", "values"),
        [
            (["1.234,5", "7,25", "0,5"], [1234.5, 7.25, 0.5]),
            (["1,234.5", "7.25", "0.5"], [1234.5, 7.25, 0.5]),
            (["1.234.567", "12", "0"], [1234567, 12, 0]),
            (["1.379", "0.950", "2.104"], [1.379, 0.95, 2.104]),
        ],
    )
    def test_that_tell_themselves(
        self, cells: list[str], values: list[float], tmp_path: Path
    ) -> None:
        lines = [f"{cell};{label}" for cell, label in zip(cells * 2, "pqpqqp", strict=True)]
        assert_array_equal(read(csv(tmp_path, "\n".join(["x;y", *lines]))).X[:3, 0], values)

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("x;z;y\n1,5;2.5;a\n2,5;1;b\n", "column 2 (z): '2.5' is not a finite number"),
            ("x;z;y\n1,234;2;a\n5,678;1;b\n", "1,234, whose comma may stand before decimals or"),
            ("a,b;c,d\nd,e;f,g\n", "can be split at ',' or at ';': set data.delimiter"),
            ("1;2;a\n3;4\n5;6;b\n", "line 2 has 2 cells where 3 were expected"),
            ("1;2;a\n3;4;5;b\n5;6;b\n", "line 2 has 4 cells where 3 were expected"),
            (
                "x,y\n1,a\n1_5,b\n2,a\n",
                "line 3, column 1 (x): '1_5' is not a finite number: correct it, or set "
                "'data.missing=[\"1_5\"]' to drop such rows",
            ),
            ("x,y\n1,a\ninf,b\n2,a\n", "line 3, column 1 (x): 'inf' is not a finite number"),
            ("x,y\n\n1,a\nabc,b\n2,a\n", "line 4, column 1 (x): 'abc' is not a finite number"),
            ('x,y\n1,a\n"2,b\n', "line 3 cannot be split into cells"),
            ("", "holds no rows of data"),
            ("a,b\n", "holds no rows of data"),
        ],
    )
    def test_what_may_be_meant_in_two_ways_is_refused(
        self, text: str, reason: str, tmp_path: Path
    ) -> None:
        assert reason in refusal(csv(tmp_path, text))


def test_choices_of_columns_are_in_what_was_understood(tmp_path: Path) -> None:
    path = csv(
        tmp_path, frame().assign(ward=["east", "west"] * 12, e=1)[["a", "ward", "e", "sick"]]
    )
    dataset = read(path, categories="onehot", drop_constant=True, noise_features=2)
    assert dataset.understood[1] == (
        "features  4 (a, ward=east, ward=west, e); a feature for each value of column 2 (ward): 2; "
        "left out: e; 2 noise features N(0, 1) appended"
    )


def test_text_that_identifies_a_row_is_no_category(tmp_path: Path) -> None:
    path = csv(tmp_path, frame().assign(a=[f"p{k}" for k in range(N)]))
    assert refusal(path).endswith("leave out what identifies a row with data.drop=[a].")
    assert "what identifies a row with data.drop=[a]" in refusal(path, categories="onehot")
    assert_array_equal(read(path, drop=["a"]).X, X[:, 1:])


def test_listed_categories_may_be_numbers(tmp_path: Path) -> None:
    path = csv(tmp_path, frame().assign(a=[7, 5] * 12))
    dataset = read(path, categories=["a"])
    assert dataset.feature_names[:2] == ("a=5", "a=7")
    assert_array_equal(dataset.X[:, 1], [1, 0] * 12)


def test_codes_are_no_numbers(tmp_path: Path) -> None:
    made = frame().assign(a=["02134", "10115", "00501"] * 8)
    path = csv(tmp_path, made.rename(columns={"a": "home"}))
    assert "codes that begin with 0 in column 1 (home), such as '02134' in line 2" in refusal(path)
    coded = read(path, categories="onehot")
    assert coded.feature_names[:3] == ("home=00501", "home=02134", "home=10115")
    assert read(path, categories=[]).X[0, 0] == 2134


def test_text_of_other_programs(tmp_path: Path) -> None:
    rows = list(zip(X[:, 0], X[:, 1], SICK, strict=True))
    of_r = '"a" "b" "sick"\n' + "".join(
        f'"p{k}" {a} {b} "{y}"\n' for k, (a, b, y) in enumerate(rows)
    )
    body = "".join(f"{a},{b},{y}\n" for a, b, y in rows)
    with_comments = f"# of May\na,b,sick\n{body}"
    of_weka = (
        "% made\n@relation x\n@attribute a numeric\n@attribute b real\n@attribute sick {yes,no}\n"
        f"@data\n{body}"
    )
    for text in (of_r, with_comments, of_weka, with_comments.replace(",", "  \t ")):
        dataset = read(csv(tmp_path, text))
        assert dataset.feature_names == ("a", "b")
        assert_array_equal(dataset.X, X[:, :2])
        assert dataset.y.tolist() == [int(label == "yes") for label in SICK]
    (tmp_path / "own.csv").write_bytes(gzip.compress(with_comments.encode()))
    assert_array_equal(read(tmp_path / "own.csv").X, X[:, :2])
    (tmp_path / "own.csv").write_bytes(with_comments.encode("utf-16"))
    assert_array_equal(read(tmp_path / "own.csv").X, X[:, :2])


def test_what_other_files_have_in_them(tmp_path: Path) -> None:
    at_ends = frame().to_csv(index=False).replace("\n", ",\r\n")
    assert is_right(read(csv(tmp_path, at_ends)))
    made = frame()
    made.insert(2, "note", np.nan)
    dataset = read(csv(tmp_path, made))
    assert is_right(dataset)
    assert dataset.understood[1].endswith("; left out: column 3 (note), which is empty")
    made["note"] = ["1 234", "12\u202f345\u202f678", "\u22127"] * 8
    assert_array_equal(read(csv(tmp_path, made)).X[:3, 2], [1234, 12345678, -7])
    made["note"] = np.arange(N) % 3
    path = csv(tmp_path, made.rename(columns={"note": "fold"}))
    assert "set data.drop=[fold] to leave it out" in refusal(path)
    assert is_right(read(path, drop=["fold"]))


class TestSeveralFiles:
    def test_are_joined_by_the_names_of_the_samples(self, tmp_path: Path) -> None:
        made = frame().set_axis([f"p{k}" for k in range(N)])
        made[["a", "b"]].iloc[INDEX].T.to_csv(tmp_path / "rna.csv")
        made[["c", "d"]].iloc[2:].iloc[::-1].to_parquet(tmp_path / "meth.parquet")
        made[["sick"]].rename_axis("sample").to_csv(tmp_path / "who.tsv", sep="\t")
        paths = [tmp_path / name for name in ("rna.csv", "meth.parquet", "who.tsv")]
        dataset = read(*paths, label="sick", transpose=["rna"])
        rows = [k for k in INDEX if k >= 2]
        assert_array_equal(dataset.X, X[rows])
        assert [dataset.classes[code] for code in dataset.y] == [SICK[k] for k in rows]
        assert [(view.name, view.start, view.stop) for view in dataset.views] == [
            ("rna", 0, 2),
            ("meth", 2, 4),
        ]
        assert dataset.understood[2] == "rows      24 read, 2 dropped (2 not in every file)"

    def test_need_names(self, tmp_path: Path) -> None:
        frame().to_csv(tmp_path / "one.csv", index=False)
        (frame() * 1).assign(a=X[:, 0] + 9, b=0, c=0, d=0).to_csv(tmp_path / "two.csv", index=False)
        with pytest.raises(InputError, match="are several files: set data"):
            read(tmp_path / "one.csv", tmp_path / "two.csv")

    def test_may_have_decimals_of_their_own(self, tmp_path: Path) -> None:
        made = frame().assign(
            name=[f"P{k}" for k in range(N)], d=[f"1.{k + 100}" for k in range(N)]
        )
        made[["name", "a", "sick"]].to_csv(tmp_path / "one.csv", sep=";", decimal=",", index=False)
        made[["name", "b", "d"]].to_csv(tmp_path / "two.csv", index=False)
        dataset = read(tmp_path / "one.csv", tmp_path / "two.csv", label="sick")
        assert_array_equal(dataset.X[:, :2], X[:, :2])
        assert_array_equal(dataset.X[:, 2], made["d"].astype(float))

    def joined(self, tmp_path: Path, one: pd.DataFrame, two: pd.DataFrame) -> str:
        one.to_csv(tmp_path / "one.csv", index=False)
        two.to_csv(tmp_path / "two.csv", index=False)
        with pytest.raises(InputError) as caught:
            read(tmp_path / "one.csv", tmp_path / "two.csv", label="sick")
        return str(caught.value)

    def test_that_share_no_sample_are_told_what_they_have(self, tmp_path: Path) -> None:
        one = frame().assign(a=[f"P{k}" for k in range(N)])
        two = frame()[["c"]].assign(a=[f"p{k}" for k in range(N)])
        said = self.joined(tmp_path, one, two[["a", "c"]])
        assert "share no name of a sample: the first column" in said

    def test_that_agree_by_chance_are_refused(self, tmp_path: Path) -> None:
        one = frame()[["a", "sick"]].assign(id=range(1, N + 1))
        two = frame()[["c"]].assign(nr=range(1, N + 1))
        assert "share no name of a sample" in self.joined(tmp_path, one, two)
        by_first = [made[made.columns[::-1]] for made in (one, two)]
        assert "joined by the numbers in column 1 (id) and" in self.joined(tmp_path, *by_first)
        one, two = one.rename(columns={"id": ""}), two.rename(columns={"nr": ""})
        assert "joined by the numbers in" in self.joined(tmp_path, one, two)
        # Measurements that are all different name no sample.
        named = one[["a", "sick"]].assign(id=[f"P{k}" for k in range(N)])
        lower = frame()[["a", "b"]].assign(id=[f"p{k} " for k in range(N)])
        assert "share no name of a sample" in self.joined(tmp_path, named, lower)

    def test_may_be_joined_by_numbers_of_one_name(self, tmp_path: Path) -> None:
        made = frame().assign(patient=7 * INDEX + 1000)
        made[["patient", "a", "b", "sick"]].to_csv(tmp_path / "one.csv", index=False)
        made[["patient", "c", "d"]].iloc[::-1].to_csv(tmp_path / "two.csv", index=False)
        assert is_right(read(tmp_path / "one.csv", tmp_path / "two.csv", label="sick"))

    def test_with_two_labels_are_refused(self, tmp_path: Path) -> None:
        one = frame()[["a", "sick"]].assign(id=[f"P{k}" for k in range(N)])
        two = one.assign(sick=["no", *SICK[1:]])[["id", "sick"]].assign(c=X[:, 2])
        assert "differ for sample P0" in self.joined(tmp_path, one, two)


class TestWhatPeopleHave:
    """Each was silently wrong once, or led astray by its message."""

    def test_titles_in_excel(self, tmp_path: Path) -> None:
        path = xlsx(tmp_path, frame(), startrow=3)
        with pd.ExcelWriter(path, mode="a", if_sheet_exists="overlay") as writer:
            pd.DataFrame(["Study 12", "of May"]).to_excel(
                writer, sheet_name="Sheet1", index=False, header=False
            )
        assert "see also data.header, data.skip_lines and" in refusal(path, label="sick")
        assert is_right(read(path, label="sick", skip_lines=3))

    @pytest.mark.parametrize(
        ("changes", "options", "said"),
        [
            ({"who": ["P1", "p1", "Q", "R"] * 6}, {"groups": "who"}, "has groups that differ in"),
            ({"day": [20240100 + k % 12 + 1 for k in range(N)]}, {}, "has numbers that are dates"),
            ({"lab": [999, *range(7)] * 3}, {}, "has 999 in 3 rows, which may stand for a missing"),
            ({}, {"label": "Sick"}, "did you mean data.label=sick"),
            ({"end": X[:, 0]}, {"label": "last"}, "the labels are column 6 (end) without data.lab"),
        ],
    )
    def test_is_asked_about(
        self, changes: dict[str, Any], options: dict[str, Any], said: str, tmp_path: Path
    ) -> None:
        path = csv(tmp_path, frame().assign(**changes))
        assert said in refusal(path, **{"label": "sick"} | options)

    def test_a_wrong_orientation_is_pointed_out(self, tmp_path: Path) -> None:
        made = frame().rename_axis("feature")
        path = csv(tmp_path, made.set_axis([f"s{k}" for k in range(N)]).T, index=True)
        assert "see also data.header, data.skip_lines and data.transpose" in refusal(
            path, label="sick"
        )
        assert is_right(read(path, label="sick", transpose=True))

    def test_true_and_false_are_numbers(self, tmp_path: Path) -> None:
        made = frame().assign(b=["True", "False", ""] * 8)[["a", "b", "sick"]]
        assert_array_equal(read(csv(tmp_path, made)).X[:, 1], [1, 0] * 8)
        made = frame().astype({"b": object})
        made.loc[3, "b"] = True
        assert "column 2 (b): 'True' is not a finite number" in refusal(csv(tmp_path, made))

    def test_what_is_seen_in_the_columns_is_said(self, tmp_path: Path) -> None:
        made = frame().assign(b=[int(s == "yes") for s in SICK], d=np.nan, zip_code=[211, 501] * 12)
        said = read(csv(tmp_path, made), label="sick").understood[1]
        assert "column 2 (b) tells the label of every row" in said
        assert "(zip_code) is read as numbers, and data.categories=[zip_code] makes" in said
        assert said.endswith("left out: column 4 (d), which is empty")

    def test_comments_above_and_other_kinds_of_files(self, tmp_path: Path) -> None:
        text = "# made by\n#\n" + frame().to_csv(index=False)
        assert is_right(read(csv(tmp_path, text)))
        for other in (frame().to_json(orient="records"), "<!DOCTYPE html>\n<p>404,\n"):
            said = refusal(csv(tmp_path, other))
            assert "save it as CSV in UTF-8, as .xlsx or as parquet" in said


_numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)


@st.composite
def _frames(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(2, 14))
    columns: dict[str, Any] = {}
    for k in range(draw(st.integers(1, 3))):
        columns[f"x{k}"] = draw(st.lists(_numbers, min_size=n, max_size=n))
    labels = draw(
        st.lists(st.sampled_from(["a b", 'c"d', "e;f", "g,h", "é"]), min_size=n, max_size=n)
    )
    assume(len(set(labels)) > 1)
    columns["label"] = labels
    return pd.DataFrame(columns)


@given(_frames(), st.sampled_from([",", ";", "\t"]), st.sampled_from([".", ","]), st.booleans())
@settings(deadline=None, max_examples=50)
def test_any_frame_is_read_back_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    made: pd.DataFrame,
    sep: str,
    decimal: str,
    index: bool,
) -> None:
    """Never is anything else read than was written."""
    path = csv(tmp_path_factory.mktemp("own"), made, sep=sep, decimal=decimal, index=index)
    try:
        dataset = read(path, index="drop" if index else "ask")
    except InputError as error:
        said = str(error)
    else:
        assert_array_equal(dataset.X, made.drop(columns="label").to_numpy())
        assert [dataset.classes[code] for code in dataset.y] == made["label"].tolist()
        return
    assert re.search(r"set '?data\.|different labels", said), said
