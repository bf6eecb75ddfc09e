"""Linear algebra, memory and processors that are well, and that are not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import threadpoolctl
from found import assert_has_a_remedy, levels, only

from mklbench import memory
from mklbench.diagnosis import computing


class TestLinearAlgebra:
    def test_speed_is_measured(self) -> None:
        assert 1e6 < computing._operations_a_second(200) < 1e15

    @pytest.mark.parametrize(("speed", "level"), [(1e9, "slow"), (5e10, "ok")])
    @pytest.mark.usefixtures("threads")
    def test_speed(self, speed: float, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(computing, "_operations_a_second", lambda: speed)
        (found,) = computing.blas()
        assert found.level == level
        assert f"{speed / 1e9:.3g} GFLOP/s" in found.said

    @pytest.fixture
    def threads(self, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
        """Two processors, an idle BLAS and the threads of each kind, to be changed by a test."""
        threads = {"blas": 2, "openmp": 2}
        prefixes = {"blas": "libopenblas", "openmp": "libgomp"}
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(computing, "_operations_a_second", lambda: 5e10)
        monkeypatch.setattr(computing, "_usable", lambda: 2)
        monkeypatch.setattr(
            threadpoolctl,
            "threadpool_info",
            lambda: [
                {"user_api": api, "num_threads": n, "prefix": prefixes[api]}
                for api, n in threads.items()
            ],
        )
        return threads

    @pytest.mark.parametrize(
        ("stated", "named"),
        [
            ({}, "OMP_NUM_THREADS"),
            ({"OMP_NUM_THREADS": "64"}, "OMP_NUM_THREADS"),
            ({"OPENBLAS_NUM_THREADS": "64"}, "OPENBLAS_NUM_THREADS"),
            ({"OPENBLAS_NUM_THREADS": "64", "OMP_NUM_THREADS": "1"}, "OPENBLAS_NUM_THREADS"),
        ],
    )
    def test_more_threads_than_processors(
        self,
        stated: dict[str, str],
        named: str,
        threads: dict[str, int],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        threads["blas"] = 64
        for name, value in stated.items():
            monkeypatch.setenv(name, value)
        _, crowded = computing.blas()
        assert crowded.said == "64 threads share 2 processors"
        assert crowded.remedy == f"set {named}=2"

    def test_fewer_threads_than_processors(
        self, threads: dict[str, int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        threads["blas"] = 1
        assert levels(list(computing.blas())) == ["ok"]  # the library has so many by itself
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        found = only(list(computing.blas()), "note")
        assert found.said.startswith("1 thread for 2 processors, because of OMP_NUM_THREADS=1:")
        assert found.remedy.startswith("unset OMP_NUM_THREADS")

    def test_more_threads_of_openmp_than_processors(self, threads: dict[str, int]) -> None:
        assert levels(list(computing.openmp())) == ["ok"]
        threads["openmp"] = 16
        crowded = only(list(computing.openmp()), "slow")
        assert crowded.said == "16 threads share 2 processors"
        assert crowded.remedy == "set OMP_NUM_THREADS=2"

    @pytest.mark.slow
    def test_who_follows_the_remedy_is_rid_of_too_many_threads(self) -> None:
        many = os.environ | {"OMP_NUM_THREADS": str(computing._usable() + 5)}
        program = "from mklbench.diagnosis import computing; print(*computing.openmp(), sep='\\n')"

        def said(environment: dict[str, str]) -> str:
            command = [sys.executable, "-c", program]
            return subprocess.run(
                command, env=environment, capture_output=True, text=True, check=True
            ).stdout

        if "threads share" not in said(many):
            pytest.skip("no OpenMP is loaded here, or it takes no more threads than processors")
        (name, value) = re.findall(r"remedy='set (\w+)=(\d+)'", said(many))[0]
        assert "threads share" not in said(many | {name: value})

    def test_two_runtimes_of_openmp(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pools = [
            {"user_api": "openmp", "prefix": name, "num_threads": 1}
            for name in ("libiomp", "libgomp")
        ]
        monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda: pools)
        (found,) = computing.openmp()
        assert found.level == "slow"
        assert found.said.startswith("libgomp and libiomp")


class TestMemory:
    def test_how_many_samples(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(computing, "_MEMINFO", Path("/no/such/file"))
        monkeypatch.setenv(memory.VARIABLE, "48GB")
        (found,) = computing.free_memory()
        assert found.level == "ok"
        assert "about 32,000 samples" in found.said  # 6 matrices of 8 bytes each

    @pytest.mark.parametrize(("stated", "level"), [("500MiB", "slow"), ("much", "problem")])
    def test_little(self, stated: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(computing, "_MEMINFO", Path("/no/such/file"))
        monkeypatch.setenv(memory.VARIABLE, stated)
        (found,) = computing.free_memory()
        assert found.level == level
        assert_has_a_remedy(found)

    def test_swapping(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        meminfo = tmp_path / "meminfo"
        meminfo.write_text("MemTotal: 1 kB\nSwapTotal: 4194304 kB\nSwapFree: 1048576 kB\n")
        monkeypatch.setattr(computing, "_MEMINFO", meminfo)
        monkeypatch.setenv(memory.VARIABLE, "8GiB")
        found = only(list(computing.free_memory()), "slow")
        assert found.said.startswith("3 GiB")


class TestProcessors:
    @pytest.fixture(autouse=True)
    def idle(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0), raising=False)
        monkeypatch.setattr(computing, "_GOVERNORS", tmp_path)

    def test_a_share_of_them(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "cpu_count", lambda: 64)
        monkeypatch.setattr(computing, "_usable", lambda: 4)
        (found,) = computing.processors()
        assert "4 processors of 64 may be used" in found.said

    def test_others_at_work(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "getloadavg", lambda: (99.5, 0.0, 0.0), raising=False)
        monkeypatch.setattr(computing, "_usable", lambda: 2)
        found = only(list(computing.processors()), "slow")
        assert found.said == "99.5 processes on average want 2 processors"

    @pytest.mark.parametrize(
        ("governor", "driver", "expected"),
        [
            ("powersave", "acpi-cpufreq", 1),
            ("powersave", "intel_pstate", 0),
            ("performance", "acpi-cpufreq", 0),
        ],
    )
    def test_saving_power(self, governor: str, driver: str, expected: int, tmp_path: Path) -> None:
        folder = tmp_path / "cpu0" / "cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_governor").write_text(f"{governor}\n")
        (folder / "scaling_driver").write_text(f"{driver}\n")
        assert levels(list(computing.processors())).count("slow") == expected
