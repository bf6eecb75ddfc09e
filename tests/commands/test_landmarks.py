"""What `mklbench run` says where kernels have landmarks in their place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mklbench import cli

LINE = [
    "run", "algo=mkl", "algo.method=joint", "algo.C=1", "algo.tol=0.01", "data=twonorm",
    "data.n_samples=150", "split.n_splits=1", "progress=none",
]  # fmt: skip
SAID = "the gap is that of an approximation, kernels on several features on up to 20 landmarks"


def record(folder: Path) -> dict[str, object]:
    found = [json.loads(path.read_text(encoding="utf-8")) for path in folder.rglob("*.json")]
    (own,) = (each for each in found if "effect_on_objective" in each)
    return own


def test_it_says_that_the_gap_is_that_of_an_approximation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main([*LINE, "kernel=gaussians", "algo.landmarks=20"]) == 0
    assert SAID in capsys.readouterr().out
    own = record(tmp_path)
    assert own["landmarks"] == 20
    effect = own["effect_on_objective"]
    assert isinstance(effect, float)
    assert 0.0 < effect <= 1.0


def test_it_does_not_where_the_gap_is_that_of_the_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main([*LINE, "kernel=feature_gaussians"]) == 0
    assert "approximation" not in capsys.readouterr().out
    assert record(tmp_path)["landmarks"] is None
