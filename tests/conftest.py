"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import logging
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from mklbench.experiments.store import Store

# Tests run side by side, each on one core, where threads of BLAS would wait for one another. NumPy
# reads this when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Tables are as wide as the terminal that a worker of pytest-xdist says it has.
os.environ.pop("COLUMNS", None)

# Read by SciPy when it is imported; without it scikit-learn skips its array API checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# What a shell starts in the background, a CI for one, ignores Ctrl-C, as does what that starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """What is loaded stays to the end: to look for garbage in it took a tenth of the time."""
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The directory of real data files; tests that need it are skipped where there is none."""
    location = os.environ.get("MKLBENCH_MIRROR")
    if not location:
        pytest.skip("needs real data: set MKLBENCH_MIRROR to a directory that has them")
    if not Path(location).is_dir():
        pytest.skip(f"needs real data in a directory, which MKLBENCH_MIRROR={location} is not")
    return Path(location)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store that is not there yet."""
    from mklbench.experiments.store import Store

    return Store(tmp_path / "store")


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """Take back what Hydra's own flags (hydra.verbose) change of the logging of this process."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = handlers


@pytest.fixture
def redeclare(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[ModuleType, str, object], None]]:
    """Change what the module of an algorithm declares, which is read once, until the test ends."""
    from mklbench import contract

    def change(module: ModuleType, name: str, value: object) -> None:
        monkeypatch.setattr(module, name, value)
        contract._read.cache_clear()

    yield change
    monkeypatch.undo()
    contract._read.cache_clear()
