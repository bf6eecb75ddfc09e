"""Composed configs: schemas, checks, and the callables they name.

The only package that calls Hydra. The config of a run is a frozen `RunConfig`
from composing on; everything behind it knows nothing of Hydra.
May import the library; it is imported by `experiments`, `report` and `commands`.
"""

from mklbench.config.callables import algorithm as algorithm
from mklbench.config.callables import declared as declared
from mklbench.config.callables import executor as executor
from mklbench.config.callables import kernel as kernel
from mklbench.config.callables import path_algorithm as path_algorithm
from mklbench.config.composition import ComposedRun as ComposedRun
from mklbench.config.composition import compose as compose
from mklbench.config.composition import config_of as config_of
from mklbench.config.composition import jobs_of as jobs_of
from mklbench.config.composition import run_hydra as run_hydra
from mklbench.config.runs import by_key as by_key
from mklbench.config.runs import run_config as run_config
from mklbench.config.runs import run_options as run_options
from mklbench.config.schemas import GROUPS as GROUPS
from mklbench.config.schemas import RunConfig as RunConfig
from mklbench.config.schemas import RunOptions as RunOptions
