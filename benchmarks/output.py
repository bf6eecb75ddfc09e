"""Where the benchmarks leave their tables, and under which conditions they were measured."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
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


def table_of(records: Sequence[object], columns: Mapping[str, str], n_labels: int) -> str:
    """Return a Markdown table of records: `columns` maps a heading to a template of its cells.

    A template names a field, as in ``{.seconds:.1f}``; what is None is left empty.
    """
    rows = [[_cell(template, one) for template in columns.values()] for one in records]
    return table(rows, list(columns), n_labels)


def _cell(template: str, record: object) -> str:
    try:
        return template.format(record)
    except TypeError:  # None has no digits
        return ""


def publish(name: str, title: str, *parts: str) -> None:
    """Print the parts of a table below its conditions, and write them to ``results/bench``."""
    text = "\n\n".join([conditions(), *parts])
    print(text, end="\n\n", flush=True)
    write_result(RESULTS / "bench" / name, f"# {title}\n\n{text}\n".encode())


def write_csv(name: str, records: Sequence[Any], folder: str = "bench") -> None:
    """Write records, dicts or dataclasses, one a line, below ``results``; None is left empty."""
    flat = [one if isinstance(one, dict) else asdict(one) for one in records]
    frame = pd.json_normalize(flat, sep="_").convert_dtypes()
    if len(frame):
        text = frame.to_csv(index=False, lineterminator="\n")
        write_result(RESULTS / folder / name, text.encode())


def save_figure(canvas: Figure, name: str) -> None:
    """Write a figure as bitmap and vectors to ``results/figures``, equal figures as equal files."""
    for kind, metadata in {"png": {"Software": None}, "svg": {"Date": None}}.items():
        stream = io.BytesIO()
        canvas.savefig(stream, format=kind, dpi=RESOLUTION, metadata=metadata)
        write_result(RESULTS / "figures" / f"{name}.{kind}", stream.getvalue())
