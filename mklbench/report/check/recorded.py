"""What the regression check compares with: recorded splits, and the verdicts of recorded tables.

The splits are of the runs that ``configs/check.yaml`` names by their positions in tables. An
algorithm or a kernel that none of them has needs no entry there: `mklbench check --record` runs one
cheap split of it. All are in ``check.jsonl``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mklbench import resources
from mklbench.errors import DataError, InputError, check_known, unknown
from mklbench.experiments.execution.plan import Executor, run_all
from mklbench.experiments.progress import Progress
from mklbench.experiments.record import DONE
from mklbench.experiments.records import (
    Layers,
    RecordFile,
    export_records,
    record_path,
)
from mklbench.experiments.run import Run
from mklbench.experiments.store import Store
from mklbench.report.analysis.assemble import assemble
from mklbench.report.analysis.places import RunFinder
from mklbench.report.check.comparison import Finding, Outcome
from mklbench.report.check.rerun import Rerun, run_again
from mklbench.report.loading import load_table
from mklbench.report.table.paper_table import Slot
from mklbench.report.table.part import first_splits
from mklbench.report.table.verdict import JUDGING

_PLACE = ["row", "column", "protocol", "metric"]

# One split of a set that comes with the program, small enough for any algorithm.
_CHEAP = (
    "data=wdbc", "search=fixed", "split.test_fraction=null", "split.n_train=100",
    "split.n_test=200", "split.n_splits=1",
)  # fmt: skip
# Of a kernel: an algorithm that takes any, and features from 0 to 1, as kernels of histograms ask.
_OF_A_KERNEL = ("algo=svm", "++data.scaling=unit", "split.scaling=none")
_NOT_RECORDED = (
    "nothing is recorded for this configuration and version of the algorithm: run mklbench check "
    "--record, of a table after mklbench reproduce"
)


@dataclass(frozen=True)
class CheckedRun:
    """The run at a position of a paper table, of which the first split is run again."""

    table: str
    slot: Slot

    def run(self) -> Run:
        """Return the run with that split alone."""
        return Run.from_overrides(first_splits(self.slot, 1).overrides)


def load_check(path: Path | None = None, tables: Sequence[str] = ()) -> list[CheckedRun]:
    """Load ``configs/check.yaml``, or the file given, as far as it is of some tables, or of all.

    Raises
    ------
    InputError
        If an entry names a run that its table does not have, or there is none of a table.
    """
    entries = resources.read_yaml(path or resources.configs() / "check.yaml")["runs"]
    named = {entry["table"] for entry in entries}
    check_known("table to check", tables, named)
    slots = {
        name: {slot.place: slot for slot in load_table(name).slots()}
        for name in sorted(named.intersection(tables or named))
    }
    found = []
    for entry in (entry for entry in entries if entry["table"] in slots):
        of_table, place = slots[entry["table"]], (entry["row"], entry["column"], entry["protocol"])
        if place not in of_table:
            names = map(" ".join, of_table)
            raise unknown(f"check.yaml: position of {entry['table']}", " ".join(place), names)
        found.append(CheckedRun(entry["table"], of_table[place]))
    return found


def recorded_runs(
    entries: Sequence[CheckedRun], recorded: Path, *, also_unlisted: bool = True
) -> list[Rerun | Finding]:
    """Return the splits to run again as they are recorded, or that nothing is recorded of one.

    Parameters
    ----------
    entries : sequence of CheckedRun
        The runs of tables.
    recorded : Path
        Directory of the recorded results.
    also_unlisted : bool, default=True
        Whether those come with them that none of the entries has (`unlisted`).
    """
    source = RecordFile(_existing(records_of(recorded), "mklbench check --record"))
    runs = [(f"{one.table}, {' '.join(one.slot.place)}", one.run()) for one in entries]
    if also_unlisted:
        runs += [(f"cheap split, {name}", run) for name, run in unlisted(entries).items()]
    found: list[Rerun | Finding] = []
    for label, run in runs:
        edition = source.as_recorded(run)
        if done := source.read(edition).done:
            found.append(Rerun(label, edition, done[0]))
        else:
            found.append(Finding(label, Outcome.NOT_RECORDED, _NOT_RECORDED))
    return found


def unlisted(entries: Sequence[CheckedRun]) -> dict[str, Run]:
    """Return a cheap run of each algorithm and each builder of kernels that none of `entries` has.

    They are by the override that chooses it, ``algo=NAME`` or ``kernel=NAME``. An algorithm gets
    the kernels that its config chooses. Kernels of files of the user's own have none.
    """
    listed = {override for entry in entries for override in entry.slot.overrides}
    names = [f"algo={name}" for name in resources.choices("algo")]
    runs = {name: Run.from_overrides([name, *_CHEAP]) for name in names if name not in listed}
    there = [*(entry.run() for entry in entries), *runs.values()]
    built = {run.config.kernel["_target_"] for run in there}
    for name, path in resources.choices("kernel").items():
        described = resources.read_yaml(path)
        if described["_target_"] not in built and "???" not in described.values():
            chosen = f"kernel={name}"
            runs[chosen] = Run.from_overrides([chosen, *_OF_A_KERNEL, *_CHEAP])
    return runs


def records_of(recorded: Path) -> Path:
    """Return the file of the records that the check compares with."""
    return recorded / "check.jsonl"


def record_runs(entries: Sequence[CheckedRun], recorded: Path, *, jobs: int = 1) -> list[str]:
    """Write the records that the check compares with; return what was run for it.

    Those of tables are copied. Of what none of the entries has (`unlisted`) the one split is run
    that is not recorded yet.

    Raises
    ------
    InputError
        If a table has no records, a run does not end, or the file cannot be written.
    """
    sources = {entry.table: _of_table(recorded, entry.table) for entry in entries}
    listed = [sources[entry.table].as_recorded(entry.run()) for entry in entries]
    others, path = unlisted(entries), records_of(recorded)
    before = Layers([RecordFile(path)] if path.is_file() else [])
    missing = [name for name, run in others.items() if not before.read(run).done]
    with TemporaryDirectory(prefix="mklbench-check-") as directory:
        store = Store(directory)
        ended = run_all([others[name] for name in missing], store, jobs=jobs)
        for name, result in zip(missing, ended, strict=True):
            if result.status != DONE:
                failed = next((r.reason for r in result.records if r.error), "")
                raise InputError(
                    f"{name} cannot be recorded: {result.error or failed or result.status}"
                )
        layers = Layers([*sources.values(), before, store])
        export_records([*listed, *others.values()], layers, path)
    return missing


def check_again(
    listed: Sequence[Rerun | Finding],
    executor: Executor,
    *,
    scratch: str | None = None,
    progress: Progress | None = None,
) -> list[Finding]:
    """Run recorded splits again in a temporary store and compare.

    Parameters
    ----------
    listed : sequence of Rerun or Finding
        The splits, and what was found out before they are run.
    executor : Executor
        Takes the steps.
    scratch : str or None, default=None
        Where the temporary store is made; where the system has its temporary files if not given.
    progress : Progress or None, default=None
        Told of every split.
    """
    findings = [item for item in listed if isinstance(item, Finding)]
    reruns = [item for item in listed if isinstance(item, Rerun)]
    absent = {}
    for run in {item.run.data: item.run for item in reruns}.values():
        try:
            run.dataset()
        except DataError as error:
            absent[run.data] = str(error)
    findings += [
        Finding(item.label, Outcome.NOT_CHECKED, absent[item.run.data])
        for item in reruns
        if item.run.data in absent
    ]
    with TemporaryDirectory(prefix="mklbench-check-", dir=scratch) as directory:
        at_hand = [item for item in reruns if item.run.data not in absent]
        ended = run_again(at_hand, Store(directory), executor, progress)
    return [*findings, *ended.values()]


def check_verdicts(name: str, recorded: Path) -> Finding:
    """Compare the verdicts of a table's recorded numbers with those in the recorded table.

    Parameters
    ----------
    name : str
        Name of the table.
    recorded : Path
        Directory of the recorded results, with folders ``records`` and ``tables``.
    """
    subject = f"{name}, verdicts"
    if resources.checkout() is None and not record_path(recorded / "records", name).is_file():
        why = "they follow from the records behind the table, which are in a checkout"
        return Finding(subject, Outcome.NOT_CHECKED, why)
    report = assemble(load_table(name), RunFinder(_of_table(recorded, name)))
    from pandas import read_csv

    path = _existing(recorded / "tables" / f"{name}.csv", f"mklbench reproduce {name}")
    table = read_csv(path, dtype=str, keep_default_na=False)
    before: dict[Any, str] = table.set_index(_PLACE)["verdict"].to_dict()
    now: dict[Any, str] = {at: str(one.verdict or "") for at, one in report.numbers.items()}
    moved = [
        f"{' '.join(place)}: {now.get(place, 'gone') or 'none'}, "
        f"recorded {before.get(place, 'nowhere') or 'none'}"
        for place in {**now, **before}
        if now.get(place) != before.get(place)
    ]
    if moved:
        return Finding(subject, Outcome.MOVED, "; ".join(moved))
    counts = report.verdict_counts
    text = ", ".join(f"{counts[verdict]} {verdict}" for verdict in JUDGING if counts[verdict])
    return Finding(subject, Outcome.SAME, text or "nothing to judge")


def _of_table(recorded: Path, name: str) -> RecordFile:
    path = record_path(recorded / "records", name)
    return RecordFile(_existing(path, f"mklbench reproduce {name}"))


def _existing(path: Path, command: str) -> Path:
    if not path.is_file():
        raise InputError(
            f"There is nothing to check against: {path} does not exist; {command} writes it."
        )
    return path
