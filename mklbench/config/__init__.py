"""Composed configs: schemas, checks, and the callables they name.

The only package that calls Hydra. The config of a run is a plain dict with the five groups of
`GROUPS`, resolved and checked; everything behind it knows nothing of Hydra.
May import the library; it is imported by `experiments`, `report` and `commands`.
"""

from mklbench.config.callables import (
    algorithm,
    declared,
    executor,
    executor_of,
    kernel,
    kernel_versions,
    new_kernel_options,
    path_algorithm,
)
from mklbench.config.composition import ComposedRun, compose, jobs_of, run_hydra
from mklbench.config.positions import config_of
from mklbench.config.runs import cell_config, run_config, with_values
from mklbench.config.schemas import GROUPS, RunConfig, SearchConfig, SplitConfig

__all__ = [
    "GROUPS",
    "ComposedRun",
    "RunConfig",
    "SearchConfig",
    "SplitConfig",
    "algorithm",
    "cell_config",
    "compose",
    "config_of",
    "declared",
    "executor",
    "executor_of",
    "jobs_of",
    "kernel",
    "kernel_versions",
    "new_kernel_options",
    "path_algorithm",
    "run_config",
    "run_hydra",
    "with_values",
]
