"""What `mklbench doctor` looks at, and how it says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mklbench import cli
from mklbench.diagnosis import Finding, findings
from mklbench.experiments.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_every_finding_but_ok_has_a_remedy(store: Store) -> None:
    found = list(findings(store))
    assert {finding.what for finding in found} >= {
        "versions", "libsvm", "BLAS", "OpenMP", "compiler", "cache", "mirror", "disk", "memory",
        "claims", "processor",
    }  # fmt: skip
    for finding in found:
        assert finding.said
        assert bool(finding.remedy) == (finding.level != "ok"), finding


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
                "1 performance warning, 1 note.",
            ),
            ([Finding("problem", "disk", "gone", "buy")], 1, "1 problem."),
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
