"""Threads that a computation may have, and who gives them."""

from __future__ import annotations

from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

from mklbench import cli
from mklbench.optim import row_blocks
from mklbench.optim.row_blocks import allowing, n_threads


def test_are_those_of_linear_algebra_unless_said() -> None:
    with threadpool_limits(1, user_api="blas"):
        assert n_threads() == 1
        with allowing(3):
            assert n_threads() == 3
            with allowing(2):
                assert n_threads() == 2
            assert n_threads() == 3
        assert n_threads() == 1


@pytest.mark.parametrize(("C", "threads"), [(["algo.C=1"], 3), (["-m", "algo.C=1,2"], 1)])
def test_a_single_run_has_all_and_one_of_several_has_one(
    C: list[str], threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    seen = tmp_path / "seen"  # by the processes in which steps run

    def noted() -> int:
        with seen.open("a", encoding="utf-8") as stream:
            stream.write(f"{n_threads()}\n")
        return n_threads()

    monkeypatch.setattr(row_blocks, "n_threads", noted)
    line = ["run", "algo=mkl", "algo.method=joint", "algo.tol=0.1", "data=twonorm", *C]
    small = ["kernel=linear_features", "data.n_samples=100", "split.n_splits=1", "progress=none"]
    with allowing(3):
        assert cli.main([*line, *small]) == 0
    assert set(seen.read_text(encoding="utf-8").split()) == {str(threads)}
