"""The engines, each started once for all tests, and stopped also where these are killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import engines
import pytest
import slurm_cluster
from slurm_cluster import SlurmCluster


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    """A Slurm of this session's own; `SLURM_CONF` says to clients which it is."""
    reason = slurm_cluster.missing()
    if reason:
        pytest.skip(f"needs a Slurm: {reason}")
    cluster = SlurmCluster(tmp_path_factory.mktemp("slurm"))
    with (
        engines.stopped_with_us(Path(slurm_cluster.__file__), cluster.directory),
        pytest.MonkeyPatch.context() as environment,
    ):
        cluster.start()
        for name, value in cluster.variables.items():
            environment.setenv(name, value)
        yield cluster
        cluster.stop()
