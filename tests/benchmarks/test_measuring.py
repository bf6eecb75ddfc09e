"""The benchmarks: what is measured, in which processes, and what is made of it."""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference_problems import reference_problem

from benchmarks import __main__ as command
from benchmarks import output, scaling, solving, targets
from benchmarks.processes import Send, forget_peak, limited, peak_megabytes
from benchmarks.scaling import Growth, Sweep, Timing
from benchmarks.solving import GAPS, Compared, Kernels, Solved


def send_then_hang(send: Send, count: int) -> None:
    for number in range(count):
        send(number)
    time.sleep(600)


def send_then_fail(send: Send) -> None:
    send("so far")
    raise ValueError("meant to fail")


def solved(seconds: float, svm_seconds: float = 0.0, **changes: object) -> Solved:
    figures = {"gap": 5e-5, "converged": True, "n_svm_calls": 7, "objective": 1.0, **changes}
    return Solved(seconds=seconds, svm_seconds=svm_seconds, **figures)  # type: ignore[arg-type]


@pytest.fixture
def synthetic(tmp_path: Path) -> Kernels:
    problem = reference_problem("synthetic-C10")
    np.save(tmp_path / "kernels.npy", problem.K)
    return Kernels(tmp_path / "kernels.npy", problem.y, problem.C)


@pytest.mark.slow
class TestProcesses:
    def test_what_was_sent_before_the_limit_stands(self) -> None:
        assert list(limited(send_then_hang, 3, seconds=20.0)) == [0, 1, 2]

    def test_a_failure_is_no_limit(self) -> None:
        work = limited(send_then_fail, seconds=60.0)
        assert next(work) == "so far"
        with pytest.raises(RuntimeError, match="send_then_fail failed"):
            next(work)

    @pytest.mark.skipif(sys.platform != "linux", reason="needs a system whose peak can be reset")
    def test_the_peak_counts_what_has_been_freed(self) -> None:
        forget_peak()
        before = peak_megabytes()
        block = np.ones(2**25)  # 256 MB
        del block
        assert 200 < peak_megabytes() - before < 300
        forget_peak()
        assert peak_megabytes() - before < 100


@pytest.mark.slow
class TestSolving:
    @pytest.mark.parametrize("solver", solving.names())
    def test_solves_to_every_gap_until_one_is_not_reached(
        self, solver: str, synthetic: Kernels
    ) -> None:
        sent: list[tuple[float, Solved, float]] = []
        solving.solve_to_gaps(sent.append, solver, synthetic)
        assert [gap for gap, _, _ in sent] == list(GAPS)[: len(sent)]
        assert all(one.converged and one.gap <= gap * 1.001 for gap, one, _ in sent[:-1])
        assert sent[0][1].converged
        assert all(0 < one.svm_seconds < one.seconds for _, one, _ in sent)
        assert all(one.n_svm_calls > 0 for _, one, _ in sent)

    def test_a_round_compares_the_two_on_the_same_problem(self, synthetic: Kernels) -> None:
        rounds: list[Compared] = []
        solving.compare(rounds.append, synthetic, repeats=2)
        assert len(rounds) == 2
        for one in rounds:
            assert one.mkl.converged
            assert one.yardstick.converged
            assert_allclose(one.mkl.objective, one.yardstick.objective, rtol=1e-4)
            assert one.mkl_first.converged
            assert one.pass_seconds > 0


class TestTargets:
    def test_ratios_are_medians_of_the_rounds(self) -> None:
        rounds = [
            Compared(solved(1.0), solved(mkl, 1.0), solved(yardstick), 0.5)
            for mkl, yardstick in ((2.0, 8.0), (4.0, 40.0), (8.0, 24.0))
        ]
        summary = targets.Targets.of("p-C1", rounds)
        assert summary.overhead == 4.0 / (3.0 * 1.0 + 2.0 * 0.5)
        assert summary.speedup == 4.0
        assert (summary.seconds, summary.yardstick_seconds) == (4.0, 24.0)


class TestGrowth:
    SWEEP = Sweep("n", ((100, 20), (200, 20), (400, 20)))

    def test_fits_the_points_that_were_reached_only(self) -> None:
        points = tuple(
            Timing(n, M, 1e-5 * n**2 if n < 400 else 1e9, 0.0, 5, reached=n < 400)
            for n, M in self.SWEEP.sizes
        )
        law = Growth(self.SWEEP, "mine", points).law
        assert law is not None
        assert_allclose(law, (2.0, 1e-5), rtol=1e-9)
        assert Growth(self.SWEEP, "mine", points[:1]).law is None
        assert "no: 400 asked for" in scaling._table([Growth(self.SWEEP, "mine", points)])

    @pytest.mark.slow
    def test_measures_every_problem_of_a_sweep(self) -> None:
        sweep = Sweep("n", ((60, 8), (90, 8)))
        points: list[Timing] = []
        scaling.measure(points.append, "mkl", sweep)
        assert [(point.n_samples, point.n_kernels) for point in points] == list(sweep.sizes)
        assert all(point.reached and 0 < point.svm_seconds < point.seconds for point in points)


class TestCommand:
    def test_every_part_can_be_run(self) -> None:
        for part in (*command.PARTS, *command.LONG_PARTS):
            assert callable(importlib.import_module(f"benchmarks.{part}").run)

    def test_refuses_what_is_no_part(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("sys.argv", ["benchmarks", "sovlers"])
        with pytest.raises(SystemExit) as exited:
            command.main()
        assert exited.value.code == 2
        assert "sovlers is no benchmark: choose from" in capsys.readouterr().err

    def test_csv_leaves_none_empty(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(output, "RESULTS", tmp_path)
        output.write_csv("a.csv", [{"x": 1, "y": None}, {"x": 2, "y": 0.5}])
        assert (tmp_path / "bench" / "a.csv").read_text() == "x,y\n1,\n2,0.5\n"
