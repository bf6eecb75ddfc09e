"""What `mklbench doctor` looks at: each check on a machine that is well, and on one that is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
import threadpoolctl

from mklbench import cli, diagnosis, extras, memory
from mklbench.claims import Owner, claiming_paths
from mklbench.diagnosis import Finding
from mklbench.experiments.store import Store
from mklbench.libsvm import SVM


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def levels(findings: list[Finding]) -> list[str]:
    return [finding.level for finding in findings]


def only(findings: list[Finding], level: str) -> Finding:
    (found,) = (finding for finding in findings if finding.level == level)
    return found


def assert_has_a_remedy(finding: Finding) -> None:
    assert finding.remedy
    assert not finding.remedy.endswith(".")


def test_every_finding_but_ok_has_a_remedy(store: Store) -> None:
    found = list(diagnosis.findings(store))
    assert {finding.what for finding in found} >= {
        "versions", "libsvm", "BLAS", "OpenMP", "compiler", "cache", "mirror", "disk", "memory",
        "claims", "processor",
    }  # fmt: skip
    for finding in found:
        assert finding.said
        assert bool(finding.remedy) == (finding.level != "ok"), finding


class TestVersions:
    def test_what_is_installed_here(self) -> None:
        (found,) = diagnosis.versions()
        assert found.level == "ok"
        assert f"Python {'.'.join(map(str, sys.version_info[:3]))}" in found.said
        assert "numpy " in found.said

    def test_too_old_and_absent(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lines = ["numpy>=99", "no-such-package>=1", "scipy>=1", "pytest>=99; extra == 'test'"]
        monkeypatch.setattr(diagnosis, "_requirements", lambda: lines)
        first, old, absent = diagnosis.versions()
        assert "scipy" in first.said
        assert old.said.startswith("numpy ")
        assert old.remedy == "pip install 'numpy>=99'"
        assert absent.said == "no-such-package is not installed"
        assert levels([old, absent]) == ["problem", "problem"]


class TestExtras:
    def test_every_extra_says_what_it_is_for(self) -> None:
        assert extras.PURPOSES.keys() == extras.lacking().keys()

    def test_what_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(extras, "lacking", lambda: {"slurm": ["submitit"], "dask": []})
        there, lacking = diagnosis.extra_packages()
        assert there.said == "dask"
        assert lacking.level == "note"
        assert "pip install 'mklbench[slurm]'" in lacking.remedy


class TestLibsvm:
    def test_it_solves(self) -> None:
        assert levels(list(diagnosis.libsvm())) == ["ok"]

    def test_it_fails(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*arguments: object) -> None:
            raise OSError("no such symbol")

        monkeypatch.setattr(SVM, "solve", fail)
        found = only(list(diagnosis.libsvm()), "problem")
        assert "no such symbol" in found.said
        assert_has_a_remedy(found)

    def test_it_is_wrong(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(SVM, "solve", lambda *a: SimpleNamespace(dual_coef=[0.5, -0.5]))
        assert levels(list(diagnosis.libsvm())) == ["problem"]


class TestLinearAlgebra:
    def test_speed_is_measured(self) -> None:
        assert 1e6 < diagnosis._operations_a_second(200) < 1e15

    @pytest.mark.parametrize(("speed", "level"), [(1e9, "slow"), (5e10, "ok")])
    def test_speed(self, speed: float, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(diagnosis, "_operations_a_second", lambda: speed)
        monkeypatch.setattr(diagnosis, "_usable", lambda: 1000)
        (found,) = diagnosis.blas()
        assert found.level == level
        assert f"{speed / 1e9:.3g} GFLOP/s" in found.said

    def test_more_threads_than_processors(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(diagnosis, "_operations_a_second", lambda: 5e10)
        monkeypatch.setattr(diagnosis, "_usable", lambda: 2)
        pools = [{"user_api": "blas", "num_threads": 64, "prefix": "libopenblas"}]
        monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda: pools)
        _, crowded = diagnosis.blas()
        assert crowded.said == "64 threads share 2 processors"
        assert crowded.remedy == "set OMP_NUM_THREADS=2"

    def test_two_runtimes_of_openmp(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pools = [{"user_api": "openmp", "prefix": name} for name in ("libiomp", "libgomp")]
        monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda: pools)
        (found,) = diagnosis.openmp()
        assert found.level == "slow"
        assert found.said.startswith("libgomp and libiomp")


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    (found,) = diagnosis.compiler()
    assert found.level == "note"
    assert_has_a_remedy(found)


class TestDownloads:
    def test_a_cache(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path))
        (tmp_path / "one.csv").write_bytes(b"x" * 2**20)
        (found,) = diagnosis.cache()
        assert found == Finding("ok", "cache", f"{tmp_path}: 1 file, 1 MiB")

    def test_a_cache_that_cannot_be_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path / "not" / "there"))
        monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
        (found,) = diagnosis.cache()
        assert found.level == "slow"
        assert "MKLBENCH_CACHE" in found.remedy

    def test_no_mirror(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("MKLBENCH_MIRROR", raising=False)
        assert levels(list(diagnosis.mirror())) == ["ok"]

    def test_a_mirror_that_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MKLBENCH_MIRROR", "/no/such/place")
        found = only(list(diagnosis.mirror()), "problem")
        assert "/no/such/place" in found.said
        assert_has_a_remedy(found)

    def test_a_server(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Answer(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.send_response(404)
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/data"
        monkeypatch.setenv("MKLBENCH_MIRROR", url)
        assert list(diagnosis.mirror()) == [Finding("ok", "mirror", url)]
        server.shutdown()
        server.server_close()
        found = only(list(diagnosis.mirror()), "problem")
        assert found.said == f"{url} does not answer (ConnectionError)"


class TestDisks:
    def test_a_full_one(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=2**20))
        found = list(diagnosis.disks(store))
        assert levels(found) == ["problem"] * 3
        assert "--results-dir" in found[0].remedy

    @pytest.mark.parametrize(("kind", "expected"), [("nfs4", ["note"]), ("ext4", [])])
    def test_its_file_system(
        self,
        kind: str,
        expected: list[str],
        store: Store,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        mounts = tmp_path / "mounts"
        real = tmp_path.resolve()
        mounts.write_text(
            f"/dev/a / ext3 rw 0 0\nserver:/x {real} {kind} rw 0 0\nb {real}er tmpfs rw 0 0\n"
        )
        monkeypatch.setattr(diagnosis, "_MOUNTS", mounts)
        notes = [finding for finding in diagnosis.disks(store) if finding.level == "note"]
        assert levels(notes) == expected


class TestMemory:
    def test_how_many_samples(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(diagnosis, "_MEMINFO", Path("/no/such/file"))
        monkeypatch.setenv(memory.VARIABLE, "48GB")
        (found,) = diagnosis.free_memory()
        assert found.level == "ok"
        assert "about 32,000 samples" in found.said  # 6 matrices of 8 bytes each

    @pytest.mark.parametrize(("stated", "level"), [("500MiB", "slow"), ("much", "problem")])
    def test_little(self, stated: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(diagnosis, "_MEMINFO", Path("/no/such/file"))
        monkeypatch.setenv(memory.VARIABLE, stated)
        (found,) = diagnosis.free_memory()
        assert found.level == level
        assert_has_a_remedy(found)

    def test_swapping(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        meminfo = tmp_path / "meminfo"
        meminfo.write_text("MemTotal: 1 kB\nSwapTotal: 4194304 kB\nSwapFree: 1048576 kB\n")
        monkeypatch.setattr(diagnosis, "_MEMINFO", meminfo)
        monkeypatch.setenv(memory.VARIABLE, "8GiB")
        found = only(list(diagnosis.free_memory()), "slow")
        assert found.said.startswith("3 GiB")


class TestClaims:
    def test_one_in_hand(self, store: Store) -> None:
        (store.path / "cell").mkdir(parents=True)
        with claiming_paths() as paths:
            assert paths.take(store.path / "cell" / "split-000.claim")
            (found,) = diagnosis.claims(store)
        assert found.said.startswith("1 step of ")

    def test_one_of_a_process_that_was_killed(self, store: Store) -> None:
        claim = store.path / "cell" / "split-003.claim"
        claim.mkdir(parents=True)
        taken = subprocess.run(
            [
                sys.executable,
                "-c",
                "from mklbench.claims import Owner; print(Owner.of_this_process().new_name())",
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        (claim / taken).touch()
        owner = Owner.parse(taken)
        assert owner is not None
        found = only(list(diagnosis.claims(store)), "note")
        assert f"1 claim of runners that are gone, the first of pid {owner.pid}" in found.said
        assert str(claim) in found.said


class TestProcessors:
    @pytest.fixture(autouse=True)
    def idle(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0), raising=False)
        monkeypatch.setattr(diagnosis, "_GOVERNORS", tmp_path)

    def test_a_share_of_them(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "cpu_count", lambda: 64)
        monkeypatch.setattr(diagnosis, "_usable", lambda: 4)
        (found,) = diagnosis.processors()
        assert "4 processors of 64 may be used" in found.said

    def test_others_at_work(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "getloadavg", lambda: (99.5, 0.0, 0.0), raising=False)
        monkeypatch.setattr(diagnosis, "_usable", lambda: 2)
        found = only(list(diagnosis.processors()), "slow")
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
        assert levels(list(diagnosis.processors())).count("slow") == expected


class TestCommand:
    @pytest.fixture(autouse=True)
    def small(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.chdir(tmp_path)

    @pytest.mark.parametrize(
        ("findings", "status", "total"),
        [
            ([Finding("ok", "disk", "fine")], 0, "All is well."),
            (
                [Finding("slow", "disk", "full", "delete"), Finding("note", "disk", "far", "go")],
                0,
                "1 of what costs time; 1 worth knowing.",
            ),
            ([Finding("problem", "disk", "gone", "buy")], 1, "1 of what does not work."),
        ],
    )
    def test_what_it_prints(
        self,
        findings: list[Finding],
        status: int,
        total: str,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.setattr("mklbench.commands.doctor.findings", lambda store: iter(findings))
        assert cli.main(["doctor"]) == status
        printed = capsys.readouterr().out.splitlines()
        assert printed[-1] == total
        for finding in findings:
            (place,) = (i for i, line in enumerate(printed) if finding.said in line)
            assert printed[place].split()[0] == finding.level
            if finding.remedy:
                assert printed[place + 1].strip() == f"-> {finding.remedy}"

    def test_a_store_that_is_none(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        assert cli.main(["doctor", "--results-dir", "file"]) == 2
        assert "file" in capsys.readouterr().err
