"""The fingerprint of a cell's sources, and code from outside as a part of the key."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from experiment_fakes import TINY, fake_cell, tiny_cell
from narrowing import present

import mklbench
from mklbench.experiments import sources
from mklbench.experiments.cell import Cell
from mklbench.experiments.evaluation import run_split
from mklbench.experiments.modules import WHOLE, Module

PACKAGE = Path(mklbench.__file__).parent

Edit = Callable[[str, str, str], None]

SIMPLEMKL = {"_target_": "mklbench.algorithms.simplemkl.solve"}
FEATURE_GAUSSIANS = {"_target_": "mklbench.kernels.feature_gaussians"}
CONFIG = {"algo": SIMPLEMKL, "kernel": FEATURE_GAUSSIANS}


def forget() -> None:
    """Have the sources read again."""
    sources._our_module.cache_clear()
    sources._digest_of.cache_clear()


@pytest.fixture
def edit(monkeypatch: pytest.MonkeyPatch) -> Iterator[Edit]:
    """Return what replaces a text in one of our files, for those who read the sources."""
    edited: dict[Path, str] = {}
    read = sources._text
    monkeypatch.setattr(sources, "_text", lambda path: edited.get(path) or read(path))
    forget()

    def replace(file: str, old: str, new: str) -> None:
        path = sources._DIRECTORY / file
        text = edited.get(path) or read(path)
        assert old in text, f"{file} has changed: {old!r} is not in it"
        edited[path] = text.replace(old, new, 1)
        forget()

    yield replace
    forget()


def changed(edit: Edit, file: str, old: str, new: str) -> set[str]:
    """Return the parts of the fingerprint that an edit changes."""
    before = sources.fingerprint(CONFIG)
    edit(file, old, new)
    after = sources.fingerprint(CONFIG)
    return {part for part in after if after[part] != before[part]}


class TestFingerprint:
    def test_every_root_and_everything_apart_exists(self) -> None:
        for module, name in sources._RUNNER:
            assert name in present(sources._our_module(module)).definitions
        for dotted in (*sources._APART, *sources._NOT_APART):
            module, _, name = dotted.rpartition(".")
            found = sources._our_module(dotted)
            assert found is not None or name in present(sources._our_module(module)).definitions, (
                dotted
            )

    @pytest.mark.parametrize(
        ("file", "old", "new"),
        [
            ("libsvm/binding.py", "from __future__", "# A comment.\nfrom __future__"),
            ("algorithms/simplemkl.py", "Learn the kernel weights", "Find the kernel weights"),
            ("algorithms/simplemkl.py", "_ZERO_WEIGHT = 1e-8", "_ZERO_WEIGHT  =  0.00000001"),
            ("data/preprocessing.py", "raise InputError(", 'raise InputError("Oh: " '),
            ("errors.py", "class InputError", "class Other: ...\n\n\nclass InputError"),
        ],
    )
    def test_is_not_changed_by_what_computes_nothing(
        self, edit: Edit, file: str, old: str, new: str
    ) -> None:
        assert changed(edit, file, old, new) == set()

    def test_knows_the_algorithm(self, edit: Edit) -> None:
        edited = changed(edit, "algorithms/simplemkl.py", "_ZERO_WEIGHT = 1e-8", "_ZERO_WEIGHT = 0")
        assert edited == {"algorithm"}

    def test_knows_what_is_imported_indirectly(self, edit: Edit) -> None:
        before = sources.fingerprint(CONFIG)["kernel"]
        edit("kernels/storage/packed.py", "class PackedGrams", "@edited\nclass PackedGrams")
        assert sources.fingerprint(CONFIG)["kernel"] != before

    def test_knows_the_solver_that_every_algorithm_calls(self, edit: Edit) -> None:
        assert changed(edit, "libsvm/binding.py", "200.0", "100.0") >= {"algorithm"}

    @pytest.mark.parametrize(
        ("file", "old", "new"),
        [
            ("data/splits.py", "def random_split(", "def random_split(_=1, *,"),
            ("data/preprocessing.py", "def fit_scaling(", "def fit_scaling(_=1, *,"),
            ("experiments/search.py", "def medians(", "def medians(_=1, *,"),
            ("multiclass.py", "decision > 0", "decision >= 0"),
            ("experiments/evaluation.py", "_MOST_WEIGHTS = 2000", "_MOST_WEIGHTS = 2"),
        ],
    )
    def test_knows_what_stands_between_data_and_record(
        self, edit: Edit, file: str, old: str, new: str
    ) -> None:
        assert "runner" in changed(edit, file, old, new)

    def test_leaves_out_what_the_cell_does_not_use(self, edit: Edit) -> None:
        """A package that imports all kernels does not make each depend on all."""
        before = sources.fingerprint(CONFIG)
        edit("kernels/banks/linear.py", "class LinearBank", "NEW = 1\n\n\nclass LinearBank")
        edit("kernels/banks/linear.py", "    def ", "    def new(self): ...\n\n    def ")
        edit("kernels/builders/named.py", "def linear_features(", "def linear_features(_=1, *,")
        edit("algorithms/qnpkl.py", "def solve(", "def solve(_=1, *,")
        edit("report/table/verdict.py", "def judge(", "def judge(_=1, *,")
        assert sources.fingerprint(CONFIG) == before

    def test_goes_along_when_code_moves(self, edit: Edit) -> None:
        """What stands in another module is still the same code."""
        before = sources.fingerprint(CONFIG)
        moved = "_ZERO_WEIGHT = 1e-8\n"
        edit(
            "algorithms/simplemkl.py",
            moved,
            "from mklbench.kernels.storage.cost import _ZERO_WEIGHT\n",
        )
        edit("kernels/storage/cost.py", "\n@", f"\n{moved}\n\n@")
        assert sources.fingerprint(CONFIG) == before

    def test_is_recorded_and_no_part_of_the_key(self, edit: Edit) -> None:
        overrides = [*TINY, "algo=svm"]
        cell = Cell.from_overrides(overrides)
        record = run_split(cell, 0)
        assert record.sources == cell.sources == sources.fingerprint(cell.config)
        edit("libsvm/binding.py", "200.0", "100.0")
        again = Cell.from_overrides(overrides)
        assert again.sources != record.sources
        assert again.key == record.key

    def test_of_a_crash_is_recorded_too(self, tmp_path: Path) -> None:
        record = run_split(fake_cell(tmp_path, "algo.behaviour=raise"), 0)
        assert record.status == "failed"
        assert set(present(record.sources)) == {"algorithm", "kernel", "runner"}


# What Pythons have parsed differently, and some of everything else.
EVERYTHING = '''\
"""Doc."""
x: int = 1.0  # one
def f(a, *, b: int = 2) -> str:
    """Doc."""
    return f"{a!r:>{b}} and {b=}" 'x' f"{a['k']}" if a else [*range(3)]
class B(list):
    """Doc."""
    @property
    async def g(self): return await self[..., 1:2, b"y"]
match x:
    case {"k": [1, *_]}: pass
try: pass
except* ValueError as e: raise TypeError(f"no {x}") from e
'''


class TestModule:
    def test_digest_is_the_same_under_every_python(self) -> None:
        assert Module("m", EVERYTHING).digest[:12] == "f1fa7e2a9fb9"

    def test_names_mean_what_they_are_imported_from(self) -> None:
        module = Module(
            "a.b.c",
            "import x.y\nimport x.z as w\nfrom .d import e as f\nfrom .. import g\n"
            "def used():\n    from a.h import i\n"
            "    return x.y.one, w.two, f, g.three, i, used, len\n",
        )
        (used,) = module.parts("used")
        assert used.references == {
            ("x.y", "one"), ("x.z", "two"), ("a.b.d", "e"), ("a.g", "three"), ("a.h", "i"),
            (None, "used"), (None, "len"),
        }  # fmt: skip

    def test_statements_that_define_nothing_belong_to_every_part(self) -> None:
        module = Module(
            "m", "import numpy\nnumpy.seterr(all='raise')\ndef f(): ...\ndef g(): ...\n"
        )
        assert len(module.parts("f")) == 2
        assert len(module.parts(WHOLE)) == 3


MINE = """\
from helper import factor
from mklbench.algorithms import svm


def solve(operator, y, C=1.0):
    return svm.solve(operator, y, factor() * C)
"""
HELPER = "import below\n\n\ndef factor():\n    return below.FACTOR\n"
KERNEL = """\
from mklbench.kernels import gaussian


def build(X, gamma=0.1):
    return gaussian(X, gamma)
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory of modules of the user's own, and of the configs that name them."""
    for name, text in (
        ("mine", MINE),
        ("helper", HELPER),
        ("below", "FACTOR = 1.0\n"),
        ("widths", KERNEL),
    ):
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
    for name in ("mine", "helper", "below", "widths"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()


def own_key(own: Path, *overrides: str) -> str:
    return Cell.from_overrides([*TINY, *(overrides or ("algo=mine",))], own).key


class TestCodeFromOutside:
    @pytest.mark.parametrize(
        ("file", "old", "new"),
        [
            ("mine.py", "factor() * C", "factor() * C + 1"),
            ("helper.py", "below.FACTOR", "2 * below.FACTOR"),
            ("below.py", "1.0", "3.0"),
        ],
    )
    def test_is_part_of_the_key(self, own: Path, file: str, old: str, new: str) -> None:
        before = own_key(own)
        rewrite(own / file, old, new)
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
        before = sources.outside(kernel)
        assert before is not None
        rewrite(own / "widths.py", "gaussian(X, gamma)", "gaussian(X, 2 * gamma)")
        unload()
        assert sources.outside(kernel) != before

    def test_docstrings_and_comments_leave_the_key(self, own: Path) -> None:
        before = own_key(own)
        rewrite(own / "mine.py", "def solve", "# A comment.\ndef solve")
        rewrite(own / "helper.py", "import below", '"""Helps."""\n\nimport below')
        unload()
        assert own_key(own) == before

    def test_is_that_which_was_imported(self, own: Path) -> None:
        """What is edited while a process runs is not what this process computes."""
        before = own_key(own)
        rewrite(own / "mine.py", "factor() * C", "factor() * C + 1")
        assert own_key(own) == before

    def test_of_packages_is_found_through_relative_imports(self, own: Path) -> None:
        package = own / "mypackage"
        (package / "deep").mkdir(parents=True)
        (package / "__init__.py").write_text("from .deep.algorithm import solve\n")
        (package / "deep" / "algorithm.py").write_text(
            "from ..tools import f\n\n\ndef solve(o, y, C=1.0):\n    return f(o)\n"
        )
        (package / "tools.py").write_text("def f(o):\n    return o\n")
        before = sources.outside({"_target_": "mypackage.solve"})
        rewrite(package / "tools.py", "return o", "return -o")
        for name in [name for name in sys.modules if name.startswith("mypackage")]:
            del sys.modules[name]
        assert sources.outside({"_target_": "mypackage.solve"}) != before

    def test_is_not_asked_of_ours_and_of_what_is_installed(self) -> None:
        assert sources.outside(SIMPLEMKL) is None
        assert sources.outside({"_target_": "functools.partial"}) is None
        assert not sources._is_users_own("numpy.linalg")
        assert not sources._is_users_own("ast")
        assert "code" not in tiny_cell().identity

    def test_counts_with_ours_in_its_fingerprint(self, own: Path, edit: Edit) -> None:
        config = {"algo": {"_target_": "mine.solve"}, "kernel": FEATURE_GAUSSIANS}
        before = sources.fingerprint(config)["algorithm"]
        edit("libsvm/binding.py", "200.0", "100.0")
        assert sources.fingerprint(config)["algorithm"] != before

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
        rewrite(own / "below.py", "1.0", "3.0")
        after = objectives()
        assert not set(before) & set(after)


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
