"""Run every benchmark and print one table."""

from __future__ import annotations

import os

# Before NumPy is loaded: what is measured is one core's work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from tabulate import tabulate

from benchmarks import libsvm_share, memory, product_gradient, startup, svm_binding, svm_calls

_VERDICTS = {True: "yes", False: "no", None: ""}


def main() -> None:
    """Print the measured figures beside their targets."""
    rows = [
        (result.name, result.measured, result.target, _VERDICTS[result.met])
        for module in (
            svm_binding,
            product_gradient,
            memory,
            libsvm_share,
            svm_calls,
            startup,
        )
        for result in module.run()
    ]
    print(tabulate(rows, headers=("figure", "measured", "target", "met"), tablefmt="github"))


if __name__ == "__main__":
    main()
