"""Peak memory of whole processes."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.timing import Result

_QNPKL = """
import numpy as np
from benchmarks.processes import peak_megabytes
from mklbench.algorithms import qnpkl
from mklbench.kernels import product_gaussians
rng = np.random.default_rng(0)
X = rng.standard_normal((1000, 500))
y = np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0, 1.0, -1.0)
solution = qnpkl.solve(product_gaussians(X), y, C=1.0, **qnpkl.PRINTED, max_iter=20)
print(peak_megabytes(), solution.n_svm_calls)
"""


def run() -> list[Result]:
    """Return the peak of QN-PKL at n = 1000, M = 500."""
    finished = subprocess.run(
        [sys.executable, "-c", _QNPKL], check=True, capture_output=True, text=True
    )
    megabytes, calls = map(float, finished.stdout.split())
    return [
        Result(
            "peak memory of QN-PKL, n = 1000, M = 500",
            f"{megabytes:.0f} MB ({calls:.0f} SVM calls; the distance stack alone is 4000 MB)",
            "< 400 MB",
            megabytes < 400,
        )
    ]
