"""``mklbench compare``: a method beside all that are recorded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import mklbench
from mklbench import cli
from mklbench.errors import InputError
from mklbench.report.analysis.candidate import NAME, with_candidate
from mklbench.report.loading import load_table
from mklbench.report.table.paper_table import Column

ROOT = Path(mklbench.__file__).parents[1]
OWN = str(ROOT / "examples" / "own_algorithm")
COMPARISON = "all_methods"


def candidate(*overrides: str, quick: bool = False, config_dir: str | None = None) -> Column:
    table = with_candidate(load_table(COMPARISON), overrides, quick, config_dir)
    (column,) = (column for column in table.columns if column.name == NAME)
    return column


class TestCandidate:
    def test_it_gets_the_kernels_and_the_grid_of_the_others(self) -> None:
        others = {column.name: column for column in load_table(COMPARISON).columns}
        own = candidate("algo=mine", config_dir=OWN)
        assert own.overrides == ("algo=mine", *others["uniform"].overrides[1:])
        assert own.row_overrides == others["uniform"].row_overrides

    def test_it_gets_the_options_of_their_kernels(self) -> None:
        table = with_candidate(load_table("learning_pays_views"), ["algo=simplemkl"], True, None)
        own = table.columns[0].overrides
        widths = "kernel.gammas=[0.1,0.3,1]"
        assert own == ("algo=simplemkl", "kernel=descriptors", widths, "kernel.normalise=false")
        assert len(table.rows) == 5

    def test_kernels_of_its_own(self) -> None:
        own = candidate("algo=mkl", "kernel=simplemkl")
        assert [text for text in own.overrides if text.startswith("kernel=")] == [
            "kernel=simplemkl"
        ]
        assert own.row_overrides == {}

    @pytest.mark.parametrize("text", ["algo.C=1", "search.grid.algo.C=[1]", "search=fixed"])
    def test_a_grid_of_its_own(self, text: str) -> None:
        own = candidate("algo=mkl", text)
        assert [o for o in own.overrides if "C" in o or "search" in o] == [text]

    def test_families_keep_their_kernels(self) -> None:
        own = candidate("algo=qnpkl", "search=iterations")
        assert own.overrides == ("algo=qnpkl", "search=iterations")

    def test_it_is_not_compared_with_itself(self) -> None:
        table = with_candidate(load_table(COMPARISON), ["algo=uniform"], False, None)
        names = [column.name for column in table.columns]
        assert NAME in names
        assert "uniform" not in names

    def test_quick_takes_the_cheapest_sets(self) -> None:
        table = with_candidate(load_table(COMPARISON), ["algo=mkl"], True, None)
        rows = [row.name for row in table.rows]
        assert rows == ["sonar", "ionosphere", "liver", "parkinsons", "breast_cancer_wisconsin"]

    @pytest.mark.parametrize(
        ("overrides", "message"),
        [
            ([], "mklbench compare algo=mine"),
            (["kernel=simplemkl"], "mklbench compare algo=mine"),
            (["algo=mkl", "data=sonar"], "data=sonar is not accepted"),
            (["algo=mkl", "split.n_splits=2"], "split.n_splits=2 is not accepted"),
            (["algo=nosuch"], "nosuch"),
        ],
    )
    def test_what_is_refused(self, overrides: list[str], message: str) -> None:
        with pytest.raises(InputError, match=re.escape(message)):
            with_candidate(load_table(COMPARISON), overrides, False, None)

    def test_a_table_that_ranks_nothing(self) -> None:
        with pytest.raises(InputError, match="--table picard2012_table1 ranks no methods"):
            with_candidate(load_table("picard2012_table1"), ["algo=mkl"], False, None)


def test_the_comparison_on_sets_of_several_views_has_a_short_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["compare", "algo=nosuch", "--table", "views", "--quick"]) == 2
    assert "algo=nosuch" in capsys.readouterr().err


def test_a_recorded_method_has_its_recorded_numbers(
    tmp_path: Path, mirror: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["compare", "algo=uniform", "--quick", "--results-dir", str(tmp_path / "store")]
    assert cli.main(arguments) == 0
    printed = capsys.readouterr().out
    recorded = mklbench.records(COMPARISON)
    means = recorded[recorded.column == "uniform"].groupby("row").accuracy.mean()
    labels = {row.label: row.name for row in load_table(COMPARISON).rows}
    lines = re.findall(r"^(\w+) +(\d+\.\d) +(\d+) of 27 ", printed, re.MULTILINE)
    assert len(lines) == 5
    for label, accuracy, rank in lines:
        assert float(accuracy) == pytest.approx(100 * means[labels[label]], abs=0.051)
        assert 1 <= int(rank) <= 27
    methods = re.findall(r"^(.+?)  +\d+\.\d +(\d) / (\d) / (\d)$", printed, re.M)
    assert len(methods) == 26
    for _, *outcomes in methods:
        assert sum(map(int, outcomes)) == 5
    assert re.search(r"^algo=uniform \(yours\) +\d+\.\d$", printed, re.M)
