"""Run the benchmarks, all or those named, and print one table of figures beside their targets."""

from __future__ import annotations

import argparse
import importlib
import os

from tabulate import tabulate

# Modules with a function run() that returns results; some print and write tables of their own, too.
PARTS = (
    "svm_binding",
    "product_gradient",
    "memory",
    "libsvm_share",
    "startup",
    "banks",
    "solvers",
    "targets",
    "scaling",
)

_VERDICTS = {True: "yes", False: "no", None: ""}


def main() -> None:
    """Print the measured figures beside their targets."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="part", help=f"{', '.join(PARTS)}; all if none is named"
    )
    parts = parser.parse_args().parts or PARTS
    for part in parts:
        if part not in PARTS:
            parser.error(f"{part} is no benchmark: choose from {', '.join(PARTS)}.")
    # Before NumPy is loaded: what is measured is one core's work.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["OMP_NUM_THREADS"] = "1"
    rows = []
    for part in parts:
        module = importlib.import_module(f"benchmarks.{part}")
        rows += [
            (result.name, result.measured, result.target, _VERDICTS[result.met])
            for result in module.run()
        ]
    print(tabulate(rows, headers=("figure", "measured", "target", "met"), tablefmt="github"))


if __name__ == "__main__":
    main()
