"""Rows of a memory-mapped file that are sent by their place in it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mklbench import on_dask
from mklbench.errors import InputError
from mklbench.optim.row_files import InFile, sent

ROWS = slice(30, 70)


@pytest.fixture
def X(tmp_path: Path) -> np.ndarray:
    matrix = np.random.default_rng(0).standard_normal((100, 5)).astype(np.float32)
    np.save(tmp_path / "X.npy", matrix)
    loaded: np.ndarray = np.load(tmp_path / "X.npy", mmap_mode="r")
    return loaded


@pytest.mark.parametrize(
    "view",
    [lambda X: X, lambda X: X[10:90], lambda X: np.asarray(X), lambda X: X[5:][:-5]],
    ids=["whole", "rows", "asarray", "rows of rows"],
)
def test_rows_in_c_order_are_sent_by_their_place(
    X: np.ndarray, view: Callable[[np.ndarray], np.ndarray]
) -> None:
    there = sent(view(X), ROWS)
    assert isinstance(there, InFile)
    assert len(there) == 40
    again = pickle.loads(pickle.dumps(there))
    assert np.array_equal(again[7:20], view(X)[ROWS][7:20])
    assert np.array_equal(again[:], view(X)[ROWS])


@pytest.mark.parametrize(
    "view",
    [lambda X: X[:, 1:], lambda X: X[::2], lambda X: X[np.arange(99)], lambda X: np.array(X)],
    ids=["columns", "every other row", "chosen rows", "in memory"],
)
def test_all_else_is_sent_itself(X: np.ndarray, view: Callable[[np.ndarray], np.ndarray]) -> None:
    there = sent(view(X), ROWS)
    assert type(there) is np.ndarray
    assert np.array_equal(there, view(X)[ROWS])


def test_a_file_that_has_become_shorter_is_an_error(X: np.ndarray) -> None:
    there = sent(X, ROWS)
    assert isinstance(there, InFile)
    path = Path(there.path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(OSError, match=r"X\.npy ends early"):
        there[:]


@pytest.mark.parametrize(
    ("client", "sentence"),
    [
        (None, "client=None is not accepted: give the address of a scheduler"),
        (
            "host",
            r"client=host is no address of a scheduler \(.+\): write it as in tcp://host:8786",
        ),
        ("tcp://127.0.0.1:1", r"client=tcp://127\.0\.0\.1:1 does not answer \(.+\): start a"),
    ],
)
def test_what_is_no_client_and_leads_to_none_is_refused(
    client: object, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mklbench.optim.row_workers._CONNECT", 0.5)
    with pytest.raises(InputError, match=sentence), on_dask(client):
        pass
