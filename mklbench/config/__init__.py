"""Composed configs: schemas, checks, and the callables they name.

The only package that calls Hydra's compose and instantiate. A cell config is a plain dict with the
five groups of `GROUPS`, resolved and checked; everything behind it knows nothing of Hydra.
May import the library; it is imported by `experiments`, `report` and `commands`.
"""

from mklbench.config.by_hand import without_search_of
from mklbench.config.cells import (
    algorithm,
    cell_config,
    declared,
    executor,
    executor_of,
    kernel,
    kernel_versions,
    new_kernel_options,
    path_algorithm,
    run_config,
    with_values,
)
from mklbench.config.composition import compose, composed, explained
from mklbench.config.names import GROUPS
from mklbench.config.parts import config_of
from mklbench.config.schemas import RunConfig, SearchConfig, SplitConfig
from mklbench.config.sweeps import expanded

__all__ = [
    "GROUPS",
    "RunConfig",
    "SearchConfig",
    "SplitConfig",
    "algorithm",
    "cell_config",
    "compose",
    "composed",
    "config_of",
    "declared",
    "executor",
    "executor_of",
    "expanded",
    "explained",
    "kernel",
    "kernel_versions",
    "new_kernel_options",
    "path_algorithm",
    "run_config",
    "with_values",
    "without_search_of",
]
