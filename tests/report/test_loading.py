"""The YAML of the paper tables: complete, equal to the paper, and refused when wrong."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from report_fakes import found

from mklbench.experiments.run import Run
from mklbench.report.analysis.assemble import assemble
from mklbench.report.loading import load_table, table_names
from mklbench.report.table.verdict import Standing

DATA = Path(__file__).parent

# Names in the transcriptions, where they are not those of the table in lower case.
ROWS = {"Iono": "ionosphere"}
COLUMNS = {
    "QN-PKL": "qnpkl",
    "GMKL [5]": "gmkl",
    "SVM(single)": "svm",
    "MKL(single)": "mkl_single",
    "IKL(single)": "ikl_single",
    "MKL(separate)": "mkl_separate",
    "IKL(products)": "ikl_products",
}
METRICS = {
    "accuracy %": "accuracy",
    "time s": "time",
    "R %": "relevant_weight",
    "test error %": "error",
    "#kernels": "n_kernels",
}

# The widths of the Gaussians in the footnotes of Gehler & Nowozin 2008.
WIDTHS = [1, 2, 3, 5, 10, 20, 30, 40, 50, 75, 100, 125, 150]
WIDTHS_MULTICLASS = [0.5, 1, 2, 5, 7, 10, 12, 15, 17, 20]


@pytest.mark.parametrize("name", table_names())
def test_every_table_loads_and_has_runs(name: str) -> None:
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
    absent = {row.name for row in table.rows if not row.at_hand}
    assert {place for place in table.published if place[0] not in absent} <= shown
    assert not {place for place in shown if place[0] in absent}


def transcribed(file: str, heading: str) -> dict[tuple[str, str, str], tuple[float, float | None]]:
    """Numbers of one table as somebody else typed them in: (mean, std) by row, column, metric."""
    with (DATA / file).open(encoding="utf-8", newline="") as stream:
        lines = [line for line in csv.DictReader(stream) if line["table"] == heading]
    numbers = {}
    for line in lines:
        row, column = line["data"].split()[0], line["method"]
        place = (
            ROWS.get(row, row.lower().replace("-", "_")),
            COLUMNS.get(column, column.lower()),
            METRICS[line["metric"]],
        )
        if line["mean"]:  # empty where the paper prints "n/a"
            numbers[place] = float(line["mean"]), float(line["std"]) if line["std"] else None
    return numbers


@pytest.mark.parametrize(
    ("name", "file", "heading"),
    [
        ("picard2012_table1", "picard2012.csv", "Table 1"),
        ("picard2012_table2", "picard2012.csv", "Table 2"),
        ("gehler2008_table1", "gehler2008.csv", "Table 1"),
    ],
)
def test_published_numbers_equal_an_independent_transcription(
    name: str, file: str, heading: str
) -> None:
    published = load_table(name).published
    numbers = {place: (number.mean, number.std) for place, number in published.items()}
    assert numbers == transcribed(file, heading)


def test_table_of_settings_repeats_the_numbers_of_both_tables() -> None:
    published: dict[bool, Any] = {True: {}, False: {}}
    for (row, *place), number in load_table("picard2012_settings").published.items():
        is_noisy = row.endswith("_noise")
        published[is_noisy][(row.removesuffix("_noise"), *place)] = number.mean, number.std
    first, second = (transcribed("picard2012.csv", f"Table {number}") for number in (1, 2))
    assert published[False] == {p: number for p, number in first.items() if p[2] == "accuracy"}
    assert published[True].items() <= second.items()


@pytest.mark.parametrize(
    ("row", "search", "n_splits", "widths"),
    [
        ("heart", "first_splits", 100, WIDTHS),
        ("image", "first_splits", 20, WIDTHS),
        ("sat", "cv", 20, WIDTHS_MULTICLASS),
    ],
)
def test_table_of_gehler_has_the_paper_s_splits_and_widths(
    row: str, search: str, n_splits: int, widths: list[float]
) -> None:
    table = load_table("gehler2008_table1")
    slots = {s.column.name: s for s in table.slots() if s.place[::2] == (row, "paper")}
    svm = Run.from_overrides(slots["svm"].overrides)
    assert svm.config.search.name == search
    assert svm.n_splits == table.published_n_splits_of(slots["svm"].row) == n_splits
    gammas = svm.config.search.grid["kernel.gamma"]
    assert gammas == pytest.approx([1 / width**2 for width in widths])
    for column in ("mkl_single", "mkl_separate"):
        config = Run.from_overrides(slots[column].overrides).config
        assert config.kernel["widths"] == widths


def test_baseline_of_gehler_marks_what_the_paper_s_text_says() -> None:
    """The ledger's reason for the margin: the text names these results as better and as worse."""
    report = assemble(load_table("gehler2008_table1"), lambda slot: found([]))
    marked = {
        judged: {place[:2] for place, s in report.published_standings.items() if s is judged}
        for judged in Standing
    }
    assert marked[Standing.BETTER] == {
        ("splice", "mkl_separate"),
        ("seg", "mkl_separate"),
        ("image", "ikl_products"),
        ("splice", "ikl_products"),
        ("seg", "ikl_products"),
    }
    assert {(row, "ikl_products") for row in ("twonorm", "heart", "wav")} <= marked[Standing.WORSE]
