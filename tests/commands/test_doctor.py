"""What `mklbench doctor` looks at, and how it says it."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from mklbench import cli
from mklbench.commands import doctor


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MKLBENCH_MIRROR", raising=False)


def test_it_names_what_it_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    status = cli.main(["doctor"])
    printed = capsys.readouterr().out.splitlines()
    looked_at = {line[8:19].strip() for line in printed if line[:8].strip() in ("ok", "note")}
    assert {"versions", "BLAS", "compiler", "cache", "mirror"} <= looked_at
    assert status == any(line.startswith("problem ") for line in printed)


def test_a_mirror_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for mirror in (str(tmp_path / "none"), "http://127.0.0.1:1"):
        monkeypatch.setenv("MKLBENCH_MIRROR", mirror)
        found = doctor.mirror()
        assert found.level == "problem"
        assert "MKLBENCH_MIRROR" in found.remedy


def test_a_disk_that_is_nearly_full(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=10**6))
    found = doctor.space("store", tmp_path / "not" / "yet", "--results-dir")
    assert found.level == "problem"
    assert "--results-dir" in found.remedy
