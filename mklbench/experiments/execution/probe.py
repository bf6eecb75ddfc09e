"""Whether a worker can take steps: of the same versions as the driver, and with the store in sight.

``python -m mklbench.experiments.execution.probe JOURNAL TOKEN`` prints the answer of the machine
that it runs on.
"""

from __future__ import annotations

import contextlib
import json
import platform
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mklbench import interruption
from mklbench._version import __version__
from mklbench.claims import Owner
from mklbench.errors import InputError
from mklbench.experiments.files import reason


@contextlib.contextmanager
def asking(directory: Path) -> Iterator[str]:
    """Put a question into a directory and give its token; nothing of it is left in the end.

    Raises
    ------
    OSError
        If the directory cannot be written.
    """
    token = uuid.uuid4().hex[:12]
    made = [place for place in (directory, *directory.parents) if not place.exists()]
    with interruption.on_leaving(lambda: _remove(directory, token, made)):
        try:
            directory.mkdir(parents=True, exist_ok=True)
            _question(directory, token).write_text(token, encoding="ascii")
            yield token
        finally:
            _remove(directory, token, made)


def answer(directory: str, token: str) -> dict[str, Any]:
    """Return what this machine has to say to a question that was put into a directory."""
    place = Path(directory)
    said: dict[str, Any] = {
        "node": Owner.of_this_process().host,
        "python": platform.python_version(),
        "mklbench": __version__,
        "problem": "",
    }
    try:
        if _question(place, token).read_text(encoding="ascii") != token:
            said["problem"] = "other files are there"
        _answer(place, token).write_text(token, encoding="ascii")
    except OSError as error:
        said["problem"] = reason(error)
    return said


def check(said: Mapping[str, Any], directory: Path, token: str, option: str) -> None:
    """Raise InputError unless an answer is that of a worker that can take steps.

    Parameters
    ----------
    said : mapping of str to object
        Of `answer`.
    directory : Path
        Where the question was put.
    token : str
        That of `asking`.
    option : str
        What chose the worker, as the user typed it.
    """
    node = said["node"]
    if said["mklbench"] != __version__:
        raise InputError(
            f"{option} has mklbench {said['mklbench']} on {node}, and here it is {__version__}: "
            "install the same version on both."
        )
    here, there = platform.python_version(), str(said["python"])
    if here.split(".")[:2] != there.split(".")[:2]:
        raise InputError(
            f"{option} has Python {there} on {node}, and here it is {here}: start the workers with "
            "the same version."
        )
    store = directory.parent
    if said["problem"] or not _answer(directory, token).exists():
        why = said["problem"] or "what it writes does not come here"
        raise InputError(
            f"results_dir={store} is not what {node} has there ({why}): name a directory on a file "
            f"system that the workers of {option} share with this machine, as an absolute path."
        )


def _remove(directory: Path, token: str, made: Sequence[Path]) -> None:
    for path in (_question(directory, token), _answer(directory, token)):
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # there is more in one of them
        for place in made:
            place.rmdir()


def _question(directory: Path, token: str) -> Path:
    return directory / f"probe-{token}.question"


def _answer(directory: Path, token: str) -> Path:
    return directory / f"probe-{token}.answer"


if __name__ == "__main__":
    print(json.dumps(answer(*sys.argv[1:])))
