"""Run benchmarks, those named or all short ones, and print one table of figures and targets."""

from __future__ import annotations

import argparse
import importlib
import os

from tabulate import tabulate

# Modules with a function run() that returns results; some print and write tables of their own, too.
PARTS = (
    "svm_binding",
    "startup",
    "running",
    "solvers",
    "targets",
    "scaling",
    "separate",
    "nkrr",
    "execution",
    "prediction",
)
# These take minutes for one figure, and are run when they are named.
LONG_PARTS = (
    *("gaps", "ikl", "kernels", "peaks", "peers"),
    *("scale", "weight_sets", "real_sets", "families", "family_gap", "defaults"),
)

_VERDICTS = {True: "yes", False: "no", None: ""}


def main() -> None:
    """Print the measured figures beside their targets."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="part",
        help=f"{', '.join(PARTS)}: all these if none is named; or {', '.join(LONG_PARTS)}",
    )
    parts = parser.parse_args().parts or PARTS
    known = (*PARTS, *LONG_PARTS)
    for part in parts:
        if part not in known:
            parser.error(f"{part} is no benchmark: choose from {', '.join(known)}.")
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
