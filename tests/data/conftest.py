"""Fixtures of the tests of data."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, so that none of the user's is read or written."""
    monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
