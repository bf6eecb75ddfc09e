"""The joint method with its blocks of rows on real workers of Dask, some of which are lost."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import engines
import numpy as np
import pytest
from dask_cluster import DaskCluster

from mklbench import MKL, _version, cli, on_dask
from mklbench.algorithms import mkl, mkl_svr
from mklbench.errors import InputError
from mklbench.experiments.record import Record
from mklbench.experiments.store import Store
from mklbench.kernels import FeatureBank, feature_gaussians
from mklbench.optim import row_engines, row_workers
from mklbench.solution import Solution

if TYPE_CHECKING:
    from distributed import Client

# The tests of one engine share it, beside those of the other.
pytestmark = pytest.mark.xdist_group("dask")

# Single precision, and double precision by its tolerance.
SINGLE, DOUBLE = 1e-3, 9e-5


@pytest.fixture
def client(dask_scheduler: DaskCluster) -> Iterator[Client]:
    from distributed import Client

    with Client(dask_scheduler.address, timeout=20, set_as_default=False) as client:
        client.wait_for_workers(len(dask_scheduler.workers), timeout=30)
        yield client
        # Nothing is left behind, whatever happened; what is released takes a moment.
        deadline = time.monotonic() + 20
        while names(client) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not names(client)


def names(client: Client) -> list[str]:
    """The tasks that the scheduler knows."""
    found: list[str] = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))
    return found


def problem(n: int, d: int = 3) -> tuple[FeatureBank, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    values = np.sin(2.0 * X[:, 0]) + np.square(X[:, 1]) - 1.0 + 0.5 * rng.standard_normal(n)
    return feature_gaussians(X), np.where(values > 0, 1.0, -1.0)


def solved(bank: FeatureBank, y: np.ndarray, tol: float = DOUBLE) -> Solution:
    return mkl.solve(bank, y, 10.0, tol=tol, method="joint")


def assert_same(found: Solution, expected: Solution, tol: float = DOUBLE) -> None:
    """The same to rounding, which in single precision is that of the products of factors."""
    rounding = 1e-6 if tol == DOUBLE else 1e-2
    assert found.gap <= tol
    assert found.n_iter == expected.n_iter
    assert found.weights == pytest.approx(expected.weights, abs=rounding)
    assert found.objective == pytest.approx(expected.objective, rel=rounding * tol * 100)
    scale = np.abs(expected.dual_coef).max()
    assert found.dual_coef == pytest.approx(expected.dual_coef, abs=rounding * scale)


@pytest.mark.parametrize("tol", [pytest.param(SINGLE, marks=pytest.mark.slow), DOUBLE])
def test_is_the_same_as_with_threads(client: Client, tol: float) -> None:
    bank, y = problem(3000)
    with on_dask(client):
        found = solved(bank, y, tol)
    assert_same(found, solved(bank, y, tol), tol)


@pytest.mark.slow
def test_problems_on_the_same_samples_are_solved_each_for_its_own_labels(client: Client) -> None:
    bank, y = problem(1000)
    other = np.resize([1.0, 1.0, -1.0], len(y))
    labels = [y, other, -y]
    options: dict[str, Any] = {"C": 10.0, "tol": DOUBLE, "method": "joint", "max_iter": 50}
    with on_dask(client):
        together = mkl.solve_all(bank, labels, **options)
    for found, own in zip(together, labels, strict=True):
        assert_same(found, mkl.solve(bank, own, **options))


@pytest.mark.slow
def test_fewer_samples_than_blocks(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    bank, y = problem(8)
    monkeypatch.setattr(row_workers, "_BLOCKS_A_THREAD", 6)
    with on_dask(client):
        found = solved(bank, y)
    assert_same(found, solved(bank, y))


@pytest.mark.slow
def test_samples_in_a_file_are_read_by_the_workers(client: Client, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    np.save(tmp_path / "X.npy", rng.standard_normal((1000, 4)).astype(np.float32))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    there = row_workers.sent(X[10:90], slice(30, 70))
    assert isinstance(there, row_workers.InFile)
    assert np.array_equal(there[7:20], X[47:60])
    for copied in (X[:, 1:], X[::2], np.array(X)):  # not in C order, or in memory
        assert type(row_workers.sent(copied, slice(30, 70))) is np.ndarray
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(1000) > 0, 1.0, -1.0)
    with on_dask(client):
        found = solved(feature_gaussians(X), y)
    assert_same(found, solved(feature_gaussians(np.array(X)), y))
    Path(there.path).write_bytes(b"")
    with pytest.raises((OSError, ValueError)):
        there[:]


def disturbed(
    monkeypatch: pytest.MonkeyPatch, disturb: Callable[[], None], iteration: int
) -> list[str]:
    """Have something happen while a question of an iteration is on its way; note all questions."""
    asked: list[str] = []
    ask = row_workers.Workers.each

    def disturbing(self: Any, question: str, *arguments: Any) -> Any:
        asked.append(question)
        if question == "linearise" and asked.count("linearise") == iteration:
            disturb()
        return ask(self, question, *arguments)

    monkeypatch.setattr(row_workers.Workers, "each", disturbing)
    return asked


@pytest.mark.slow
def test_what_a_killed_worker_had_is_made_again(
    dask_scheduler: DaskCluster, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank, y = problem(20_000)
    expected = solved(bank, y)
    lost = dask_scheduler.worker("worker-0")
    asked = disturbed(monkeypatch, lambda: lost.send_signal(signal.SIGKILL), 10)
    with on_dask(client):
        found = solved(bank, y)
    assert_same(found, expected)
    assert asked.count("linearise") > 10
    client.wait_for_workers(2, timeout=30)


def have_left(client: Client) -> bool:
    """Ask all workers to leave, which the last one does when its results have been let go."""
    client.retire_workers(list(client.nthreads()))
    return not client.nthreads()


@pytest.mark.slow
def test_a_worker_that_leaves_takes_nothing_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client

    bank, y = problem(3000)
    cluster = DaskCluster(tmp_path)
    try:
        cluster.start()
        with Client(cluster.address, timeout=20, set_as_default=False) as client:
            leaving = next(iter(client.scheduler_info()["workers"]))
            disturbed(monkeypatch, lambda: client.retire_workers([leaving]), 3)
            with on_dask(client):
                found = solved(bank, y)
            assert len(client.nthreads()) == 1
            # And none that is left is said in a sentence, before anything is sent.
            engines.wait_for(lambda: have_left(client), "a worker stayed")
            with pytest.raises(InputError, match="has no workers: start some"), on_dask(client):
                pass
    finally:
        cluster.stop()
    assert_same(found, solved(bank, y))


@pytest.mark.slow
def test_a_worker_of_another_version_is_refused_in_a_sentence(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_workers, "__version__", "0.0.1")
    sentence = f"than 0.0.1, which the driver has: {_version.__version__}; install the same"
    with pytest.raises(InputError, match=sentence), on_dask(client):
        pass


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (None, "client=None is not accepted: give the address of a scheduler"),
        ("host", r"client=host does not answer \(.+\): start a scheduler"),
        ("tcp://127.0.0.1:1", r"client=tcp://127\.0\.0\.1:1 does not answer \(.+\): start a"),
    ],
)
def test_what_is_no_client_and_leads_to_none_is_refused(
    given: object, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_workers, "_CONNECT", 0.5)
    with pytest.raises(InputError, match=sentence), on_dask(given):
        pass


def run(folder: Path, *options: str) -> tuple[str, Record]:
    """Run a cell with the joint method; return its key and its one record."""
    cell = [
        "algo=mkl", "kernel=feature_gaussians", "algo.method=joint", "data=waveform",
        "data.n_samples=400", "split.n_splits=1", "progress=none", f"results_dir={folder}",
    ]  # fmt: skip
    assert cli.main(["run", *cell, *options]) == 0
    (record,) = Store(folder).all_records()
    return record.key, record


def test_a_run_on_workers_makes_the_same_cell(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "made"  # in the process of a worker
    make = row_workers.Workers.__init__

    def counted(self: Any, *arguments: Any) -> None:
        made.write_text(arguments[0].scheduler.address, encoding="ascii")
        make(self, *arguments)

    key, expected = run(tmp_path / "here")
    monkeypatch.setattr(row_workers.Workers, "__init__", counted)
    address = client.scheduler.address
    there, found = run(tmp_path / "there", f"executor.rows={address}")
    assert made.read_text(encoding="ascii") == address
    assert there == key
    assert (found.status, found.accuracy, found.n_iter) == (
        "done",
        expected.accuracy,
        expected.n_iter,
    )
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)
    assert found.weights == pytest.approx(expected.weights, abs=1e-6)


@pytest.mark.slow
def test_a_scheduler_is_named_by_its_address(client: Client) -> None:
    bank, y = problem(300)
    with on_dask(client.scheduler.address):
        found = solved(bank, y)
    assert_same(found, solved(bank, y))


@pytest.mark.slow
def test_the_engine_is_that_of_the_context_only(client: Client) -> None:
    with on_dask(client):
        assert row_engines._MAKER.get() is not row_engines.threads
    assert row_engines._MAKER.get() is row_engines.threads


@pytest.mark.slow
def test_a_regression_is_the_same_as_with_threads(client: Client) -> None:
    bank, _ = problem(300)
    y = np.sin(np.linspace(0.0, 6.0, 300))
    options: dict[str, Any] = {"C": 1.0, "tol": DOUBLE, "method": "joint"}
    with on_dask(client):
        found = mkl_svr.solve(bank, y, **options)
    assert_same(found, mkl_svr.solve(bank, y, **options))


@pytest.mark.slow
def test_the_code_of_the_page_runs(client: Client) -> None:
    page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(from distributed.+?)^```", page, re.MULTILINE | re.DOTALL)
    X = np.random.default_rng(3).standard_normal((500, 2))
    names: dict[str, Any] = {"X": X, "y": X[:, 0] > 0}
    exec(code.replace("tcp://host:8786", client.scheduler.address), names)
    assert names["model"].method_ == "joint"


@pytest.mark.slow
@pytest.mark.parametrize("tol", [1e-2, DOUBLE])
def test_a_hundred_thousand_samples_on_two_workers(client: Client, tol: float) -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((100_000, 6))
    y = np.where(np.sin(2 * X[:, 0]) + 0.6 * rng.standard_normal(100_000) > 0, 1, -1)
    model = MKL(kernel="feature_gaussians", C=1.0, tol=tol)
    with on_dask(client):
        found = model.fit(X, y).solutions_[0]
    assert model.method_ == "joint"
    expected = model.fit(X, y).solutions_[0]
    if tol == DOUBLE:
        assert_same(found, expected)
    else:
        # In single precision the rounding of sums may end one of them an iteration later: both are
        # below the optimum, and by no more than their gap.
        assert found.gap <= tol
        assert found.objective == pytest.approx(expected.objective, rel=tol)
        assert found.weights == pytest.approx(expected.weights, abs=1e-3)
