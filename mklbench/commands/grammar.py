"""The command line: what each command takes, and the function that it calls.

Only the standard library is imported here, as in `mklbench.cli`; each command is imported when it
is called.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from mklbench import __version__
from mklbench.errors import InputError, unknown
from mklbench.report.formats import FORMATS

# What `mklbench list` lists, and the groups of the configs that they are.
LISTS = {
    "algos": "algo", "kernels": "kernel", "data": "data", "splits": "split", "searches": "search",
    "executors": "executor", "tables": "table",
}  # fmt: skip
STORE = "results/store"

# Commands that have commands of their own.
PARENTS = {
    "data": "list, fetch, verify or show data sets",
    "export": "write the model of a run for use elsewhere",
}
_EXECUTORS = (
    "executor=local (the default), slurm or dask says where to run, with options such as "
    "executor.partition=cpu; mklbench list executors shows the executors."
)


def _number(kind: type, what: str, least: float, most: float = 1e9) -> Callable[[str], Any]:
    """Return what reads a number, which argparse calls `what` where it is refused."""

    def read(text: str) -> Any:
        try:
            number = kind(text)
        except ValueError:
            number = math.nan
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"{text} is not {what}")
        return number

    return read


def _store(directory: str) -> Any:
    from mklbench.experiments.store import Store

    return Store(directory)


_POSITION = ("--row", "--column", "--protocol")
# What several commands take.
_SHARED: dict[str, dict[str, Any]] = {
    "overrides": {"nargs": "*", "metavar": "OVERRIDE", "help": "as for mklbench run"},
    "--row": {"metavar": "NAME", "help": "only this data set, by its name or label"},
    "--column": {"metavar": "NAME", "help": "only this method, by its name or label"},
    "--protocol": {"metavar": "NAME", "help": "only this protocol, by its name or label"},
    "--recorded": {"action": "store_true", "help": "show what is recorded, not the store"},
    "--jobs": {
        "type": _number(int, "a whole number from 1 to 1024", 1, 1024), "default": 1,
        "metavar": "N", "help": "the number of worker processes",
    },
    "--results-dir": {
        "dest": "store", "type": _store, "default": STORE, "metavar": "DIR",
        "help": f"the store; default: {STORE}",
    },
    "--config-dir": {"metavar": "DIR", "help": "your own configs: algo/, data/, ..."},
}  # fmt: skip


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and whose flags are written out."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def share(self, *names: str) -> None:
        """Take arguments as other commands do."""
        for name in names:
            self.add_argument(name, **_SHARED[name])

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        # argparse lists the choices in the words of the Python version, and suggests none.
        if action.choices is not None and value not in action.choices:
            name = action.option_strings[0] if action.option_strings else str(action.dest)
            raise unknown(name, value, action.choices)

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see {self.prog} --help).")


def _flag(target: Any, names: str, meaning: str, **options: Any) -> None:
    target.add_argument(*names.split(), action="store_true", help=meaning, **options)


def parsers() -> dict[str, Parser]:
    """Return what reads the arguments of each command, and under "" of the whole program."""
    whole = Parser(
        prog="mklbench",
        description="The experiments of the multiple-kernel-learning papers, run again.",
        epilog='Shell completion: eval "$(mklbench -sc install=bash)"',
    )
    whole.add_argument("--version", action="version", version=f"mklbench {__version__}")
    children = {"": whole.add_subparsers(required=True, metavar="COMMAND", dest="command")}
    for name, summary in PARENTS.items():
        parent = children[""].add_parser(name, help=summary, description=summary)
        children[name] = parent.add_subparsers(required=True, metavar="ACTION", dest="action")
    made = {"": whole}

    def add(name: str, calls: str, summary: str, epilog: str = "") -> Parser:
        above, _, own = name.rpartition(" ")
        command = children[above].add_parser(own, help=summary, description=summary, epilog=epilog)
        command.set_defaults(calls=calls)
        made[name] = command
        return command

    for commands in (_of_runs, _of_tables, _of_data, _of_the_program):
        commands(add)
    return made


# Adds a command: its name, the function that it calls, what it does, and what else its help says.
# The function, a module and a name below `mklbench.commands`, is called with the arguments by their
# names, and returns the exit status, a text to be printed, or the file that it wrote.
Add = Callable[..., Parser]


def _of_runs(add: Add) -> None:
    summary = "run one algorithm on one data set, or with -m a sweep (options are Hydra overrides)"
    add("run", "run.run", summary)
    summary = "say which runs of the store are done, running, failed or waiting"
    takes = add("status", "status.status", summary)
    takes.share("--results-dir")
    takes = add("redo", "status.redo", "forget a run or a split, so that it is run again")
    takes.add_argument(
        "overrides", nargs="+", metavar="OVERRIDE", help="of the run, with results_dir="
    )
    _flag(takes, "-m --multirun", "the overrides are those of a sweep", dest="sweep")
    takes.add_argument(
        "--split", dest="splits", action="append", default=[], metavar="N",
        type=_number(int, "the number of a split: 0, 1, 2, ...", 0),
        help="forget only this split; may be given several times",
    )  # fmt: skip
    takes.share("--config-dir")
    summary = "fit the model of a run as an estimator of scikit-learn, and write it to a file"
    takes = add("export model", "export.export_model", summary)
    takes.share("overrides")
    takes.add_argument("--out", required=True, metavar="FILE", help="a .skops or .joblib file")
    takes.share("--config-dir")
    takes = add(
        "compare",
        "compare.compare",
        "run a method on many data sets, and rank it among all recorded ones",
        "Data, splits and folds are those of the comparison, and so are the grid of C and the "
        "kernels, unless overrides name others.",
    )
    takes.share("overrides")
    takes.add_argument(
        "--table", dest="table_name", metavar="TABLE", default="all_methods",
        help="a recorded comparison, such as learning_pays, or views; default: all_methods",
    )  # fmt: skip
    _flag(takes, "--quick", "five cheap data sets instead of all")
    takes.share("--jobs", "--results-dir", "--config-dir")


def _of_tables(add: Add) -> None:
    takes = add("table", "show.table", "print a paper's table from what has been run")
    takes.add_argument("name", metavar="TABLE", help="as in `mklbench list tables`")
    takes.add_argument("--format", dest="fmt", choices=FORMATS, default="md", help="default: md")
    takes.add_argument("--out", metavar="FILE", help="write the table there, do not print it")
    _flag(takes, "--all", "also what was tried beyond the paper's table", dest="whole")
    takes.share(*_POSITION, "--recorded", "--results-dir", "--config-dir")
    summary = "run what the tables need, then write them"
    takes = add("reproduce", "reproduce.reproduce", summary, _EXECUTORS)
    takes.add_argument("names", nargs="*", metavar="TABLE", help="default: every table")
    takes.share("--jobs", *_POSITION)
    splits = _number(int, "a number of splits: 1, 2, 3, ...", 1)
    takes.add_argument("--splits", type=splits, metavar="N", help="only the first N splits")
    instead = takes.add_mutually_exclusive_group()
    _flag(instead, "--dry-run", "say what would be run, and run nothing")
    _flag(instead, "--write-only", "write what is finished, and run nothing")
    _flag(instead, "--list", "print the time and the command of each position", dest="positions")
    instead.add_argument(
        "--minutes", type=_number(float, "a number of minutes > 0", 1e-9), metavar="N",
        help="rerun as many recorded splits as fit into N minutes, and say what has moved",
    )  # fmt: skip
    _flag(takes, "--from-records", "take finished splits from the records in --out-dir")
    takes.add_argument(
        "--out-dir", dest="results_dir", metavar="DIR",
        help="where tables, figures and records are written; default: results, or with --minutes "
        "results/reproduced",
    )  # fmt: skip
    takes.share("--results-dir", "--config-dir")
    takes = add("plot", "show.plot", "draw a paper's figure from what has been run")
    takes.add_argument("name", metavar="FIGURE", help="one of the figures of the tables")
    takes.add_argument("--out", metavar="FILE", help="a .png, .pdf or .svg file")
    takes.share("--recorded", "--results-dir", "--config-dir")
    takes = add("report", "show.report", "write everything that is recorded as one HTML page")
    takes.add_argument("--out", default="report.html", metavar="FILE", help="default: report.html")
    takes.add_argument(
        "--results-dir", metavar="DIR",
        help="a store of your own, to be shown beside the recorded results",
    )  # fmt: skip
    takes.share("--config-dir")
    summary = "rerun a fast part and compare with the recorded numbers"
    takes = add("check", "reproduce.check", summary, _EXECUTORS)
    takes.add_argument("names", nargs="*", metavar="TABLE", help="default: all that it covers")
    takes.share("--jobs")
    _flag(takes, "--record", "write what the check compares with")
    takes.add_argument(
        "--recorded", dest="results_dir", metavar="DIR",
        help="the recorded results; default: those of the program",
    )  # fmt: skip


def _of_data(add: Add) -> None:
    for name, calls, summary in (
        ("list", "show_list", "list the data sets: size, classes, and whether they are at hand"),
        ("fetch", "fetch", "download data sets into the cache"),
        ("verify", "verify", "read data sets and compare their content with published digests"),
    ):
        takes = add(f"data {name}", f"data.{calls}", summary)
        takes.add_argument("names", nargs="*", metavar="NAME", help="default: all")
        takes.share("--config-dir")
    takes = add("data show", "data.show", "show what is understood of data, and the first rows")
    takes.add_argument("overrides", nargs="+", metavar="OVERRIDE", help="data.path=mine.csv")
    takes.share("--config-dir")


def _of_the_program(add: Add) -> None:
    takes = add("list", "show.choices", "list the choices of a config group")
    takes.add_argument("what", choices=LISTS)
    takes.share("--config-dir")
    takes = add("doctor", "doctor.doctor", "say what this machine offers, and what is wrong")
    takes.share("--results-dir")


def parse(arguments: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of a command by their names, and the command and what it calls.

    Raises
    ------
    InputError
        If they are not in the grammar.
    """
    made = parsers()
    words = arguments[: 2 if arguments[0] in PARENTS else 1]
    command = " ".join(words)
    if command not in made:  # it helps, or says what is wrong
        made[""].parse_args(arguments)
    # Words may stand between the flags.
    return vars(made[command].parse_intermixed_args(arguments[len(words) :]))


def read(arguments: Sequence[str]) -> tuple[Callable[..., int | str | Path], dict[str, Any]]:
    """Return the function that arguments call, and what it is to be called with.

    Raises
    ------
    InputError
        As `parse`, and for an executor that cannot be used.
    """
    given = parse(arguments)
    module, _, name = given.pop("calls").partition(".")
    if module == "reproduce":
        _take_executor(given, name)
    if "row" in given:
        from mklbench.report.table.part import TableSelection

        limits = [given.pop(name, None) for name in ("row", "column", "protocol", "splits")]
        given["selection"] = TableSelection(*limits)
    return getattr(importlib.import_module(f"mklbench.commands.{module}"), name), given


def _take_executor(given: dict[str, Any], command: str) -> None:
    """Take the executor out of the names; None is the local one, which takes no time to make."""
    overrides = [text for text in given["names"] if "=" in text]
    given["names"] = [text for text in given["names"] if "=" not in text]
    for text in overrides:
        if not text.startswith(("executor=", "executor.", "+executor.")):
            raise InputError(
                f"{text} is not accepted: mklbench {command} takes names of tables and options of "
                "the executor, such as executor=slurm."
            )
    given["executor"] = None
    if overrides:
        from mklbench import config as configs

        options = configs.run_options(configs.compose(overrides, given.get("config_dir")))
        given["executor"] = configs.executor(options.executor, given["jobs"], None)


def complete(arguments: Sequence[str]) -> int:
    """Answer ``mklbench -sc install=SHELL | uninstall=SHELL | query=SHELL``.

    Hydra does. It knows nothing of sub-commands: it is shown the line without ``run``.
    """
    from mklbench.commands.run import run

    os.environ["COMP_LINE"] = os.environ.get("COMP_LINE", "").replace(" run", "", 1)
    return run(["--shell-completion", *arguments[1:]])
