"""Cells from the first check to the summary: what `mklbench run` does once they are composed."""

from __future__ import annotations

import sys
import time

from mklbench import config as configs
from mklbench import interruption
from mklbench.config import RunConfig
from mklbench.errors import InputError
from mklbench.experiments.borders import border_text
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.plan import CellResult, run_cells
from mklbench.experiments.files import check_writable_file, reason, write_atomically
from mklbench.experiments.progress import progress
from mklbench.experiments.rows import csv_text, summary, summary_grid
from mklbench.experiments.store import Store
from mklbench.grids import AUTO

# Seconds that somebody who interrupts a run waits for the number of finished splits.
_COUNTING = 0.5

_GOES_ON = "the same command goes on from there."


def execute(cells: list[Cell], options: RunConfig) -> int:
    """Run `cells`, write the CSV file and print the summary; return the exit status.

    Raises
    ------
    InputError
        If nothing could be run, for the first reason.
    KeyboardInterrupt
        With a sentence on what is kept and how to go on.
    """
    for option in ("out", "predictions"):
        if (path := getattr(options, option)) is not None:
            check_writable_file(option, path)
    store = Store(options.results_dir)
    executor = configs.executor(options.executor, options.jobs, options.timeout)
    with interruption.saying(lambda: _kept(cells, store)):
        shown = progress(options.progress, store=store)
        results = run_cells(cells, store, executor=executor, progress=shown)
    usable = [result for result in results if result.error is None or result.records]
    if not usable:
        raise InputError(next(str(result.error) for result in results))
    if options.out is not None:
        _write(options.out, usable)
    if options.predictions is not None:
        from mklbench.commands.predictions import write_predictions

        write_predictions(options.predictions, usable)
    print(summary(usable))
    for sentence in _borders(usable):
        print(sentence)
    for sentence in _published(usable):
        print(sentence)
    print(_places(options, store))
    for result in results:
        if result.error is not None:
            print(f"mklbench: error: {result.cell.label}: {result.error}", file=sys.stderr)
    return _exit_status(results)


def _borders(results: list[CellResult]) -> list[str]:
    """Return a sentence for each cell with choices at the border of what was tried."""
    sentences = []
    for result in results:
        grid = result.cell.config["search"]["grid"]
        done = [record for record in result.records if record.is_done]
        if text := border_text(done, grid):
            plain = any(values != AUTO for values in grid.values())
            remedy = ": widen the grid" if plain else ""
            sentences.append(f"{result.cell.label}: {text}{remedy}.")
    return sentences


def _published(results: list[CellResult]) -> list[str]:
    """Return what the papers print for each finished run that they have, beside its own number."""
    from mklbench.report.position import position_of

    sentences = []
    for result in results:
        position = position_of(result.cell) if result.status == "done" else None
        if position is not None:
            label = f"{result.cell.label}: " if len(results) > 1 else ""
            sentences.append(label + position.beside(result.records))
    return sentences


def _exit_status(results: list[CellResult]) -> int:
    if any(result.error is not None for result in results):
        return 2
    return 0 if all(result.status == "done" for result in results) else 1


def _write(path: str, results: list[CellResult]) -> None:
    """Write the rows as CSV, or the summary as a table in LaTeX."""
    try:
        write_atomically(path, _latex(results) if path.endswith(".tex") else csv_text(results))
    except OSError as error:
        raise InputError(f"out={path} cannot be written: {reason(error)}.") from error


def _latex(results: list[CellResult]) -> str:
    from mklbench.report.document import Grid, to_latex

    headings, body = summary_grid(results)
    n_labels = headings.index("splits")  # names, settings, and C, which may be a range
    return to_latex([Grid(headings, body, n_labels)])


def _places(options: RunConfig, store: Store) -> str:
    text = f"Records: {store.path}"
    return f"{text}   Rows: {options.out}" if options.out is not None else text


def _kept(cells: list[Cell], store: Store) -> str:
    """Return what an interrupted run leaves behind; count for a moment only, as somebody waits."""
    until = time.monotonic() + _COUNTING
    n_done = n_splits = 0
    for cell in {cell.key: cell for cell in cells}.values():
        for split in range(cell.n_splits):
            if time.monotonic() > until:
                return f"finished splits are kept in {store.path}; {_GOES_ON}"
            n_done += store.is_done(cell, split)
        n_splits += cell.n_splits
    return f"{n_done} of {n_splits} splits are finished and kept in {store.path}; {_GOES_ON}"
