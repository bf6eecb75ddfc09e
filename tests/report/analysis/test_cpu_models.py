"""Which times can be compared: those of one CPU model, in whatever order records are read."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_fakes import FakeFinder, found, record, records, table1

from mklbench.experiments.record import Record
from mklbench.report.analysis.assemble import Report, assemble
from mklbench.report.analysis.baseline import paired_difference
from mklbench.report.analysis.cpu_models import (
    NOT_NAMED,
    Side,
    TimedOn,
    cpu_model,
    cpu_models,
    on_one_model,
    split_by_split,
)
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.verdict import Sample, Verdict

TIME, ACCURACY = METRICS["cpu_time"], METRICS["accuracy"]
MODELS = ("Old CPU", "New CPU", "Big CPU")
OVER, UNDER = ("sonar", "mkl", "fixed"), ("sonar", "qnpkl", "fixed")


def timed(split: int, model: str | None, seconds: float | None = 1.0) -> Record:
    provenance = {} if model is None else {"cpu": model}
    return record(split, fit_seconds=seconds, fit_cpu_seconds=seconds, provenance=provenance)


@st.composite
def cells(draw: st.DrawFn) -> list[Record]:
    """Some splits of a cell, each of them on any CPU model."""
    models = draw(st.lists(st.sampled_from(MODELS), min_size=1, max_size=12))
    seconds = st.floats(min_value=1e-3, max_value=1e3)
    return [timed(split, model, draw(seconds)) for split, model in enumerate(models)]


def sides(of_cells: Sequence[Sequence[Record]]) -> list[Side]:
    return [Side(f"cell {i}", listed) for i, listed in enumerate(of_cells)]


@given(st.lists(cells(), min_size=1, max_size=4))
def test_means_of_times_are_of_one_model_that_all_cells_have(of_cells: list[list[Record]]) -> None:
    compared = on_one_model(sides(of_cells), TIME)
    shared = set(MODELS).intersection(*map(cpu_models, of_cells))
    if not shared:
        assert not any(compared.values)
        assert compared.samples is None
        assert compared.limit.startswith("not formed: cell 0 was timed on ")
        assert all(model in compared.limit for listed in of_cells for model in cpu_models(listed))
        return
    alone = {
        model: tuple(
            TIME.by_split(r for r in listed if cpu_model(r) == model) for listed in of_cells
        )
        for model in shared
    }
    assert compared.values in alone.values()
    assert min(map(len, compared.values)) == max(min(map(len, v)) for v in alone.values())
    everything = tuple(TIME.by_split(listed) for listed in of_cells)
    assert (compared.limit == "") == (compared.values == everything)


@given(st.lists(cells(), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_the_records_changes_nothing(
    of_cells: list[list[Record]], generator: random.Random
) -> None:
    shuffled = [generator.sample(listed, len(listed)) for listed in of_cells]
    assert on_one_model(sides(shuffled), TIME) == on_one_model(sides(of_cells), TIME)
    before, after = (split_by_split(sides([c[0], c[-1]]), TIME) for c in (of_cells, shuffled))
    assert before == after
    places = [(str(i), "column", "protocol") for i in range(len(of_cells))]
    assert TimedOn.of(dict(zip(places, shuffled, strict=True))) == TimedOn.of(
        dict(zip(places, of_cells, strict=True))
    )


@given(cells(), cells())
def test_splits_are_compared_where_both_are_of_one_model(
    first: list[Record], second: list[Record]
) -> None:
    compared = split_by_split(sides([first, second]), TIME)
    alike = {a.split for a in first for b in second if (a.split, a.cpu) == (b.split, b.cpu)}
    assert set.intersection(*map(set, compared.values)) == alike
    for listed, values in zip((first, second), compared.values, strict=True):
        assert values.items() <= TIME.by_split(listed).items()
    n_common = min(len(first), len(second))
    assert (compared.limit == "") == (len(alike) == n_common)
    assert compared.limit.startswith("not formed: cell 0 was timed on ") == (not alike)
    are_shared = bool(set(cpu_models(first)) & set(cpu_models(second)))
    assert compared.limit.endswith("no split of both on one") == (are_shared and not alike)
    there = paired_difference(*compared.values)
    back = paired_difference(*split_by_split(sides([second, first]), TIME).values)
    if there is None or back is None:
        assert there is back
    else:
        assert there.value == -back.value


@given(cells(), cells())
def test_what_is_no_time_is_compared_whatever_the_model(
    first: list[Record], second: list[Record]
) -> None:
    everything = (ACCURACY.by_split(first), ACCURACY.by_split(second))
    for compared in (
        on_one_model(sides([first, second]), ACCURACY),
        split_by_split(sides([first, second]), ACCURACY),
    ):
        assert (compared.values, compared.limit) == (everything, "")


@pytest.mark.parametrize("model", ["Test CPU", None])
def test_of_one_model_all_times_count_also_where_it_is_not_named(model: str | None) -> None:
    first, second = [timed(s, model, 1 + s) for s in range(5)], [timed(s, model) for s in range(5)]
    for compared in (
        on_one_model(sides([first, second]), TIME),
        split_by_split(sides([first, second]), TIME),
    ):
        assert compared.values == (TIME.by_split(first), TIME.by_split(second))
        assert compared.limit == ""


@pytest.mark.parametrize("nothing", [{}, {"cpu": ""}, {"cpu": None}])
def test_a_model_that_is_not_named_is_none_of_those_that_are(nothing: dict[str, str]) -> None:
    named = [timed(0, "Old CPU")]
    unnamed = [record(0, fit_cpu_seconds=1.0, provenance=nothing)]
    compared = on_one_model(sides([named, unnamed]), TIME)
    assert compared.limit == f"not formed: cell 0 was timed on Old CPU, cell 1 on {NOT_NAMED}"
    assert split_by_split(sides([named, unnamed]), TIME) == compared


def test_records_without_a_time_do_not_decide() -> None:
    first = [timed(0, "Old CPU"), *(timed(s, "New CPU", None) for s in range(1, 9))]
    second = [timed(0, "Old CPU"), *(timed(s, "New CPU") for s in range(1, 3))]
    compared = on_one_model(sides([first, second]), TIME)
    assert compared.values == ({0: 1.0}, {0: 1.0})
    assert compared.limit == "only the splits timed on Old CPU: 1 of 3 of cell 1"


class TestTables:
    """The ratio of the first table of the paper, MKL over QN-PKL, of fakes that take 0.02 s."""

    def report(self, over: list[Record], under: list[Record]) -> Report:
        return assemble(table1(), FakeFinder({OVER: found(over), UNDER: found(under)}))

    def ratio(self, report: Report) -> tuple[float | None, str]:
        one = next(ratio for ratio in report.ratios if ratio.row == "sonar")
        return one.measured["fixed"], one.limits.get("fixed", "")

    def test_a_ratio_is_that_of_the_common_model_alone(self) -> None:
        over = [timed(s, MODELS[s % 2], 1 + s) for s in range(20)]
        under = [timed(s, MODELS[s < 15], 2 + s % 3) for s in range(20)]
        value, limit = self.ratio(self.report(over, under))
        means = [
            Sample.of([r.fit_seconds or 0.0 for r in listed if r.cpu == "New CPU"])
            for listed in (over, under)
        ]
        assert means[0] is not None
        assert means[1] is not None
        assert value == means[0].mean / means[1].mean
        assert limit == "only the splits timed on New CPU: 10 of 20 of MKL, 15 of 20 of QN-PKL"

    def test_without_a_common_model_there_is_no_ratio_and_it_is_said_why(self) -> None:
        over, under = ([timed(s, model) for s in range(20)] for model in MODELS[:2])
        assert self.ratio(self.report(over, under)) == (
            None,
            "not formed: MKL was timed on Old CPU, QN-PKL on New CPU",
        )

    def test_other_rows_and_protocols_keep_their_ratio(self) -> None:
        over, under = ([timed(s, model) for s in range(20)] for model in MODELS[:2])
        for one in self.report(over, under).ratios:
            for protocol, value in one.measured.items():
                is_here = (one.row, protocol) == ("sonar", "fixed")
                assert (value is None) == is_here

    def test_the_paper_s_seconds_are_held_against_one_model_only(self) -> None:
        mixed = [timed(s, MODELS[s % 2]) for s in range(20)]
        report = self.report(mixed, [timed(s, "Old CPU") for s in range(20)])
        over, under = (report.numbers[(*place, "time")] for place in (OVER, UNDER))
        assert (over.verdict, over.ratio) == (Verdict.RATIO_ONLY, None)
        assert (under.verdict, under.ratio) == (Verdict.RATIO_ONLY, 1.0)

    def test_the_main_model_is_that_of_most_times(self) -> None:
        most = assemble(
            table1(), FakeFinder({OVER: found([timed(s, "New CPU") for s in range(20)])})
        )
        assert most.timed_on.main == "Test CPU"
        assert most.timed_on.others == [("New CPU",)]
        assert assemble(table1(), FakeFinder()).timed_on.others == []
        tied = TimedOn.of({OVER: records(1), UNDER: [timed(0, "New CPU")]})
        assert tied.main == "New CPU"
