"""The memory that is free, and what does not fit into it: refused before it is begun."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from experiment_fakes import fake_run, tiny_run
from narrowing import present

from mklbench import MKL, kernels, memory
from mklbench.algorithms import gmkl, ikl, mkl, qnpkl
from mklbench.cli import main
from mklbench.errors import InputError
from mklbench.experiments.execution.plan import run_all
from mklbench.experiments.run_checks import bytes_of_step, check_run
from mklbench.experiments.store import Store
from mklbench.kernels import BUILDERS, KernelOperator
from mklbench.kernels.contract import NUMBER, Memory, Shape, declares, gram_bytes, on_few
from mklbench.optim.fit_memory import fitting

GIB = 2.0**30
TWONORM = (
    "data=twonorm",
    "data.n_samples=20000",
    "kernel=feature_gaussians",
    "algo=mkl",
    "algo.method=libsvm",  # the other needs no matrix of this size
)


@pytest.fixture
def two_gib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MKLBENCH_MEMORY", "2GiB")


class TestFree:
    @pytest.mark.parametrize(("stated", "expected"), [("3 gb", 3 * GIB), ("1000000", 1e6)])
    def test_the_variable_overrules(
        self, stated: str, expected: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MKLBENCH_MEMORY", stated)
        assert memory.free() == expected
        assert memory.free(jobs=4) == expected / 4

    @pytest.mark.parametrize("stated", ["lots", "-1G"])
    def test_the_variable_is_a_size(self, stated: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MKLBENCH_MEMORY", stated)
        with pytest.raises(InputError, match=f"MKLBENCH_MEMORY={stated} is no size"):
            memory.free()

    def test_the_variable_may_lift_every_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MKLBENCH_MEMORY", "unlimited")
        assert memory.free() is None
        assert memory.shortage(lambda n: 1e18 * n, 1000) is None

    @pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux tells")
    def test_a_system_says_what_is_available(self) -> None:
        said = subprocess.run(["free", "-b"], capture_output=True, text=True, check=False).stdout
        installed = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        free = memory.free()
        assert free is not None
        assert 2.0**24 < free <= installed, said

    @pytest.mark.parametrize(
        ("groups", "files", "left"),
        [
            # That of a group around it counts as well.
            (
                "0::/user/shell\n",
                {
                    "user/shell/memory.max": "max",
                    "user/memory.max": "500000",
                    "user/memory.current": "200000",
                    "user/memory.stat": "anon 4\ninactive_file 50000\n",
                },
                350000.0,
            ),
            # In a container the path is that outside of it.
            (
                "0::/outside/name\n",
                {"memory.max": "700000", "memory.current": "100000", "memory.stat": "anon 4\n"},
                600000.0,
            ),
        ],
    )
    def test_control_groups_limit(
        self,
        groups: str,
        files: dict[str, str],
        left: float,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        (tmp_path / "cgroup").write_text(groups)
        for name, text in files.items():
            (tmp_path / "fs" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "fs" / name).write_text(text)
        monkeypatch.setattr(memory, "_GROUPS", tmp_path / "cgroup")
        monkeypatch.setattr(memory, "_GROUP_ROOT", tmp_path / "fs")
        assert list(memory._of_groups()) == [left]


class TestEstimates:
    @pytest.mark.parametrize("name", BUILDERS)
    def test_every_builder_says_what_it_needs(self, name: str) -> None:
        samples = np.eye(2) if name == "precomputed" else np.eye(2, 4)
        few = on_few(BUILDERS[name], samples)
        assert few.memory(1000).kept > 0

    @pytest.mark.parametrize("descent", [gmkl, qnpkl])
    def test_a_descent_in_a_family_moves_one_kernel(self, descent: ModuleType) -> None:
        """A search that is convex keeps those that it has found, too."""
        moved, found = (
            fitting(on_few(kernels.product_gaussians, np.eye(2, 5)), solve, Shape(1500, 5))
            for solve in (descent.solve, partial(ikl.solve, C=1.0))
        )
        assert moved < gram_bytes(1500, 6.0)
        assert found > gram_bytes(1500, 15.0)

    def test_matrices_of_exact_mkl_are_those_of_the_page(self) -> None:
        """`make bench PARTS=peaks` measures others."""
        page = (Path(__file__).parents[1] / "docs" / "scale.md").read_text(encoding="utf-8")
        assert "Measured, 26 n² in all for inner products" in page
        solve = partial(mkl.solve, method="libsvm")
        bank = kernels.linear_features(np.eye(2, 5))
        few, many = (fitting(bank, solve, Shape(n, 5)) for n in (2000, 5000))
        assert (many - few) / (5000**2 - 2000**2) == pytest.approx(26.0, rel=0.1)


class TestEstimators:
    def test_refuse_before_kernels_are_built(self, two_gib: None) -> None:
        class Few(kernels.DenseBank):
            def memory(self, n: int) -> Memory:
                return Memory(NUMBER * 60 * n)

        @declares()
        def build(X: np.ndarray) -> KernelOperator:
            assert len(X) == 2, "the kernels were built"
            return Few(X, [kernels.Linear()] * 60)

        X = np.zeros((100_000, 2))
        X[::2] = 1.0
        with pytest.raises(InputError) as refused:
            MKL(kernel=build).fit(X, np.arange(len(X)) % 2)
        assert str(refused.value) == (
            "X has 100000 rows: MKL with 60 kernels needs about 336 GiB, and 2 GiB are free; about "
            "7500 rows fit: pass fewer of them, or choose fewer kernels."
        )

    def test_auto_leaves_matrices_long_before(self, two_gib: None) -> None:
        """Where there are factors, from sizes on that a twentieth of this memory would do for."""
        solve = partial(mkl.solve, method="libsvm")
        bank = kernels.feature_gaussians(np.eye(2, 20))
        needed = fitting(bank, solve, Shape(4000, 20))
        assert needed < 2 * GIB
        auto = partial(mkl.solve, tol=1e-3)
        on_factors = fitting(bank, auto, Shape(4000, 20))
        assert on_factors < 0.1 * needed
        assert fitting(bank, auto, Shape(100_000, 20)) < 2 * GIB


class TestRuns:
    def test_the_command_line_refuses_in_a_sentence(
        self, two_gib: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["run", *TWONORM, f"results_dir={tmp_path}/store"]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert said.startswith(
            "mklbench: error: data=twonorm has 14000 training rows: algo=mkl with "
            "kernel=feature_gaussians (M = 20 kernels) needs about 4."
        )
        assert " GiB, and 2 GiB are free; about n = " in said
        assert "split.test_fraction=null split.n_train=" in said
        assert not list(Path(tmp_path).glob("store/*/*.json"))

    def test_what_it_proposes_is_accepted(self, two_gib: None) -> None:
        with pytest.raises(InputError) as refused:
            check_run(tiny_run(*TWONORM), [0])
        proposed = str(refused.value).split("set ")[1].split(",")[0].split()
        check_run(tiny_run(*TWONORM, *proposed), [0])
        with pytest.raises(InputError, match=r"set split.n_train=\d+,"):
            check_run(tiny_run(*TWONORM, *proposed[::2], "split.n_train=13000"), [0])

    def test_workers_share(self, two_gib: None) -> None:
        run = tiny_run(*TWONORM, "split.test_fraction=null", "split.n_train=7000", "split.n_test=9")
        check_run(run, [0])
        with pytest.raises(InputError, match="1 GiB are free for each of 2 processes") as refused:
            check_run(run, [0], jobs=2)
        assert "or jobs=1" in str(refused.value)

    def test_a_search_needs_more(self) -> None:
        fixed, searched = (
            bytes_of_step(tiny_run(*TWONORM, "kernel=single", *search), 0)(10_000)
            for search in ((), ("search=cv",))
        )
        assert searched > 1.2 * fixed

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_memory_that_runs_out_costs_a_split(self, jobs: int, tmp_path: Path) -> None:
        filling = fake_run(tmp_path, "algo.behaviour=fill", f"algo.once='{tmp_path}/filled'")
        result, other = run_all([filling, tiny_run()], Store(tmp_path / "store"), jobs=jobs)
        (failed,) = (record for record in result.records if record.status != "done")
        assert len(result.records) == 4
        assert other.status == "done"
        assert present(failed.error).startswith("MemoryError: Unable to allocate 256. PiB")
        assert "MemoryError" in present(failed.traceback)
