"""Code from outside as a part of the key."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from experiment_fakes import TINY, tiny_run

import mklbench
from mklbench.experiments.identity import own_code
from mklbench.experiments.run import Run

PACKAGE = Path(mklbench.__file__).parent

SIMPLEMKL = {"_target_": "mklbench.algorithms.simplemkl.solve"}


MINE = """\
from mklbench.algorithms import svm

FACTOR = 1.0


def solve(operator, y, C=1.0):
    return svm.solve(operator, y, FACTOR * C)
"""
KERNEL = """\
from mklbench.kernels import gaussian


def build(X, gamma=0.1):
    return gaussian(X, gamma)
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory of modules of the user's own, and of the configs that name them."""
    for name, text in (("mine", MINE), ("widths", KERNEL)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    for group, name, target in (("algo", "mine", "mine.solve"), ("kernel", "own", "widths.build")):
        (tmp_path / group).mkdir()
        (tmp_path / group / f"{name}.yaml").write_text(f"name: {name}\n_target_: {target}\n")
    monkeypatch.syspath_prepend(tmp_path)
    unload()  # other tests in this process have modules of these names, too
    yield tmp_path
    unload()


def unload() -> None:
    """Have the user's modules imported anew, as another process would."""
    for name in ("mine", "widths"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()


def own_key(own: Path, *overrides: str) -> str:
    return Run.from_overrides([*TINY, *(overrides or ("algo=mine",))], own).key


class TestCodeFromOutside:
    def test_is_part_of_the_key(self, own: Path) -> None:
        before = own_key(own)
        rewrite(own / "mine.py", "FACTOR * C", "FACTOR * C + 1")
        unload()
        assert own_key(own) != before

    def test_of_kernels_is_part_of_the_key(self, own: Path) -> None:
        before = own_key(own, "algo=svm", "kernel=own")
        assert before != own_key(own, "algo=svm")
        rewrite(own / "widths.py", "gaussian(X, gamma)", "gaussian(X, 2 * gamma)")
        unload()
        assert own_key(own, "algo=svm", "kernel=own") != before

    def test_that_a_kernel_config_names_further_down_is_part_of_the_key(self, own: Path) -> None:
        kernel = {"_target_": "mklbench.kernels.Normalised", "base": {"_target_": "widths.build"}}
        before = own_code(kernel)
        assert before is not None
        rewrite(own / "widths.py", "gaussian(X, gamma)", "gaussian(X, 2 * gamma)")
        unload()
        assert own_code(kernel) != before

    def test_of_a_package_is_all_of_it(self, own: Path) -> None:
        package = own / "mypackage"
        (package / "deep").mkdir(parents=True)
        (package / "__init__.py").write_text("from .deep.algorithm import solve\n")
        (package / "deep" / "algorithm.py").write_text("def solve(o, y, C=1.0):\n    return o\n")
        before = own_code({"_target_": "mypackage.solve"})
        rewrite(package / "deep" / "algorithm.py", "return o", "return -o")
        assert own_code({"_target_": "mypackage.solve"}) != before

    def test_is_not_asked_of_ours_and_of_what_is_installed(self) -> None:
        assert own_code(SIMPLEMKL) is None
        assert own_code({"_target_": "functools.partial"}) is None
        assert own_code({"_target_": "numpy.linalg.solve"}) is None
        assert "code" not in tiny_run().identity

    def test_that_is_edited_between_two_runs_is_run_again(self, own: Path) -> None:
        command = [
            sys.executable, "-m", "mklbench", "run", "algo=mine", *TINY, "--config-dir", str(own),
            "progress=none", "split.n_splits=2", "out=rows.csv",
        ]  # fmt: skip
        environment = {"PYTHONPATH": f"{PACKAGE.parent}:{own}", "PATH": ""}

        def objectives() -> list[str]:
            subprocess.run(command, check=True, cwd=own, env=environment, capture_output=True)
            header, *rows = (own / "rows.csv").read_text().splitlines()
            at = header.split(",").index("objective")
            return [row.split(",")[at] for row in rows]

        before = objectives()
        # Of another length, as Python knows what it has compiled by the second and the length.
        rewrite(own / "mine.py", "= 1.0", "= 3.00")
        after = objectives()
        assert not set(before) & set(after)


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
