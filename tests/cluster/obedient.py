"""An algorithm that does what it finds ordered in a folder, for tests of what may befall a run.

An order is a file there, which the first step that comes across it carries out and renames:

- `hold`: wait until there is a file `go`; its number stands in `hold.taken` meanwhile.
- `memory`: take more than a GiB, and wait to be ended; a step tried again is a usual one.

So nothing depends on how long anything takes. Each step leaves a line in the file `begun`.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import numpy as np

from mklbench.algorithms import svm
from mklbench.kernels import Bank
from mklbench.optim.svm_value import balanced
from mklbench.solution import Solution

VERSION = 1

YAML = """\
name: obedient
title: an algorithm that does what it finds ordered in a folder
defaults:
  - override /kernel@_global_.kernel: feature_gaussians
_target_: obedient.solve
C: 1.0
folder: null
seconds: 0.3
"""

GIB = 2**30


def solve(
    bank: Bank, y: np.ndarray, C: float = 1.0, *, folder: str, seconds: float = 0.3
) -> Solution:
    """Train an SVM on kernels weighted by how well they separate this split, and obey."""
    place = Path(folder)
    step = hashlib.sha256(y.tobytes()).hexdigest()[:12] + f" {C:g}"
    with (place / "begun").open("a", encoding="ascii") as noted:
        noted.write(f"{step}\n")
    time.sleep(seconds)
    if _is_told(place / "hold", str(os.getpid())):
        while not (place / "go").exists():
            time.sleep(0.1)
    if _is_told(place / "memory", step):
        held = np.ones(int(1.3 * GIB / 8))
        time.sleep(600)  # until somebody ends this
        del held
    distances = bank.quadratic_forms(balanced(y)) / bank.traces()
    return svm.solve(bank, y, C, weights=distances / distances.sum())


def taken(order: Path) -> Path:
    """Return what an order is called once a step carries it out."""
    return order.with_name(f"{order.name}.taken")


def _is_told(order: Path, by: str) -> bool:
    """Take an order, if it is there and nobody else has taken it."""
    own = order.with_name(f"{order.name}.{os.getpid()}")
    try:
        order.rename(own)  # one of several succeeds
    except FileNotFoundError:
        return False
    own.write_text(by, encoding="ascii")
    own.rename(taken(order))
    return True
