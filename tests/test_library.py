"""The library half needs neither Hydra nor anything else that only the runner needs."""

from __future__ import annotations

import subprocess
import sys

FOREIGN = (
    "hydra", "omegaconf", "antlr4", "yaml", "pooch", "requests", "urllib3", "rich", "pandas",
    "tabulate", "matplotlib", "skimage", "PIL",
)  # fmt: skip

REFUSING = f"""
import importlib.abc
import sys

FOREIGN = {FOREIGN!r}


class Refusing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in FOREIGN:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, Refusing())
"""

# Every module of the library, and a fit, a search and a certificate that truly run.
USING = """
import importlib
import importlib.util
import pkgutil

from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

import mklbench
from mklbench import MKL, algorithms, displays, estimators, kernels, optim, penalties

for package in (algorithms, displays, estimators, kernels, optim, penalties):
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(found.name)
for name in ("certify", "libsvm", "multiclass", "solution", "validation"):
    importlib.import_module(f"mklbench.{name}")
if importlib.util.find_spec("mklbench.testing") is not None:
    importlib.import_module("mklbench.testing")

X, y = make_classification(n_samples=60, n_features=4, random_state=0)
search = GridSearchCV(MKL(), {"C": [1.0, 10.0]}, cv=3).fit(X, y)
(solution,) = search.best_estimator_.solutions_
assert search.score(X, y) > 0.8
assert 0 <= solution.gap <= 1e-4
print("fitted")
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a Python that lacks what is foreign to the library."""
    return subprocess.run(
        [sys.executable, "-c", REFUSING + program], capture_output=True, text=True
    )


def test_a_model_is_fitted_without_what_only_the_runner_needs() -> None:
    finished = run(USING)
    assert (finished.returncode, finished.stdout) == (0, "fitted\n"), finished.stderr


def test_the_runner_does_need_them() -> None:
    finished = run("import mklbench.config.composition")
    assert finished.returncode == 1
    assert "ModuleNotFoundError: No module named" in finished.stderr
