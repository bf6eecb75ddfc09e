"""The architecture: who imports whom, what a run must not load, what an algorithm consists of."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import mklbench
import mklbench.algorithms

PACKAGE = Path(mklbench.__file__).parent
CONFIGS = next(
    folder for folder in (PACKAGE / "configs", PACKAGE.parent / "configs") if folder.is_dir()
)

# In the order of the flow; a part may import from those before it and from the common ones.
COMMON = {
    "errors", "resources", "interruption", "mat_files", "memory", "reader", "terminal",
}  # fmt: skip
FLOW = [
    {"data"},
    {"validation"},
    {"kernels"},
    {"penalties"},
    {"libsvm", "solution", "certify", "contract", "iterations"},
    {"optim"},
    {"algorithms", "multiclass", "one_class", "grids"},
    {"prediction", "saving"},
    {"estimators", "scoring"},
    {"displays"},
    {"config", "experiments"},
    {"report", "testing"},
    {"commands", "cli", "__main__"},
]
LIBRARY = {
    "validation", "kernels", "penalties", "libsvm", "solution", "certify", "contract",
    "iterations", "optim", "algorithms", "multiclass", "one_class", "grids", "prediction",
}  # fmt: skip
# The same inside of a package.
INSIDE = {
    "kernels": [
        {"samples", "contract"},
        {"functions", "gram_matrices"},
        {"row_factors"},
        {"base"},
        {"groups", "continuous"},
        {"naming"},
        {"banks"},
        {"families"},
        {"builders"},
    ],
    "report": [
        {"table"},
        {"document"},
        {"analysis"},
        {"claims"},
        {"layout"},
        {"formats"},
        {"figures"},
        {"loading"},
        {"results", "frames", "position"},
        {"site"},
        {"check"},
    ],
}

# Imports that cost between half a second and more than two, and that no run needs.
SLOW = ("sklearn", "pandas", "matplotlib", "scipy.stats")
RUN_PATH = ("data", "kernels", "libsvm", "certify", "algorithms", "experiments", "config")


def modules_of(part: str) -> Iterator[tuple[str, Path]]:
    """Yield the name and the file of every module of a part of the package."""
    single = PACKAGE / f"{part}.py"
    if single.is_file():
        yield f"mklbench.{part.replace('/', '.')}", single
    for path in sorted((PACKAGE / part).rglob("*.py")):
        dotted = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        yield dotted.removesuffix(".__init__"), path


def imports_of(path: Path) -> set[str]:
    """Return every dotted name a file imports, inside functions as well."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def parts_imported_by(part: str, package: str = "mklbench") -> set[str]:
    """Return the parts of a package that one of them imports."""
    inside = f"{package}.{part}".removeprefix("mklbench.").replace(".", "/")
    names = {name for _, path in modules_of(inside) for name in imports_of(path)}
    below = (name.removeprefix(f"{package}.") for name in names if name.startswith(f"{package}."))
    return {name.split(".")[0] for name in below} - {part}


def algorithm_names() -> list[str]:
    return sorted(found.name for found in pkgutil.iter_modules(mklbench.algorithms.__path__))


@pytest.fixture(params=algorithm_names())
def algorithm(request: pytest.FixtureRequest) -> ModuleType:
    return importlib.import_module(f"mklbench.algorithms.{request.param}")


class TestImports:
    def test_every_part_has_a_place_in_the_flow(self) -> None:
        parts = {
            path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or is_package(path)
        }
        assert parts - {"__init__"} == COMMON | set().union(*FLOW)

    @pytest.mark.parametrize("place", range(len(FLOW)))
    def test_imports_flow_one_way(self, place: int) -> None:
        later = set().union(*FLOW[place + 1 :])
        for part in FLOW[place]:
            backwards = parts_imported_by(part) & later
            assert not backwards, f"mklbench.{part} imports {sorted(backwards)}"

    @pytest.mark.parametrize("package", INSIDE)
    def test_every_part_of_a_package_has_a_place_in_its_flow(self, package: str) -> None:
        parts = {
            path.stem
            for path in (PACKAGE / package).iterdir()
            if path.suffix == ".py" or is_package(path)
        }
        assert parts - {"__init__"} == set().union(*INSIDE[package])

    @pytest.mark.parametrize("package", INSIDE)
    def test_imports_inside_of_a_package_flow_one_way(self, package: str) -> None:
        for place, parts in enumerate(INSIDE[package]):
            later = set().union(*INSIDE[package][place + 1 :])
            for part in parts:
                backwards = parts_imported_by(part, f"mklbench.{package}") & later
                assert not backwards, f"mklbench.{package}.{part} imports {sorted(backwards)}"

    def test_every_package_says_what_lives_there_and_what_it_may_import(self) -> None:
        for path in sorted(PACKAGE.rglob("__init__.py")):
            document = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            if path.parent != PACKAGE:
                assert "May import" in " ".join(document.split()), path

    @pytest.mark.parametrize("part", sorted(COMMON))
    def test_common_parts_import_none_other(self, part: str) -> None:
        assert parts_imported_by(part) <= COMMON

    @pytest.mark.parametrize("part", sorted(LIBRARY))
    def test_the_library_knows_nothing_of_configs_files_or_tables(self, part: str) -> None:
        common = {"errors", "mat_files", "memory"}
        assert parts_imported_by(part) <= LIBRARY | common
        for name, path in modules_of(part):
            foreign = {imported.split(".")[0] for imported in imports_of(path)}
            assert not foreign & {"hydra", "omegaconf", "yaml", "pooch", "rich"}, name

    def test_the_data_knows_nothing_of_the_kernels(self) -> None:
        assert parts_imported_by("data") <= COMMON


def is_package(path: Path) -> bool:
    return (path / "__init__.py").is_file()


# Code lines (without docstrings, comments and blank lines) and modules of each package, at most:
# never more than a tenth above what there is. Who makes a package smaller lowers its line.
SIZES = {
    "kernels": (4106, 26), "optim": (3310, 24), "algorithms": (2650, 35), "certify": (205, 5),
    "penalties": (175, 6), "libsvm": (340, 4), "estimators": (1225, 13), "displays": (396, 5),
    "data": (2680, 16), "config": (633, 5), "commands": (1055, 10), "experiments": (2450, 21),
    "report": (4265, 45), "testing": (474, 3), "": (1495, 20),
}  # fmt: skip


def code_lines(path: Path) -> int:
    """Return the number of lines of a module without docstrings, comments and blank lines."""
    text = path.read_text(encoding="utf-8")
    documents: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            documents.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return sum(bool(line) and line[0] != "#" and n not in documents for n, line in lines)


class TestSize:
    @pytest.mark.parametrize("package", SIZES)
    def test_a_package_stays_small(self, package: str) -> None:
        paths = (PACKAGE / package).rglob("*.py") if package else PACKAGE.glob("*.py")
        sizes = [code_lines(path) for path in paths]
        most_lines, most_modules = SIZES[package]
        assert sum(sizes) <= most_lines
        assert len(sizes) <= most_modules

    def test_every_package_has_its_limit(self) -> None:
        packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
        assert packages == {name for name in SIZES if name}

    def test_no_class_has_the_name_of_another(self) -> None:
        names: list[str] = []
        for path in sorted(PACKAGE.rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            names += [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        assert [name for name in names if names.count(name) > 1] == []

    def test_hydra_is_used_by_its_public_interface(self) -> None:
        paths = [*PACKAGE.rglob("*.py"), *(PACKAGE.parent / "hydra_plugins").glob("mklbench*.py")]
        for path in paths:
            assert "hydra._internal" not in path.read_text(encoding="utf-8"), path


class TestStartup:
    def test_a_run_loads_nothing_slow(self) -> None:
        names = [name for part in RUN_PATH for name, _ in modules_of(part)]
        names += ["mklbench", "mklbench.multiclass", "mklbench.commands.run"]
        statement = f"import importlib; [importlib.import_module(name) for name in {names!r}]"
        loaded = modules_after(statement)
        assert "mklbench.algorithms.simplemkl" in loaded
        assert loaded.isdisjoint(SLOW)

    def test_the_command_line_starts_on_the_standard_library(self) -> None:
        loaded = modules_after("import mklbench.cli")
        assert loaded.isdisjoint({*SLOW, "numpy", "scipy", "hydra", "libsvm", "rich"})


def modules_after(statement: str) -> set[str]:
    """Return the names in sys.modules of a fresh interpreter after a statement."""
    program = f"{statement}\nimport sys; print(*sys.modules)"
    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(finished.stdout.split())


class TestAlgorithms:
    """What `mklbench.testing.check_algorithm` does not ask of others."""

    def test_has_a_version_and_regularises_first(self, algorithm: ModuleType) -> None:
        assert isinstance(algorithm.VERSION, int)
        assert list(inspect.signature(algorithm.solve).parameters)[2] in ("C", "lam")

    def test_is_named_by_a_config(self, algorithm: ModuleType) -> None:
        targets = {
            yaml.safe_load(path.read_text(encoding="utf-8")).get("_target_")
            for path in (CONFIGS / "algo").glob("*.yaml")
        }
        assert f"{algorithm.__name__}.solve" in targets

    def test_only_the_contract_looks_at_modules(self) -> None:
        for path in sorted(PACKAGE.rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            allowed = path.stem in ("contract", "sources")  # sources reads files, not declarations
            assert allowed or ("sys.modules" not in text and "getmodule" not in text), path
