"""Modules are found beside the configs that name them, in this process and in others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mklbench import resources
from mklbench.experiments.run import Run
from mklbench.experiments.run_checks import check_run

MODULE = """\
from mklbench.algorithms import svm

def solve(operator, y, C=1.0):
    return svm.solve(operator, y, C)
"""


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Leave the modules, and where they are looked for, as they were."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith("own_"):
            del sys.modules[name]


def own(directory: Path, module: str, place: str = ".") -> Path:
    """Write an algorithm, its YAML in ``algo/`` and its module where it is said."""
    (directory / "algo").mkdir(parents=True, exist_ok=True)
    (directory / place).mkdir(exist_ok=True)
    (directory / "algo" / f"{module}.yaml").write_text(
        f"name: {module}\n_target_: {module}.solve\nC: 1.0\n"
    )
    (directory / place / f"{module}.py").write_text(MODULE)
    return directory


@pytest.mark.parametrize("place", [".", "algo"])
def test_a_module_is_found_beside_its_yaml(tmp_path: Path, place: str) -> None:
    name = f"own_{'root' if place == '.' else place}"
    directory = own(tmp_path, name, place)
    run = Run.from_overrides([f"algo={name}", "data=twonorm", "data.n_samples=30"], directory)
    check_run(run, [0], jobs=0)
    assert sys.modules[name].__file__ == str((directory / place / f"{name}.py").resolve())


def test_a_package_beside_the_configs_is_no_group_of_theirs(tmp_path: Path) -> None:
    package = own(tmp_path, "own_member") / "own_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "part.py").write_text(MODULE)
    resources.look_for_modules(tmp_path)
    assert str(package) not in sys.path
    assert str(tmp_path) in sys.path


def test_what_python_finds_already_stays_first(tmp_path: Path) -> None:
    before = list(sys.path)
    first, second = own(tmp_path / "a", "own_a", "algo"), own(tmp_path / "b", "own_b")
    for directory in (first, second, second):
        resources.look_for_modules(directory)
    assert sys.path == [*before, str(first), str(first / "algo"), str(second)]
