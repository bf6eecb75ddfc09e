"""What is installed, as it should be and not."""

from __future__ import annotations

import shutil
import sys
from types import SimpleNamespace

import pytest
from found import assert_has_a_remedy, levels, only

from mklbench import extras
from mklbench.diagnosis import software
from mklbench.libsvm import SVM


class TestVersions:
    def test_what_is_installed_here(self) -> None:
        (found,) = software.versions()
        assert found.level == "ok"
        assert f"Python {'.'.join(map(str, sys.version_info[:3]))}" in found.said
        assert "numpy " in found.said

    def test_too_old_and_absent(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lines = ["numpy>=99", "no-such-package>=1", "scipy>=1", "pytest>=99; extra == 'test'"]
        monkeypatch.setattr(software, "_requirements", lambda: lines)
        first, old, absent = software.versions()
        assert "scipy" in first.said
        assert old.said.startswith("numpy ")
        assert old.remedy == "pip install 'numpy>=99'"
        assert absent.said == "no-such-package is not installed"
        assert levels([old, absent]) == ["problem", "problem"]

    def test_an_extra_may_be_absent_and_may_not_be_too_old(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lines = ["no-such-package>=1; extra == 'files'", "h5py>=99; extra == 'files'"]
        monkeypatch.setattr(software, "_requirements", lambda: lines)
        first, old = software.versions()
        assert "h5py" not in first.said
        assert old.level == "problem"
        assert old.remedy == "pip install 'h5py>=99'"


class TestExtras:
    def test_every_extra_says_what_it_is_for(self) -> None:
        assert extras.PURPOSES.keys() == extras.lacking().keys()

    def test_what_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(extras, "lacking", lambda: {"slurm": ["submitit"], "dask": []})
        there, lacking = software.extra_packages()
        assert there.said == "dask"
        assert lacking.level == "note"
        assert "pip install 'mklbench[slurm]'" in lacking.remedy


class TestLibsvm:
    def test_it_solves(self) -> None:
        assert levels(list(software.libsvm())) == ["ok"]

    def test_it_fails(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*arguments: object) -> None:
            raise OSError("no such symbol")

        monkeypatch.setattr(SVM, "solve", fail)
        found = only(list(software.libsvm()), "problem")
        assert "no such symbol" in found.said
        assert_has_a_remedy(found)

    def test_it_is_wrong(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(SVM, "solve", lambda *a: SimpleNamespace(dual_coef=[0.5, -0.5]))
        assert levels(list(software.libsvm())) == ["problem"]


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    (found,) = software.compiler()
    assert found.level == "note"
    assert_has_a_remedy(found)
