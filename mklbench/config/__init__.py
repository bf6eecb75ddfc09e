"""Composed configs: schemas, checks, and the callables they name.

The only package that calls Hydra. The config of a run is a frozen `RunConfig`
from composing on; everything behind it knows nothing of Hydra.
May import the library; it is imported by `experiments`, `report` and `commands`.
"""

from mklbench.config.callables import (
    algorithm,
    declared,
    executor,
    executor_of,
    kernel,
    path_algorithm,
)
from mklbench.config.composition import ComposedRun, compose, jobs_of, run_hydra
from mklbench.config.positions import config_of
from mklbench.config.runs import by_key, run_config, run_options
from mklbench.config.schemas import GROUPS, RunConfig, RunOptions

__all__ = [
    "GROUPS",
    "ComposedRun",
    "RunConfig",
    "RunOptions",
    "algorithm",
    "by_key",
    "compose",
    "config_of",
    "declared",
    "executor",
    "executor_of",
    "jobs_of",
    "kernel",
    "path_algorithm",
    "run_config",
    "run_hydra",
    "run_options",
]
