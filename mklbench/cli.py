"""The command line: sub-commands, and what a user sees of an error.

Only the standard library is imported here, so that ``mklbench --help`` answers at once; each
command imports what it needs when it runs.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TextIO

from mklbench import interruption
from mklbench._version import __version__
from mklbench.errors import Detached, InputError, unknown
from mklbench.report.formats import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mklbench.experiments.execution.plan import Executor

INPUT_ERROR, FAILED, INTERRUPTED = 2, 1, 130

LISTS = ("algos", "kernels", "data", "splits", "searches", "executors", "tables")
STORE = "results/store"
MAX_JOBS = 1024  # as in mklbench.config.schemas, which is not imported for every --help

_RUN_SUMMARY = "run one cell, or with -m a sweep of cells (options are Hydra overrides)"


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and whose flags are written out."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        # argparse lists the choices in the words of the Python version, and suggests none.
        if action.choices is not None and value not in action.choices:
            name = action.option_strings[0] if action.option_strings else str(action.dest)
            raise unknown(name, value, action.choices)

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see {self.prog} --help).")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status.

    0: done; 1: a cell or a check failed; 2: something the user can mend, said in one sentence on
    stderr; 130: interrupted; 143: terminated.

    Parameters
    ----------
    argv : sequence of str or None, default=None
        The arguments, to be run in this process. Without them this is the program: it takes
        those of the process, and runs under supervision (`mklbench.supervision`).
    """
    if argv is not None:
        return _main(list(argv))
    from mklbench.supervision import supervise

    return supervise(_program)


def _program() -> int:
    """Be the program: on the streams, in the directory and with the arguments of the process."""
    from mklbench.commands import streams

    try:
        streams.prepare()
        _check_directory()
    except InputError as error:
        return _refuse(error)
    warnings.showwarning = _show_warning
    if sys.argv[1:2] == ["table"] or "--dry-run" in sys.argv[1:]:
        # All that these read is in use to their end: to look for garbage takes a quarter of it.
        gc.disable()
    return _main(sys.argv[1:])


def _main(arguments: list[str]) -> int:
    try:
        status = _dispatch(arguments)
        sys.stdout.flush()
    except InputError as error:
        return _refuse(error)
    except Detached as detached:
        print(detached)
        return 0
    except KeyboardInterrupt as interrupt:  # in a process that is not the program's own
        sentence = f": {interrupt}" if interrupt.args else "."
        print(f"mklbench: interrupted{sentence}", file=sys.stderr)
        return INTERRUPTED
    except MemoryError as error:
        print(f"mklbench: error: the memory did not suffice: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # the reader of stdout has gone, as in `mklbench list data | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED
    except OSError as error:  # of the system that we run on, such as a full disk
        name = f"{error.filename}: " if error.filename is not None else ""
        reason = (error.strerror or str(error) or type(error).__name__).lower()
        return _refuse(InputError(f"{name}{reason}."))
    interruption.checkpoint()
    return status


def _refuse(error: InputError) -> int:
    interruption.checkpoint()  # it may come of the tidying up
    print(f"mklbench: error: {error}", file=sys.stderr)
    return INPUT_ERROR


def _check_directory() -> None:
    try:
        os.getcwd()
    except OSError as error:
        raise InputError(
            "The working directory does not exist any more: change to one that does."
        ) from error


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning as it is to be read by a user: in one line."""
    print(f"mklbench: warning: {' '.join(str(message).split())}", file=file or sys.stderr)


def _dispatch(arguments: list[str]) -> int:
    # Hydra parses what follows `run` itself; argparse would refuse its flags.
    if arguments[:1] == ["run"]:
        from mklbench.experiments.execution.starting import start_ahead

        start_ahead(arguments[1:])  # before what is imported next, which takes as long
        from mklbench.commands.run import run

        return _carried_out(lambda: run(arguments[1:]))
    if arguments[:1] in (["-sc"], ["--shell-completion"]):
        from mklbench.commands.completion import complete

        return complete(arguments, list(_COMMANDS))
    parsed, left = _parser().parse_known_args(arguments)
    if "overrides" in parsed:  # they may stand between the flags, which argparse cannot do
        parsed.overrides = [text for text in left if not text.startswith("-")]
        left = [text for text in left if text.startswith("-")]
    if left:
        raise InputError(
            f"{' '.join(left)} is not known to mklbench {parsed.command} (see mklbench "
            f"{parsed.command} --help)."
        )
    handler: Callable[[argparse.Namespace], int] = parsed.handler
    return _carried_out(lambda: handler(parsed))


def _carried_out(command: Callable[[], int]) -> int:
    """Return the exit status of a command, which no code that it runs can take for its own."""
    try:
        return command()
    except SystemExit as end:
        print(
            f"mklbench: error: the code that was run called sys.exit({end.code}).", file=sys.stderr
        )
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="mklbench",
        description="The experiments of the multiple-kernel-learning papers, run again.",
        epilog='Shell completion: eval "$(mklbench -sc install=bash)"',
    )
    parser.add_argument(
        "--version", action="version", version=f"mklbench {__version__}", help="say which it is"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for name, (summary, add_arguments, handler) in _COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        add_arguments(command)
        command.set_defaults(handler=handler)
    return parser


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    """`run` is dispatched before argparse; here it only has a line in the help."""


def _run(parsed: argparse.Namespace) -> int:
    from mklbench.commands.run import run

    return run([])


def _table_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="TABLE", help="as in `mklbench list tables`")
    parser.add_argument("--format", choices=FORMATS, default="md", help="default: md")
    parser.add_argument("--out", metavar="FILE", help="write it there instead of printing it")
    _source_arguments(parser)


def _table(parsed: argparse.Namespace) -> int:
    from mklbench.commands.table import table
    from mklbench.experiments.store import Store

    text = table(
        parsed.name,
        store=Store(parsed.results_dir),
        fmt=parsed.format,
        out=parsed.out,
        recorded=parsed.recorded,
        config_dir=parsed.config_dir,
    )
    print(text.rstrip() if parsed.out is None else f"Wrote {parsed.out}")
    return 0


def _reproduce_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="TABLE", help="default: every table")
    _executor_arguments(parser)
    parser.add_argument(
        "--detach", action="store_true", help="of another executor: submit, and do not wait"
    )
    run_nothing = parser.add_mutually_exclusive_group()
    run_nothing.add_argument(
        "--dry-run", action="store_true", help="say what would be run, and run nothing"
    )
    run_nothing.add_argument(
        "--write-only", action="store_true", help="write what is finished, and run nothing"
    )
    parser.add_argument(
        "--from-records",
        action="store_true",
        help="take over finished splits from the records in --out-dir instead of running them",
    )
    parser.add_argument(
        "--timeout", type=_seconds, metavar="SECONDS", help="of computing that a cell may take"
    )
    parser.add_argument(
        "--out-dir", default="results", metavar="DIR", help="for tables, figures, records"
    )
    _store_argument(parser)
    _config_dir_argument(parser)


def _reproduce(parsed: argparse.Namespace) -> int:
    from mklbench.commands.detaching import detached
    from mklbench.commands.reproduce import reproduce
    from mklbench.experiments.store import Store

    names, overrides = _overrides(parsed)
    if parsed.detach:
        overrides.append(detached(overrides))
    return reproduce(
        names,
        store=Store(parsed.results_dir),
        jobs=parsed.jobs,
        executor=_executor(overrides, parsed.jobs, parsed.timeout, parsed.config_dir),
        dry_run=parsed.dry_run,
        from_records=parsed.from_records,
        write_only=parsed.write_only,
        results_dir=parsed.out_dir,
        timeout=parsed.timeout,
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
        _config_dir_argument(child)


def _data(parsed: argparse.Namespace) -> int:
    from mklbench.commands import data

    return data.run(parsed.action, parsed.names, parsed.config_dir)


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=LISTS)
    _config_dir_argument(parser)


def _list(parsed: argparse.Namespace) -> int:
    from mklbench.commands import listing

    return listing.run(parsed.what, parsed.config_dir)


def _plot_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="FIGURE", help="one of the figures of the tables")
    parser.add_argument("--out", metavar="FILE", help="a .png, .pdf or .svg file")
    _source_arguments(parser)


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


def _check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="TABLE", help="default: all that it covers")
    _executor_arguments(parser)
    parser.add_argument(
        "--all",
        action="store_true",
        help="rerun one split of every cell that other sources than those at hand measured",
    )
    parser.add_argument(
        "--minutes", type=_minutes, metavar="N", help="with --all: stop, and go on the next time"
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="record a cheap cell of each algorithm that the check does not have yet",
    )
    parser.add_argument(
        "--recorded", metavar="DIR", help="the recorded results; default: those of the program"
    )


def _check(parsed: argparse.Namespace) -> int:
    from mklbench.commands.check import check, check_all, record

    names, overrides = _overrides(parsed)
    if parsed.record:
        if parsed.names or parsed.all or parsed.minutes is not None:
            raise InputError(
                "--record is for algorithms that no table has: leave tables, executors, --all and "
                "--minutes out."
            )
        return record(jobs=parsed.jobs, results_dir=parsed.recorded)
    for text in overrides:
        if text.startswith("executor.detach="):
            raise InputError(
                "executor.detach is not for mklbench check, which compares what the jobs give: "
                "leave it out."
            )
    executor = _executor(overrides, parsed.jobs)
    if parsed.all:
        return check_all(
            names,
            jobs=parsed.jobs,
            executor=executor,
            minutes=parsed.minutes,
            results_dir=parsed.recorded,
        )
    if parsed.minutes is not None:
        raise InputError(f"--minutes {parsed.minutes:g} is for --all: add it, or leave this out.")
    return check(names=names, jobs=parsed.jobs, executor=executor, results_dir=parsed.recorded)


def _status_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--watch",
        type=_seconds,
        nargs="?",
        const=10.0,
        metavar="SECONDS",
        help="show it on the terminal until Ctrl-C, again after so many seconds; default: 10",
    )
    _store_argument(parser)


def _status(parsed: argparse.Namespace) -> int:
    from mklbench.commands.status import status
    from mklbench.experiments.store import Store

    return status(Store(parsed.results_dir), parsed.watch)


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
        type=_split,
        action="append",
        default=[],
        metavar="N",
        help="only this split; may be given several times",
    )
    parser.add_argument("--results-dir", metavar="DIR", help=f"the store; default: {STORE}")
    _config_dir_argument(parser)


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
        type=_split,
        metavar="N",
        help="fit the training part of this split, and compare with what is recorded of its test "
        "part; default: all rows",
    )
    model.add_argument("--results-dir", metavar="DIR", help=f"the store; default: {STORE}")
    _config_dir_argument(model)


def _export(parsed: argparse.Namespace) -> int:
    from mklbench.commands.export import export_model

    return export_model(
        parsed.overrides,
        out=parsed.out,
        split=parsed.split,
        results_dir=parsed.results_dir,
        config_dir=parsed.config_dir,
    )


def _source_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--recorded", action="store_true", help="from the recorded results, not from the store"
    )
    _store_argument(parser)
    _config_dir_argument(parser)


def _store_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--results-dir", default=STORE, metavar="DIR", help=f"the store; default: {STORE}"
    )


def _config_dir_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config-dir", metavar="DIR", help="your own configs: algo/, data/, ...")


def _jobs_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=_count, default=1, metavar="N", help="worker processes")


def _executor_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says where steps are taken; the executor itself stands among the names."""
    parser.set_defaults(overrides=[])
    parser.epilog = (
        "executor=local (default), slurm or dask says where, with its options, such as "
        "executor.partition=cpu; mklbench list executors shows them."
    )
    _jobs_argument(parser)


def _overrides(parsed: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Return the names of tables, and what says where steps are taken."""
    given = [*parsed.names, *parsed.overrides]
    overrides = [text for text in given if "=" in text]
    for text in overrides:
        if text.partition("=")[0].partition(".")[0].lstrip("+") != "executor":
            raise InputError(
                f"{text} is not accepted: mklbench {parsed.command} takes names of tables and "
                "options of the executor, such as executor=slurm."
            )
    return [text for text in given if "=" not in text], overrides


def _executor(
    overrides: list[str], jobs: int, timeout: float | None = None, config_dir: str | None = None
) -> Executor | None:
    """Return the executor that is asked for; None for the local one, which takes no time."""
    if not overrides:
        return None
    from mklbench import config as configs

    made: Executor = configs.executor_of(overrides, jobs, timeout, config_dir)
    return made


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and 1 <= int(text) <= MAX_JOBS):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 to {MAX_JOBS}")
    return int(text)


def _split(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"{text} is not the number of a split: 0, 1, 2, ...")
    return int(text)


def _seconds(text: str) -> float:
    return _positive(text, "seconds")


def _minutes(text: str) -> float:
    return _positive(text, "minutes")


def _positive(text: str, unit: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number of {unit} > 0")
    return number


_COMMANDS: dict[
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
    "data": ("list, fetch or verify the data sets", _data_arguments, _data),
    "list": ("list the choices of a config group", _list_arguments, _list),
    "plot": ("draw a paper's figure from what has been run", _plot_arguments, _plot),
    "check": ("rerun a fast part and compare with the recorded numbers", _check_arguments, _check),
}
