"""The grammar of the command line: what each sub-command takes, and what it calls.

Only the standard library is imported here, as in `mklbench.cli`; each command imports what it
needs when it runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from mklbench._version import __version__
from mklbench.commands.options import (
    STORE,
    Parser,
    config_dir_argument,
    executor_arguments,
    executor_of,
    jobs_argument,
    minutes,
    n_splits,
    names_and_overrides,
    position_arguments,
    seconds,
    source_arguments,
    split_number,
    store_argument,
)
from mklbench.errors import InputError
from mklbench.report.formats import FORMATS

LISTS = ("algos", "kernels", "data", "splits", "searches", "executors", "tables")


_RUN_SUMMARY = "run one cell, or with -m a sweep of cells (options are Hydra overrides)"


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    """`run` is dispatched before argparse; here it only has a line in the help."""


def _run(parsed: argparse.Namespace) -> int:
    from mklbench.commands.run import run

    return run([])


def _table_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="TABLE", help="as in `mklbench list tables`")
    parser.add_argument("--format", choices=FORMATS, default="md", help="default: md")
    parser.add_argument("--out", metavar="FILE", help="write it there instead of printing it")
    parser.add_argument(
        "--all", action="store_true", help="also what was tried beyond the paper's table"
    )
    position_arguments(parser)
    source_arguments(parser)


def _table(parsed: argparse.Namespace) -> int:
    from mklbench.commands.table import table
    from mklbench.experiments.store import Store
    from mklbench.report.table.part import TableSelection

    text = table(
        parsed.name,
        store=Store(parsed.results_dir),
        fmt=parsed.format,
        out=parsed.out,
        recorded=parsed.recorded,
        config_dir=parsed.config_dir,
        selection=TableSelection(parsed.row, parsed.column, parsed.protocol),
        whole=parsed.all,
    )
    print(text.rstrip() if parsed.out is None else f"Wrote {parsed.out}")
    return 0


def _reproduce_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="TABLE", help="default: every table")
    executor_arguments(parser)
    position_arguments(parser)
    parser.add_argument("--splits", type=n_splits, metavar="N", help="only the first N splits")
    run_nothing = parser.add_mutually_exclusive_group()
    run_nothing.add_argument(
        "--dry-run", action="store_true", help="say what would be run, and run nothing"
    )
    run_nothing.add_argument(
        "--write-only", action="store_true", help="write what is finished, and run nothing"
    )
    run_nothing.add_argument(
        "--minutes",
        type=minutes,
        metavar="N",
        help="rerun as many recorded splits as end in N minutes, and write the recorded tables "
        "with a mark at each number: confirmed here, moved or recorded only",
    )
    run_nothing.add_argument(
        "--list",
        action="store_true",
        help="print the positions with the time and the command of each, and run nothing",
    )
    parser.add_argument(
        "--from-records",
        action="store_true",
        help="take over finished splits from the records in --out-dir instead of running them",
    )
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="that a split may take")
    parser.add_argument(
        "--out-dir",
        metavar="DIR",
        help="for tables, figures, records; default: results, and results/reproduced with "
        "--minutes, which keeps its splits there, too",
    )
    store_argument(parser)
    config_dir_argument(parser)


def _reproduce(parsed: argparse.Namespace) -> int:
    from mklbench.commands.reproduce import print_positions, reproduce
    from mklbench.experiments.store import Store
    from mklbench.report.table.part import TableSelection

    names, overrides = names_and_overrides(parsed)
    selection = TableSelection(parsed.row, parsed.column, parsed.protocol, parsed.splits)
    if parsed.minutes is not None:
        return _confirm(parsed, names, overrides)
    results_dir = parsed.out_dir or "results"
    if parsed.list:
        return print_positions(names, selection, results_dir, parsed.config_dir)
    return reproduce(
        names,
        store=Store(parsed.results_dir),
        jobs=parsed.jobs,
        executor=executor_of(overrides, parsed.jobs, parsed.timeout, parsed.config_dir),
        dry_run=parsed.dry_run,
        from_records=parsed.from_records,
        write_only=parsed.write_only,
        results_dir=results_dir,
        timeout=parsed.timeout,
        config_dir=parsed.config_dir,
        selection=selection,
    )


def _confirm(parsed: argparse.Namespace, names: list[str], overrides: list[str]) -> int:
    from mklbench.commands.confirm import REPRODUCED, confirm

    others = ("row", "column", "protocol", "splits", "from_records", "timeout")
    given = [f"--{name.replace('_', '-')}" for name in others if getattr(parsed, name)]
    given += ["--results-dir"] if parsed.results_dir != STORE else []
    if given := [*given, *overrides]:
        raise InputError(
            f"--minutes {parsed.minutes:g} repeats whole tables on this machine: leave "
            f"{given[0]} out."
        )
    return confirm(
        names,
        minutes=parsed.minutes,
        jobs=parsed.jobs,
        results_dir=parsed.out_dir or REPRODUCED,
        config_dir=parsed.config_dir,
    )


def _data_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="ACTION", dest="action")
    for action, summary in (
        ("list", "the data sets: size, classes, origin, whether they are at hand"),
        ("fetch", "download data sets into the cache"),
        ("verify", "read data sets and compare their content with the published digests"),
    ):
        child = actions.add_parser(action, help=summary, description=summary)
        child.add_argument("names", nargs="*", metavar="NAME", help="default: all")
        config_dir_argument(child)
    summary = "what is understood of your own data, and the first rows"
    child = actions.add_parser("show", help=summary, description=summary)
    child.add_argument("names", nargs="+", metavar="OVERRIDE", help="data=csv data.path=mine.csv")
    config_dir_argument(child)


def _data(parsed: argparse.Namespace) -> int:
    from mklbench.commands import data

    if parsed.action == "show":
        return data.show(parsed.names, parsed.config_dir)
    return data.run(parsed.action, parsed.names, parsed.config_dir)


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=LISTS)
    config_dir_argument(parser)


def _list(parsed: argparse.Namespace) -> int:
    from mklbench.commands import listing

    return listing.run(parsed.what, parsed.config_dir)


def _plot_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="FIGURE", help="one of the figures of the tables")
    parser.add_argument("--out", metavar="FILE", help="a .png, .pdf or .svg file")
    source_arguments(parser)


def _plot(parsed: argparse.Namespace) -> int:
    from mklbench.commands.plot import plot
    from mklbench.experiments.store import Store

    path = plot(
        parsed.name,
        store=Store(parsed.results_dir),
        out=parsed.out,
        recorded=parsed.recorded,
        config_dir=parsed.config_dir,
    )
    print(f"Wrote {path}")
    return 0


def _report_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", default="report.html", metavar="FILE", help="the page; default: report.html"
    )
    parser.add_argument(
        "--results-dir", metavar="DIR", help="a store of your own, beside the recorded results"
    )
    config_dir_argument(parser)


def _report(parsed: argparse.Namespace) -> int:
    from mklbench.commands.report import report

    path = report(parsed.out, results_dir=parsed.results_dir, config_dir=parsed.config_dir)
    print(f"Wrote {path}")
    return 0


def _check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="TABLE", help="default: all that it covers")
    executor_arguments(parser)
    parser.add_argument(
        "--record",
        action="store_true",
        help="write what the check compares with: from the tables' records, and a cheap cell of "
        "each algorithm that no table has",
    )
    parser.add_argument(
        "--recorded", metavar="DIR", help="the recorded results; default: those of the program"
    )


def _check(parsed: argparse.Namespace) -> int:
    from mklbench.commands.check import check, record

    names, overrides = names_and_overrides(parsed)
    if parsed.record:
        if parsed.names:
            raise InputError(
                "--record writes all that the check compares with: leave tables and executors out."
            )
        return record(jobs=parsed.jobs, results_dir=parsed.recorded)
    executor = executor_of(overrides, parsed.jobs)
    return check(names=names, jobs=parsed.jobs, executor=executor, results_dir=parsed.recorded)


def _status_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--watch",
        type=seconds,
        nargs="?",
        const=10.0,
        metavar="SECONDS",
        help="show it on the terminal until Ctrl-C, again after so many seconds; default: 10",
    )
    store_argument(parser)


def _status(parsed: argparse.Namespace) -> int:
    from mklbench.commands.status import status
    from mklbench.experiments.store import Store

    return status(Store(parsed.results_dir), parsed.watch)


def _doctor_arguments(parser: argparse.ArgumentParser) -> None:
    store_argument(parser)


def _doctor(parsed: argparse.Namespace) -> int:
    from mklbench.commands.doctor import doctor
    from mklbench.experiments.store import Store

    return doctor(Store(parsed.results_dir))


def _redo_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "mklbench redo [OVERRIDE ...] [-m] [--failed] [--split N] [--results-dir DIR]"
    parser.epilog = (
        "The cells are named by the overrides of their run; none of these, with --failed, means "
        "every cell of the store."
    )
    parser.set_defaults(overrides=[])
    parser.add_argument("-m", "--multirun", action="store_true", help="of a sweep of cells")
    parser.add_argument("--failed", action="store_true", help="only failures and timeouts")
    parser.add_argument(
        "--split",
        type=split_number,
        action="append",
        default=[],
        metavar="N",
        help="only this split; may be given several times",
    )
    parser.add_argument("--results-dir", metavar="DIR", help=f"the store; default: {STORE}")
    config_dir_argument(parser)


def _redo(parsed: argparse.Namespace) -> int:
    from mklbench.commands.redo import redo

    return redo(
        parsed.overrides,
        sweep=parsed.multirun,
        failed=parsed.failed,
        splits=parsed.split,
        results_dir=parsed.results_dir,
        config_dir=parsed.config_dir,
    )


def _compare_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "mklbench compare algo=NAME [OVERRIDE ...] [--table TABLE] [--quick] [--jobs N] "
        "[--results-dir DIR] [--config-dir DIR]"
    )
    parser.epilog = (
        "Data, splits and folds are those of the comparison, and so are the grid of C and the "
        "kernels unless overrides name others."
    )
    parser.set_defaults(overrides=[])
    parser.add_argument(
        "--table",
        metavar="TABLE",
        default="all_methods",
        help="a recorded comparison; default: all_methods",
    )
    parser.add_argument("--quick", action="store_true", help="five cheap sets instead of all")
    jobs_argument(parser)
    store_argument(parser)
    config_dir_argument(parser)


def _compare(parsed: argparse.Namespace) -> int:
    from mklbench.commands.compare import compare

    return compare(
        parsed.overrides,
        table_name=parsed.table,
        quick=parsed.quick,
        jobs=parsed.jobs,
        results_dir=parsed.results_dir,
        config_dir=parsed.config_dir,
    )


def _export_arguments(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(required=True, metavar="WHAT", dest="what")
    summary = "fit the model of a cell as an estimator of scikit-learn, and write it to a file"
    model = kinds.add_parser("model", help=summary, description=summary)
    model.usage = (
        "mklbench export model [OVERRIDE ...] --out FILE [--split N] [--results-dir DIR] "
        "[--config-dir DIR]"
    )
    model.epilog = "The cell is named by the overrides of its run."
    model.set_defaults(overrides=[])
    model.add_argument(
        "--out", required=True, metavar="FILE", help="a .skops or .joblib file to write"
    )
    model.add_argument(
        "--split",
        type=split_number,
        metavar="N",
        help="fit the training part of this split, and compare with what is recorded of its test "
        "part; default: all rows",
    )
    model.add_argument("--results-dir", metavar="DIR", help=f"the store; default: {STORE}")
    config_dir_argument(model)


def _export(parsed: argparse.Namespace) -> int:
    from mklbench.commands.export import export_model

    return export_model(
        parsed.overrides,
        out=parsed.out,
        split=parsed.split,
        results_dir=parsed.results_dir,
        config_dir=parsed.config_dir,
    )


COMMANDS: dict[
    str,
    tuple[
        str,
        Callable[[argparse.ArgumentParser], None],
        Callable[[argparse.Namespace], int],
    ],
] = {
    "run": (_RUN_SUMMARY, _no_arguments, _run),
    "table": ("print a paper's table from what has been run", _table_arguments, _table),
    "reproduce": ("run what the tables need, then write them", _reproduce_arguments, _reproduce),
    "status": (
        "say what of the store is done, running or failed",
        _status_arguments,
        _status,
    ),
    "redo": ("forget a cell, a split or failures, to run them again", _redo_arguments, _redo),
    "export": ("write the model of a cell for use elsewhere", _export_arguments, _export),
    "data": ("list, fetch, verify or show data sets", _data_arguments, _data),
    "list": ("list the choices of a config group", _list_arguments, _list),
    "plot": ("draw a paper's figure from what has been run", _plot_arguments, _plot),
    "report": (
        "write everything that is recorded as one HTML page",
        _report_arguments,
        _report,
    ),
    "check": ("rerun a fast part and compare with the recorded numbers", _check_arguments, _check),
    "compare": (
        "run a method on many sets, and rank it among all recorded ones",
        _compare_arguments,
        _compare,
    ),
    "doctor": (
        "say what this machine offers, what is wrong and what slows it down",
        _doctor_arguments,
        _doctor,
    ),
}


def read(arguments: list[str]) -> argparse.Namespace:
    """Return what the arguments of a sub-command say; its ``handler`` takes that.

    Raises
    ------
    InputError
        If they are not in the grammar.
    """
    parsed, left = parser().parse_known_args(arguments)
    if "overrides" in parsed:  # they may stand between the flags, which argparse cannot do
        parsed.overrides = [text for text in left if not text.startswith("-")]
        left = [text for text in left if text.startswith("-")]
    if left:
        raise InputError(
            f"{' '.join(left)} is not known to mklbench {parsed.command} (see mklbench "
            f"{parsed.command} --help)."
        )
    return parsed


def parser() -> argparse.ArgumentParser:
    """Return what reads the arguments of all sub-commands."""
    whole = Parser(
        prog="mklbench",
        description="The experiments of the multiple-kernel-learning papers, run again.",
        epilog='Shell completion: eval "$(mklbench -sc install=bash)"',
    )
    whole.add_argument(
        "--version", action="version", version=f"mklbench {__version__}", help="say which it is"
    )
    commands = whole.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for name, (summary, add_arguments, handler) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        add_arguments(command)
        command.set_defaults(handler=handler)
    return whole
