"""The YAML of the paper tables: complete, equal to the paper, and refused when wrong."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.report.table_loading import load_table, read_table, table_names

TRANSCRIPTION = Path(__file__).parent / "data" / "picard2012.csv"

ROWS = {"Sonar": "sonar", "Iono": "ionosphere", "Pima": "pima"}
COLUMNS = {"MKL": "mkl", "QN-PKL": "qnpkl", "GMKL [5]": "gmkl", "SVM": "svm"}
METRICS = {"accuracy %": "accuracy", "time s": "time", "R %": "relevant_weight"}

MINIMAL = """\
title: A table
citation: Someone
rows: [{name: a, label: A, overrides: [data=wdbc]}]
columns: [{name: b, label: B, overrides: [algo=svm], metrics: [accuracy]}]
protocols: [{name: c, label: C, overrides: []}]
published: {a: {b: {accuracy: [90.0, 1.0]}}}
"""

BASELINE = "baseline: {{column: {}, metric: {}, margin: 1.0}}"
FIGURE = "figures: [{{name: f, kind: difference, title: F, protocol: c, columns: {}, metric: {}}}]"


@pytest.mark.parametrize("name", table_names())
def test_every_table_loads_and_has_cells(name: str) -> None:
    table = load_table(name)
    places = [slot.place for slot in table.slots()]
    assert places
    assert len(places) == len(set(places))


@pytest.mark.parametrize("name", table_names())
def test_every_published_number_has_a_column_that_shows_it(name: str) -> None:
    table = load_table(name)
    shown = {
        (slot.row.name, slot.column.name, metric)
        for slot in table.slots()
        for metric in slot.column.metrics
    }
    assert set(table.published) <= shown


def transcribed(heading: str) -> dict[tuple[str, str, str], tuple[float, float | None]]:
    """Numbers of one table as somebody else typed them in: (mean, std) by row, column, metric."""
    with TRANSCRIPTION.open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["table"] == heading]
    numbers = {}
    for line in lines:
        place = ROWS[line["data"].split()[0]], COLUMNS[line["method"]], METRICS[line["metric"]]
        numbers[place] = float(line["mean"]), float(line["std"]) if line["std"] else None
    return numbers


@pytest.mark.parametrize(
    ("name", "heading"), [("picard2012_table1", "Table 1"), ("picard2012_table2", "Table 2")]
)
def test_published_numbers_equal_an_independent_transcription(name: str, heading: str) -> None:
    published = load_table(name).published
    assert {p: (number.mean, number.std) for p, number in published.items()} == transcribed(heading)


def test_table_of_choices_repeats_the_numbers_of_table_1() -> None:
    published = load_table("picard2012_choices").published
    numbers = {place: (number.mean, number.std) for place, number in published.items()}
    assert numbers.items() <= transcribed("Table 1").items()
    assert numbers


@pytest.mark.parametrize("name", table_names())
def test_every_override_composes(name: str) -> None:
    """Compose as many cells as it takes to have seen every override of the table."""
    seen: set[str] = set()
    for slot in load_table(name).slots():
        if not seen.issuperset(slot.overrides):
            seen.update(slot.overrides)
            assert Cell.from_overrides(slot.overrides).config["algo"]["C"] > 0


def test_overrides_go_from_the_general_to_the_special() -> None:
    slots = {slot.place: slot.overrides for slot in load_table("picard2012_table1").slots()}
    assert slots["sonar", "gmkl", "code"][-1] == "algo.C=10.0"
    assert "algo.regulariser=l1" in slots["sonar", "gmkl", "fixed"]
    assert "algo.regulariser=l2" in slots["pima", "gmkl", "fixed"]
    assert "algo.regulariser=l1" not in slots["pima", "gmkl", "fixed"]
    assert ("sonar", "svm", "code") not in slots


def test_sweep_makes_one_protocol_a_value() -> None:
    table = load_table("picard2012_path")
    assert table.sweep is not None
    assert len(table.protocols) == len(table.sweep.values)
    assert table.protocols[0].overrides == ("algo.C=0.01",)


def test_unknown_table_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"table=picard_table1 .*picard2012_table1"):
        load_table("picard_table1")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title: A table", "", "title=None must be a text"),
        ("citation:", "citatoin:", "citation=None"),
        ("published:", "publised:", "key=publised is not known: did you mean published"),
        ("metrics: [accuracy]", "metrics: [acuracy]", "did you mean accuracy"),
        ("{a: {b:", "{z: {b:", "published row=z is not known"),
        ("[90.0, 1.0]", "ninety", r"must be \[mean\] or \[mean, std\]"),
        ("[90.0, 1.0]", "[90.0, 1.0, 2.0]", r"must be \[mean\] or \[mean, std\]"),
        ("protocols:", "sweep: {option: algo.C, label: C, values: [1]}\nprotocols:", "not both"),
        ("protocols: [{name: c, label: C, overrides: []}]", "", "either protocols or sweep"),
        ("overrides: [data=wdbc]", "overrides: data=wdbc", "must be a list of texts"),
        ("rows: [", "rows: [{name: a, label: A}, ", "the name a is given twice"),
        ("title: A table", "title: [unclosed", "cannot be read as YAML"),
        ("{name: a,", "{name: a, published_n_splits: 0,", "published_n_splits=0 must be a whole"),
        ("title:", "published_n_splits: many\ntitle:", "published_n_splits='many' must be a whole"),
        ("title:", "baseline: {column: bb, metric: error}\ntitle:", "margin=None must be a number"),
        ("title:", f"{BASELINE.format('bb', 'error')}\ntitle:", "baseline column=bb is not known"),
        ("title:", f"{BASELINE.format('b', 'eror')}\ntitle:", "did you mean error"),
        (
            "title:",
            f"{FIGURE.format('[b]', 'error')}\ntitle:",
            r"columns=\['b'\] of figure f must be",
        ),
        ("title:", f"{FIGURE.format('[b, b]', 'eror')}\ntitle:", "did you mean error"),
    ],
)
def test_wrong_table_is_refused_in_one_sentence(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in MINIMAL
    path = tmp_path / "mine.yaml"
    path.write_text(MINIMAL.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)


def test_minimal_table_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(MINIMAL, encoding="utf-8")
    table = read_table(path)
    assert table.name == "mine"
    assert [slot.overrides for slot in table.slots()] == [("data=wdbc", "algo=svm")]
