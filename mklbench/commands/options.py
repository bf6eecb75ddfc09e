"""What several sub-commands take: options, the executor, and the values they are read as.

Only the standard library is imported here, as in `mklbench.cli`.
"""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from mklbench.errors import InputError, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mklbench.experiments.execution.plan import Executor


STORE = "results/store"
MAX_JOBS = 1024  # as in mklbench.config.schemas, which is not imported for every --help


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


def source_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says where numbers are read from: the store, or the recorded results."""
    parser.add_argument(
        "--recorded", action="store_true", help="from the recorded results, not from the store"
    )
    store_argument(parser)
    config_dir_argument(parser)


def position_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what limits a table to some of its positions."""
    for what, meaning in (("row", "data set"), ("column", "method"), ("protocol", "protocol")):
        parser.add_argument(
            f"--{what}", metavar="NAME", help=f"only this {meaning}, by its name or label"
        )


def store_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the store."""
    parser.add_argument(
        "--results-dir", default=STORE, metavar="DIR", help=f"the store; default: {STORE}"
    )


def config_dir_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option that names a directory of the user's own configs."""
    parser.add_argument("--config-dir", metavar="DIR", help="your own configs: algo/, data/, ...")


def jobs_argument(parser: argparse.ArgumentParser) -> None:
    """Add the number of worker processes."""
    parser.add_argument("--jobs", type=_count, default=1, metavar="N", help="worker processes")


def executor_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says where steps are taken; the executor itself stands among the names."""
    parser.set_defaults(overrides=[])
    parser.epilog = (
        "executor=local (default), slurm or dask says where, with its options, such as "
        "executor.partition=cpu; mklbench list executors shows them."
    )
    jobs_argument(parser)


def names_and_overrides(parsed: argparse.Namespace) -> tuple[list[str], list[str]]:
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


def executor_of(
    overrides: list[str], jobs: int, timeout: float | None = None, config_dir: str | None = None
) -> Executor | None:
    """Return the executor that is asked for; None for the local one, which takes no time."""
    if not overrides:
        return None
    from mklbench import config as configs

    made: Executor = configs.executor_of(overrides, jobs, timeout, config_dir)
    return made


def _is_number(text: str) -> bool:
    """Tell whether a text is a whole number from 0, of up to nine digits."""
    return text.isascii() and text.isdecimal() and len(text) < 10


def _count(text: str) -> int:
    if not (_is_number(text) and 1 <= int(text) <= MAX_JOBS):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 to {MAX_JOBS}")
    return int(text)


def split_number(text: str) -> int:
    """Read the number of a split."""
    if not _is_number(text):
        raise argparse.ArgumentTypeError(f"{text} is not the number of a split: 0, 1, 2, ...")
    return int(text)


def n_splits(text: str) -> int:
    """Read a number of splits."""
    if not (_is_number(text) and int(text)):
        raise argparse.ArgumentTypeError(f"{text} is not a number of splits: 1, 2, 3, ...")
    return int(text)


def seconds(text: str) -> float:
    """Read a positive number of seconds."""
    return _positive(text, "seconds")


def minutes(text: str) -> float:
    """Read a positive number of minutes."""
    return _positive(text, "minutes")


def _positive(text: str, unit: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number of {unit} > 0")
    return number
