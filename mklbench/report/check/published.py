"""The regression check: run a few recorded splits again and compare, split by split.

Three things are compared. What is measured now, with what was recorded (`check_again`); the
verdicts that the recorded numbers get now, with those of the recorded tables (`check_verdicts`);
and with that the recorded numbers with the published ones, since a verdict is that comparison.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mklbench import interruption, resources
from mklbench.errors import DataError, InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.plan import CellResult, Executor, run_cells
from mklbench.experiments.progress import Progress
from mklbench.experiments.record import DONE, Record
from mklbench.experiments.records import Layers, RecordFile, export_records, record_path
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import NumberPlace, Report, assemble
from mklbench.report.analysis.places import CellFinder
from mklbench.report.check.comparison import Outcome, compare_splits, other_rounding
from mklbench.report.check.config import CheckConfig, CheckedCell
from mklbench.report.layout.entries import JUDGEMENTS
from mklbench.report.loading import load_table


def records_of(recorded: Path) -> Path:
    """Return the file of the records that `check_again` compares with, among the results."""
    return recorded / "check.jsonl"


def record(config: CheckConfig, recorded: Path) -> int:
    """Copy the records that the check compares with from those of the tables; return how many.

    Raises
    ------
    InputError
        If a table has no records, or the file cannot be written.
    """
    sources = {name: _recorded(recorded, name) for name in config.tables}
    cells = [sources[checked.table].as_recorded(_compose(checked)) for checked in config.cells]
    return export_records(cells, Layers(list(sources.values())), records_of(recorded))


@dataclass(frozen=True)
class Finding:
    """One line of the check: what was compared, how it ended, and what is to be said of it."""

    subject: str
    outcome: Outcome
    detail: str = ""


def check_again(
    config: CheckConfig,
    recorded: Path,
    *,
    executor: Executor | None = None,
    scratch: str | None = None,
    progress: Progress | None = None,
) -> list[Finding]:
    """Run the cells of `config` again in a temporary store and compare them with `recorded`.

    Parameters
    ----------
    config : CheckConfig
        The cells and their tolerances.
    recorded : Path
        Directory of the recorded results, with ``check.jsonl``.
    executor : Executor or None, default=None
        Takes the steps; this process if not given.
    scratch : str or None, default=None
        Where the temporary store is made; where the system has its temporary files if not given.
    progress : Progress or None, default=None
        Told of every split.
    """
    source = _source(records_of(recorded), "mklbench check --record")
    composed = [(checked, source.as_recorded(_compose(checked))) for checked in config.cells]
    absent = _data_problems([cell for _, cell in composed])
    runnable = [cell for _, cell in composed if cell.data not in absent]
    findings = []
    with interruption.temporary_directory("mklbench-check-", scratch) as directory:
        run = partial(run_cells, store=Store(directory), executor=executor, progress=progress)
        ended = {id(result.cell): result for result in run(runnable)}
        for checked, cell in composed:
            if cell.data in absent:
                findings.append(Finding(checked.label, Outcome.NOT_CHECKED, absent[cell.data]))
                continue
            before = {record.split: record for record in source.read(cell).done}
            finding = _compare_cell(checked, ended[id(cell)], before)
            if finding.outcome is Outcome.MOVED:
                # Elsewhere rounding may turn a choice between two that are as good.
                other = _other_choice(ended[id(cell)].records, before, config.blas_kernels)
                if other:
                    finding = _compare_at_choice(checked, cell, before, run, other)
            findings.append(finding)
    return findings


def check_verdicts(names: Sequence[str], recorded: Path) -> list[Finding]:
    """Compare the verdicts of the recorded numbers with those in the recorded tables.

    Parameters
    ----------
    names : sequence of str
        Names of tables.
    recorded : Path
        Directory of the recorded results, with folders ``records`` and ``tables``.
    """
    findings = []
    for name in names:
        subject = f"{name}, verdicts"
        if resources.checkout() is None and not record_path(recorded / "records", name).is_file():
            why = "they follow from the records behind the table, which are in a checkout"
            findings.append(Finding(subject, Outcome.NOT_CHECKED, why))
            continue
        report = assemble(load_table(name), CellFinder(_recorded(recorded, name)))
        path = recorded / "tables" / f"{name}.csv"
        findings.append(_compare_table(subject, report, _read_verdicts(path)))
    return findings


def passed(again: Sequence[Finding], verdicts: Sequence[Finding]) -> bool:
    """Tell whether nothing is bad and at least one cell was really run again."""
    good = all(f.outcome in (Outcome.SAME, Outcome.NOT_CHECKED) for f in (*again, *verdicts))
    return good and any(finding.outcome is Outcome.SAME for finding in again)


def describe(again: Sequence[Finding], verdicts: Sequence[Finding]) -> str:
    """Return the findings as a table, what is wrong in full, and the conclusion."""
    from tabulate import tabulate

    findings = (*again, *verdicts)
    lines = [
        [f.subject, str(f.outcome), f.detail if f.outcome is Outcome.SAME else ""] for f in findings
    ]
    parts = [tabulate(lines, ["checked", "outcome", ""], disable_numparse=True)]
    subjects: dict[str, list[str]] = {}  # by what is to be said of them: once is enough
    for finding in findings:
        if finding.outcome is not Outcome.SAME:
            subjects.setdefault(finding.detail, []).append(finding.subject)
    parts += ["\n".join([*names, f"  {detail}"]) for detail, names in subjects.items()]
    outcomes = [finding.outcome for finding in findings]
    counts = ", ".join(f"{outcomes.count(o)} {o}" for o in Outcome if o in outcomes)
    ending = "passed" if passed(again, verdicts) else "failed"
    if all(finding.outcome is Outcome.NOT_CHECKED for finding in again):
        ending = "failed, because no cell could be run again"
    return "\n\n".join([*parts, f"The check {ending}: {counts}."])


def _recorded(recorded: Path, name: str) -> RecordFile:
    return _source(record_path(recorded / "records", name), f"mklbench reproduce {name}")


def _source(path: Path, command: str) -> RecordFile:
    if not path.is_file():
        raise InputError(
            f"There is nothing to check against: {path} does not exist; {command} writes it."
        )
    return RecordFile(path)


def _compose(checked: CheckedCell) -> Cell:
    overrides = [*checked.slot.overrides, f"split.n_splits={checked.n_splits}"]
    return Cell.from_overrides(overrides)


def _data_problems(cells: Iterable[Cell]) -> dict[str, str]:
    """Return why data sets cannot be had, by name; each is tried once, as that may take a while."""
    problems = {}
    for cell in {cell.data: cell for cell in cells}.values():
        try:
            cell.dataset()
        except DataError as error:
            problems[cell.data] = str(error)
    return problems


def _compare_cell(
    checked: CheckedCell, result: CellResult, before: Mapping[int, Record]
) -> Finding:
    wanted = range(result.cell.n_splits)
    if any(split not in before for split in wanted):
        return Finding(
            checked.label,
            Outcome.NOT_RECORDED,
            f"{len(before)} of {len(wanted)} splits are recorded for this configuration and "
            f"version of the algorithm: run mklbench reproduce {checked.table}, and then mklbench "
            "check --record",
        )
    if result.status != DONE:
        return Finding(checked.label, Outcome.FAILED, _failure(result))
    moved = compare_splits(result.records, before, checked.tolerance)
    if moved:
        return Finding(checked.label, Outcome.MOVED, "; ".join(moved))
    return Finding(checked.label, Outcome.SAME, f"splits compared: {len(wanted)}")


def _failure(result: CellResult) -> str:
    broken = (record.reason for record in result.records if not record.is_done)
    return result.error or next(broken, result.status)


def _other_choice(
    now: Iterable[Record], before: Mapping[int, Record], kernels_of: Mapping[str, str]
) -> str:
    """Say what the search takes here that it did not take on another machine; "" if nothing."""
    for record in now:
        reference = before[record.split]
        rounding = other_rounding(reference, record, kernels_of)
        if record.params != reference.params and rounding:
            there, here = (_shown(each.params) for each in (reference, record))
            return f"at {there} as recorded, where the search takes {here} here ({rounding})"
    return ""


def _shown(params: Mapping[str, Any] | None) -> str:
    return ", ".join(f"{path}={value}" for path, value in (params or {}).items()) or "nothing"


def _compare_at_choice(
    checked: CheckedCell,
    cell: Cell,
    before: Mapping[int, Record],
    run: Callable[[list[Cell]], list[CellResult]],
    other: str,
) -> Finding:
    """Run a cell again with the recorded choice of each split, and compare."""
    chosen: dict[str, Mapping[str, Any]] = {}
    for split in range(cell.n_splits):
        params = before[split].params or {}
        chosen[repr(params)] = params
    records = []
    for name, params in chosen.items():
        (result,) = run([cell.without_search(params)])
        if result.status != DONE:
            return Finding(checked.label, Outcome.FAILED, _failure(result))
        records += [r for r in result.records if repr(before[r.split].params or {}) == name]
    moved = compare_splits(records, before, checked.tolerance)
    if moved:
        return Finding(checked.label, Outcome.MOVED, "; ".join([*moved, other]))
    return Finding(checked.label, Outcome.SAME, f"splits compared: {len(records)}, {other}")


def _read_verdicts(path: Path) -> dict[NumberPlace, str]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        return {
            (line["row"], line["column"], line["protocol"], line["metric"]): line["verdict"]
            for line in lines
        }
    except OSError as error:
        raise InputError(
            f"There is nothing to check against: {path} cannot be read; "
            f"mklbench reproduce {path.stem} writes it."
        ) from error
    except KeyError as error:
        raise InputError(f"{path} is no table of results: it lacks the column {error}.") from error


def _compare_table(subject: str, report: Report, before: Mapping[NumberPlace, str]) -> Finding:
    now = {place: str(number.verdict or "") for place, number in report.numbers.items()}
    moved = [
        f"{' '.join(place)}: {now.get(place, 'gone') or 'none'}, "
        f"recorded {before.get(place, 'nowhere') or 'none'}"
        for place in dict.fromkeys([*now, *before])
        if now.get(place) != before.get(place)
    ]
    if moved:
        return Finding(subject, Outcome.MOVED, "; ".join(moved))
    counts = report.verdict_counts
    judged = [verdict for verdict in JUDGEMENTS if counts[verdict]]
    text = ", ".join(f"{counts[verdict]} {verdict}" for verdict in judged)
    return Finding(subject, Outcome.SAME, text or "nothing to judge")
