"""The executor for a Slurm cluster: arrays of jobs, submitted through submitit.

submitit writes the batch files and starts Python on the node. `executor` reads the options,
`cluster` submits, follows and cancels jobs, `node` asks a node before the first of them, `job` is
one; `commands` has what Slurm is asked, `refusals` what it says no to.

May import what else is in `execution`; it is imported by `execution.jobs`, and named by
``executor=slurm``.
"""

from __future__ import annotations

from mklbench.experiments.execution.slurm.cluster import Slurm
from mklbench.experiments.execution.slurm.executor import slurm

__all__ = ["Slurm", "slurm"]
