"""Which times can be compared: those of one CPU model, in whatever order records are read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from narrowing import present
from report_fakes import FakeFinder, found, record, table1

from mklbench.experiments.record import Record
from mklbench.report.analysis.assemble import Report, assemble, comparable
from mklbench.report.table.metrics import METRICS
from mklbench.report.table.verdict import Verdict

TIME, ACCURACY = METRICS["cpu_time"], METRICS["accuracy"]
MODELS = ("Old CPU", "New CPU", "Big CPU")
OVER, UNDER = ("sonar", "mkl", "fixed"), ("sonar", "qnpkl", "fixed")


def timed(split: int, model: str | None, seconds: float | None = 1.0) -> Record:
    provenance = {} if model is None else {"cpu": model}
    return record(split, fit_seconds=seconds, fit_cpu_seconds=seconds, provenance=provenance)


@st.composite
def runs(draw: st.DrawFn) -> list[Record]:
    """Some splits of a run, each of them on any CPU model."""
    models = draw(st.lists(st.sampled_from(MODELS), min_size=1, max_size=12))
    seconds = st.floats(min_value=1e-3, max_value=1e3)
    return [timed(split, model, draw(seconds)) for split, model in enumerate(models)]


@given(st.lists(runs(), min_size=2, max_size=4))
def test_times_are_compared_on_the_splits_that_all_have_on_one_model(
    of_runs: list[list[Record]],
) -> None:
    n_common = min(map(len, of_runs))
    alike = {s for s in range(n_common) if len({listed[s].cpu for listed in of_runs}) == 1}
    found = comparable(of_runs, TIME)
    if not alike:
        assert found is None
    elif len(alike) < n_common:
        assert list(map(set, present(found))) == [alike] * len(of_runs)
    else:
        assert found == list(map(TIME.by_split, of_runs))


def test_what_is_no_time_is_compared_whatever_the_model() -> None:
    runs = [[timed(s, model) for s in range(3)] for model in MODELS[:2]]
    assert comparable(runs, ACCURACY) == list(map(ACCURACY.by_split, runs))


def test_a_model_that_is_not_named_is_none_of_those_that_are() -> None:
    named, unnamed = [timed(0, "Old CPU")], [timed(0, None)]
    assert comparable([named, unnamed], TIME) is None
    assert comparable([unnamed, unnamed], TIME) == [{0: 1.0}, {0: 1.0}]


class TestTables:
    """The ratio of the first table of the paper, MKL over QN-PKL, of fakes that take 0.02 s."""

    def report(self, over: list[Record], under: list[Record]) -> Report:
        return assemble(table1(), FakeFinder({OVER: found(over), UNDER: found(under)}))

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
