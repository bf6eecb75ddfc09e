"""Where the benchmarks leave their tables, and under which conditions they were measured."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tabulate import tabulate

from mklbench.experiments.provenance import cpu_model, versions
from mklbench.report.figures.draw import RESOLUTION
from mklbench.report.formats import write_result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = Path(__file__).resolve().parents[1] / "results"


def conditions() -> str:
    """Say in a sentence on what was measured."""
    known = (f"{name} {version}" for name, version in versions().items() if version)
    return f"Measured on {cpu_model()}, one thread of BLAS and of LIBSVM; {', '.join(known)}."


def missing(sets: Sequence[str]) -> list[str]:
    """Return the sentence, if any, that names the sets that could not be had."""
    return [f"Not at hand: {', '.join(dict.fromkeys(sets))}."] if sets else []


def table(rows: Sequence[Sequence[str]], headers: Sequence[str], n_labels: int) -> str:
    """Return a Markdown table whose first `n_labels` columns are texts, the others numbers."""
    alignment = ["left"] * n_labels + ["right"] * (len(headers) - n_labels)
    return tabulate(
        rows, headers=headers, tablefmt="github", colalign=alignment, disable_numparse=True
    )


def publish(name: str, title: str, *parts: str) -> None:
    """Print the parts of a table below its conditions, and write them to ``results/bench``."""
    text = "\n\n".join([conditions(), *parts])
    print(text, end="\n\n", flush=True)
    write_result(RESULTS / "bench" / name, f"# {title}\n\n{text}\n".encode())


def write_csv(name: str, records: Sequence[Mapping[str, object]], folder: str = "bench") -> None:
    """Write records with the same keys, one a line, below ``results``; None is left empty."""
    if not records:
        return
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, fieldnames=list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    write_result(RESULTS / folder / name, stream.getvalue().encode())


def save_figure(canvas: Figure, name: str) -> None:
    """Write a figure as bitmap and vectors to ``results/figures``, equal figures as equal files."""
    for kind, metadata in {"png": {"Software": None}, "svg": {"Date": None}}.items():
        stream = io.BytesIO()
        canvas.savefig(stream, format=kind, dpi=RESOLUTION, metadata=metadata)
        write_result(RESULTS / "figures" / f"{name}.{kind}", stream.getvalue())
