"""The example of a search on a Dask cluster; fits do not notice where they run.

The cluster has two worker processes with two threads each, so that fits also share a process.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_runs import EXAMPLES, python
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV

from mklbench import KRR, MKL, LateFusion

distributed = pytest.importorskip("distributed", reason="needs pip install 'mklbench[dask]'")

pytestmark = pytest.mark.slow  # processes of a cluster

EXAMPLE = EXAMPLES / "dask_grid_search"


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    options = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, **options) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


@pytest.fixture
def X() -> np.ndarray:
    X, _ = load_breast_cancer(return_X_y=True)
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))[:90, :5]


@pytest.fixture
def y() -> np.ndarray:
    _, y = load_breast_cancer(return_X_y=True)
    return np.asarray(y)[:90]


def same_search(model: BaseEstimator, grid: dict[str, list[float]], X: Any, y: Any) -> GridSearchCV:
    """Search on the cluster and here, and require the same; return the former."""
    here = GridSearchCV(model, grid, cv=4).fit(X, y)
    with parallel_config("dask"):
        there = GridSearchCV(model, grid, cv=4).fit(X, y)
    assert there.best_params_ == here.best_params_
    for name in ("mean_test_score", "split0_test_score", "split3_test_score"):
        np.testing.assert_array_equal(there.cv_results_[name], here.cv_results_[name])
    return there


def test_it_finds_what_the_same_search_finds_without_dask(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = python(["search.py"], EXAMPLE)  # with a cluster of its own
    assert said.stderr == ""
    assert python(["search.py", client.scheduler.address], EXAMPLE).stdout == said.stdout
    monkeypatch.syspath_prepend(str(EXAMPLE))
    here = importlib.import_module("search").search(*load_breast_cancer(return_X_y=True))
    results = here.cv_results_
    assert said.stdout.splitlines()[:-1] == [
        f"2 workers: C = {here.best_params_['mkl__C']}",
        *(
            f"C = {C:<5} accuracy {score:.4f}"
            for C, score in zip(results["param_mkl__C"], results["mean_test_score"], strict=True)
        ),
    ]


def test_its_readme_shows_what_it_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On few samples, with workers that are threads of this process."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    example = importlib.import_module("search")
    X, y = load_breast_cancer(return_X_y=True)
    monkeypatch.setattr(example, "load_breast_cancer", lambda return_X_y: (X[:100], y[:100]))
    monkeypatch.setattr(
        example,
        "LocalCluster",
        lambda host, **options: distributed.LocalCluster(processes=False, **options),
    )
    example.main()
    said = capsys.readouterr().out
    shown = (EXAMPLE / "README.md").read_text(encoding="utf-8").split("```")[1].strip()
    assert len(shown.splitlines()) == 6
    form = re.compile(r"\d+\.\d+(e-\d+)?|\d+")
    assert form.sub("0", shown) == form.sub("0", said.strip())


def test_scores_are_the_same_to_the_digit(client: Any, X: np.ndarray, y: np.ndarray) -> None:
    same_search(LateFusion(), {"C": [1.0, 10.0]}, X, y)
    same_search(KRR(), {"lam": [0.1, 1.0]}, X[:, 1:], X[:, 0])


def test_own_gram_matrices_travel_in_the_estimator_or_are_read_by_the_workers(
    client: Any, X: np.ndarray, y: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    module = readme.partition("```python\n")[2].partition("```")[0]
    stack = np.exp(-((X.T[:, :, None] - X.T[:, None, :]) ** 2))
    np.save(tmp_path / "K.npy", np.tile(stack, (40, 1, 1)))  # of which Dask would warn
    module = module.replace("/where/the/workers/see/it", str(tmp_path))
    (tmp_path / "my_kernels.py").write_text(module)
    monkeypatch.syspath_prepend(str(tmp_path))
    client.upload_file(str(tmp_path / "my_kernels.py"))
    kernel = importlib.import_module("my_kernels").from_file
    rows = np.arange(len(y))[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same_search(MKL(kernel=kernel), {"C": [1.0, 10.0]}, rows, y)
    with pytest.warns(UserWarning, match="Sending large graph"):
        same_search(MKL(kernel=kernel.__globals__["stored"]()), {"C": [1.0, 10.0]}, rows, y)
