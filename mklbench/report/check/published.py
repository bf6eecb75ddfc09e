"""The regression check: run a few recorded splits again and compare, split by split.

What is measured now is compared with what was recorded (`check_again`), and the verdicts that the
recorded numbers get now with those of the recorded tables (`check_verdicts`).
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from mklbench import resources
from mklbench.errors import DataError, InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.plan import CellResult, Executor, run_cells
from mklbench.experiments.progress import Progress
from mklbench.experiments.record import DONE, Record
from mklbench.experiments.records import Layers, RecordFile, export_records, record_path
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import NumberPlace, Report, assemble
from mklbench.report.analysis.places import CellFinder
from mklbench.report.check.comparison import Outcome, choice, judged
from mklbench.report.check.config import CheckConfig, CheckedCell
from mklbench.report.layout.entries import JUDGEMENTS
from mklbench.report.loading import load_table
from mklbench.report.table.part import first_splits


@dataclass(frozen=True)
class Finding:
    """One line of the check: what was compared, how it ended, and what is to be said of it."""

    subject: str
    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True)
class Recorded:
    """A cell whose first split is to be run again.

    Attributes
    ----------
    label : str
        What it is called in the findings.
    cell : Cell
        With that split alone.
    before : Record or None
        What is recorded of it, if it is.
    remedy : str
        What is to be done where it is not.
    """

    label: str
    cell: Cell
    before: Record | None
    remedy: str


def recorded_cells(config: CheckConfig, recorded: Path) -> list[Recorded]:
    """Return the cells of `config` as they are in the directory of the recorded results."""
    source = _source(records_of(recorded), "mklbench check --record")

    def of(checked: CheckedCell) -> Recorded:
        cell = source.as_recorded(_cell(checked))
        before = next(iter(source.read(cell).done), None)
        remedy = f"mklbench reproduce {checked.table}, and then mklbench check --record"
        return Recorded(checked.label, cell, before, remedy)

    return [of(checked) for checked in config.cells]


def records_of(recorded: Path) -> Path:
    """Return the file of the records that the check compares with, among the recorded results."""
    return recorded / "check.jsonl"


def record(config: CheckConfig, recorded: Path) -> int:
    """Copy the records that the check compares with from those of the tables; return how many.

    Raises
    ------
    InputError
        If a table has no records, or the file cannot be written.
    """
    sources = {name: _of_table(recorded, name) for name in config.tables}
    cells = [sources[checked.table].as_recorded(_cell(checked)) for checked in config.cells]
    return export_records(cells, Layers(list(sources.values())), records_of(recorded))


def check_again(
    listed: Sequence[Recorded],
    *,
    executor: Executor | None = None,
    scratch: str | None = None,
    progress: Progress | None = None,
) -> list[Finding]:
    """Run one split of recorded cells again in a temporary store and compare.

    Where cross-validation takes another of two candidates that are as good, the split is run at
    the recorded one and compared there.

    Parameters
    ----------
    listed : sequence of Recorded
        The cells.
    executor : Executor or None, default=None
        Takes the steps; this process if not given.
    scratch : str or None, default=None
        Where the temporary store is made; where the system has its temporary files if not given.
    progress : Progress or None, default=None
        Told of every split.
    """
    absent = _data_problems([item.cell for item in listed])
    runnable = [item.cell for item in listed if item.cell.data not in absent]
    with TemporaryDirectory(prefix="mklbench-check-", dir=scratch) as directory:
        run = partial(run_cells, store=Store(directory), executor=executor, progress=progress)
        ended = {id(result.cell): result for result in run(runnable)}
        return [
            Finding(item.label, Outcome.NOT_CHECKED, absent[item.cell.data])
            if item.cell.data in absent
            else _compare_cell(item, ended[id(item.cell)], run)
            for item in listed
        ]


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
        report = assemble(load_table(name), CellFinder(_of_table(recorded, name)))
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


def _cell(checked: CheckedCell) -> Cell:
    return Cell.from_overrides(first_splits(checked.slot, 1).overrides)


def _of_table(recorded: Path, name: str) -> RecordFile:
    return _source(record_path(recorded / "records", name), f"mklbench reproduce {name}")


def _source(path: Path, command: str) -> RecordFile:
    if not path.is_file():
        raise InputError(
            f"There is nothing to check against: {path} does not exist; {command} writes it."
        )
    return RecordFile(path)


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
    item: Recorded, result: CellResult, run: Callable[[list[Cell]], list[CellResult]]
) -> Finding:
    before, turned = item.before, ""
    if before is None:
        return Finding(
            item.label,
            Outcome.NOT_RECORDED,
            "nothing is recorded for this configuration and version of the algorithm: "
            f"run {item.remedy}",
        )
    if result.status == DONE:
        is_as_good, turned = choice(item.cell, result.records[0], before)
        if not is_as_good:
            return Finding(item.label, Outcome.MOVED, turned)
        if turned:
            (result,) = run([item.cell.without_search(before.params or {})])
    if result.status != DONE:
        return Finding(item.label, Outcome.FAILED, _failure(result))
    return Finding(item.label, *judged(item.cell, result.records[0], before, turned))


def _failure(result: CellResult) -> str:
    broken = (record.reason for record in result.records if not record.is_done)
    return result.error or next(broken, result.status)


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
