"""The command line in one table: what each command takes, and the function that it calls.

Only the standard library is imported here, as in `mklbench.cli`; each command is imported when it
is called.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from mklbench import __version__
from mklbench.errors import InputError, unknown
from mklbench.report.formats import FORMATS

LISTS = ("algos", "kernels", "data", "splits", "searches", "executors", "tables")
STORE = "results/store"

Argument = tuple[tuple[str, ...], dict[str, Any]]


@dataclass(frozen=True)
class Command:
    """A command of the program.

    Attributes
    ----------
    summary : str
        What it does, in a line.
    calls : str
        Module and name of its function below `mklbench.commands`. It is called with the arguments
        by their names, and returns the exit status, a text to be printed, or the file it wrote.
    takes : sequence of Argument
        Its arguments, as `argparse` is given them.
    epilog : str
        What else its help says.
    """

    summary: str
    calls: str
    takes: Sequence[Argument] = ()
    epilog: str = ""


def _argument(*names: str, **options: Any) -> Argument:
    return names, options


def _flag(*names_and_meaning: str, **options: Any) -> Argument:
    *names, meaning = names_and_meaning
    return tuple(names), {"action": "store_true", "help": meaning, **options}


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


_SPLIT = _number(int, "the number of a split: 0, 1, 2, ...", 0)
_CONFIG_DIR = _argument("--config-dir", metavar="DIR", help="your own configs: algo/, data/, ...")
_STORE = _argument(
    "--results-dir", dest="store", type=_store, default=STORE, metavar="DIR",
    help=f"the store; default: {STORE}",
)  # fmt: skip
_STORE_OF_RUN = _argument(
    "--results-dir", metavar="DIR", help="the store; default: that of the overrides"
)
_RECORDED = _flag("--recorded", "show the recorded results instead of those in the store")
_JOBS = _argument(
    "--jobs", type=_number(int, "a whole number from 1 to 1024", 1, 1024), default=1, metavar="N",
    help="the number of worker processes",
)  # fmt: skip
_OVERRIDES = _argument("overrides", nargs="*", metavar="OVERRIDE", help="as for mklbench run")
_POSITION = [
    _argument(f"--{what}", metavar="NAME", help=f"only this {meaning}, by its name or label")
    for what, meaning in (("row", "data set"), ("column", "method"), ("protocol", "protocol"))
]
_EXECUTORS = (
    "executor=local (the default), slurm or dask says where to run, with options such as "
    "executor.partition=cpu; mklbench list executors shows the executors."
)
_DATA_SETS = (_argument("names", nargs="*", metavar="NAME", help="default: all"), _CONFIG_DIR)

# Commands that have commands of their own.
PARENTS = {
    "data": "list, fetch, verify or show data sets",
    "export": "write the model of a run for use elsewhere",
}
COMMANDS = {
    "run": Command(
        "run one algorithm on one data set, or with -m a sweep (options are Hydra overrides)",
        "run.run",
    ),
    "table": Command(
        "print a paper's table from what has been run",
        "show.table",
        [
            _argument("name", metavar="TABLE", help="as in `mklbench list tables`"),
            _argument(
                "--format", dest="fmt", choices=FORMATS, default="md", help="default: md"
            ),
            _argument("--out", metavar="FILE", help="write the table there, do not print it"),
            _flag("--all", "also what was tried beyond the paper's table", dest="whole"),
            *_POSITION, _RECORDED, _STORE, _CONFIG_DIR,
        ],
    ),
    "reproduce": Command(
        "run what the tables need, then write them",
        "reproduce.reproduce",
        [
            _argument("names", nargs="*", metavar="TABLE", help="default: every table"),
            _JOBS, *_POSITION,
            _argument(
                "--splits", type=_number(int, "a number of splits: 1, 2, 3, ...", 1), metavar="N",
                help="only the first N splits",
            ),
            _flag("--dry-run", "say what would be run, and run nothing", instead=True),
            _flag("--write-only", "write what is finished, and run nothing", instead=True),
            _argument(
                "--minutes", type=_number(float, "a number of minutes > 0", 1e-9), metavar="N",
                instead=True,
                help="rerun as many recorded splits as fit into N minutes, say what has moved, and "
                "write how many splits confirm each position",
            ),
            _flag(
                "--list", "print the positions with the time and the command of each, and run "
                "nothing", dest="positions", instead=True,
            ),
            _flag(
                "--from-records",
                "take over finished splits from the records in --out-dir instead of running them",
            ),
            _argument(
                "--out-dir", dest="results_dir", metavar="DIR",
                help="where tables, figures and records are written; default: results, or with "
                "--minutes results/reproduced, which also keeps the splits",
            ),
            _STORE, _CONFIG_DIR,
        ],
        _EXECUTORS,
    ),
    "status": Command(
        "say which runs of the store are done, running, failed or waiting",
        "status.status",
        [
            _argument(
                "--watch", type=_number(float, "a number of seconds > 0", 1e-9), nargs="?",
                const=10.0, metavar="SECONDS",
                help="keep showing it on the terminal until Ctrl-C, every so many seconds; "
                "default: 10",
            ),
            _STORE,
        ],
    ),
    "redo": Command(
        "forget a run, a split or failures, so that they are run again",
        "redo.redo",
        [
            _OVERRIDES,
            _flag("-m", "--multirun", "the overrides are those of a sweep", dest="sweep"),
            _flag("--failed", "forget only failures and timeouts"),
            _argument(
                "--split", dest="splits", type=_SPLIT, action="append", default=[], metavar="N",
                help="forget only this split; may be given several times",
            ),
            _STORE_OF_RUN, _CONFIG_DIR,
        ],
        "The overrides name the runs; without them, --failed means every run of the store.",
    ),
    "export model": Command(
        "fit the model of a run as an estimator of scikit-learn, and write it to a file",
        "export.export_model",
        [
            _OVERRIDES,
            _argument(
                "--out", required=True, metavar="FILE", help="a .skops or .joblib file to write"
            ),
            _argument(
                "--split", type=_SPLIT, metavar="N",
                help="fit the training part of this split, and compare with what is recorded of "
                "its test part; default: all rows",
            ),
            _STORE_OF_RUN, _CONFIG_DIR,
        ],
    ),
    "data list": Command(
        "list the data sets: size, classes, origin, and whether they are at hand",
        "data.show_list", _DATA_SETS,
    ),
    "data fetch": Command("download data sets into the cache", "data.fetch", _DATA_SETS),
    "data verify": Command(
        "read data sets and compare their content with the published digests",
        "data.verify", _DATA_SETS,
    ),
    "data show": Command(
        "show what is understood of your own data, and the first rows",
        "data.show",
        [
            _argument(
                "overrides", nargs="+", metavar="OVERRIDE", help="data=csv data.path=mine.csv"
            ),
            _CONFIG_DIR,
        ],
    ),
    "list": Command(
        "list the choices of a config group",
        "show.choices", [_argument("what", choices=LISTS), _CONFIG_DIR],
    ),
    "plot": Command(
        "draw a paper's figure from what has been run",
        "show.plot",
        [
            _argument("name", metavar="FIGURE", help="one of the figures of the tables"),
            _argument("--out", metavar="FILE", help="a .png, .pdf or .svg file"),
            _RECORDED, _STORE, _CONFIG_DIR,
        ],
    ),
    "report": Command(
        "write everything that is recorded as one HTML page",
        "show.report",
        [
            _argument(
                "--out", default="report.html", metavar="FILE", help="default: report.html"
            ),
            _argument(
                "--results-dir", metavar="DIR",
                help="a store of your own, to be shown beside the recorded results",
            ),
            _CONFIG_DIR,
        ],
    ),
    "check": Command(
        "rerun a fast part and compare with the recorded numbers",
        "check.check",
        [
            _argument(
                "names", nargs="*", metavar="TABLE", help="default: everything that it covers"
            ),
            _JOBS,
            _flag(
                "--record",
                "write what the check compares with: from the records of the tables, and from a "
                "cheap run of each algorithm that no table has",
            ),
            _argument(
                "--recorded", dest="results_dir", metavar="DIR",
                help="the recorded results; default: those of the program",
            ),
        ],
        _EXECUTORS,
    ),
    "compare": Command(
        "run a method on many data sets, and rank it among all recorded ones",
        "compare.compare",
        [
            _OVERRIDES,
            _argument(
                "--table", dest="table_name", metavar="TABLE", default="all_methods",
                help="a recorded comparison; default: all_methods",
            ),
            _flag("--quick", "five cheap data sets instead of all"),
            _JOBS, _STORE, _CONFIG_DIR,
        ],
        "Data, splits and folds are those of the comparison, and so are the grid of C and the "
        "kernels, unless overrides name others.",
    ),
    "doctor": Command(
        "say what this machine offers, what is wrong, and what slows it down",
        "doctor.doctor", [_STORE],
    ),
}  # fmt: skip


class Parser(argparse.ArgumentParser):
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
        under = children[""].add_parser(name, help=summary, description=summary)
        children[name] = under.add_subparsers(required=True, metavar="ACTION", dest="action")
    made = {"": whole}
    for name, command in COMMANDS.items():
        parent, _, own = name.rpartition(" ")
        made[name] = children[parent].add_parser(
            own, help=command.summary, description=command.summary, epilog=command.epilog
        )
        exclusive = None
        for names, options in command.takes:
            kept = {key: value for key, value in options.items() if key != "instead"}
            target: Any = made[name]
            if "instead" in options:
                exclusive = target = exclusive or target.add_mutually_exclusive_group()
            target.add_argument(*names, **kept)
    return made


def parse(arguments: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Return the command, and what its arguments are.

    Raises
    ------
    InputError
        If they are not in the grammar.
    """
    made = parsers()
    words = arguments[: 2 if arguments[0] in PARENTS else 1]
    command = " ".join(words)
    if command not in COMMANDS:  # it helps, or says what is wrong
        made[""].parse_args(arguments)
    # Words may stand between the flags.
    return command, vars(made[command].parse_intermixed_args(arguments[len(words) :]))


def read(arguments: Sequence[str]) -> tuple[Callable[..., int | str | Path], dict[str, Any]]:
    """Return the function that arguments call, and what it is to be called with.

    Raises
    ------
    InputError
        As `parse`, and for an executor that cannot be used.
    """
    command, given = parse(arguments)
    if "names" in given and "jobs" in given:
        _take_executor(given, command)
    if "row" in given:
        from mklbench.report.table.part import TableSelection

        limits = [given.pop(name, None) for name in ("row", "column", "protocol", "splits")]
        given["selection"] = TableSelection(*limits)
    module, _, name = COMMANDS[command].calls.partition(".")
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
        from mklbench.config import executor_of

        given["executor"] = executor_of(overrides, given["jobs"], None, given.get("config_dir"))


def complete(arguments: Sequence[str]) -> int:
    """Answer ``mklbench -sc install=SHELL | uninstall=SHELL | query=SHELL``.

    Names of sub-commands and of tables are completed here, the overrides of `run` by Hydra. It
    knows nothing of sub-commands: it is shown the line without ``run``.
    """
    from mklbench.commands.run import run
    from mklbench.report.loading import table_names

    line = os.environ.get("COMP_LINE", "")
    words = line.split()[1:]
    shell = next((text.removeprefix("query=") for text in arguments if "query=" in text), None)
    if shell is None or words[:1] == ["run"]:
        os.environ["COMP_LINE"] = line.replace(" run", "", 1)  # where Hydra looks for it
        return run(["--shell-completion", *arguments[1:]])
    if line.endswith(" ") or not words:
        words.append("")
    takes_tables = words[0] in ("table", "reproduce", "check")
    names = COMMANDS if len(words) == 1 else table_names() if takes_tables else ()
    found = [name for name in names if name.startswith(words[-1])]
    print(("\n" if shell == "fish" else " ").join(found))
    return 0
