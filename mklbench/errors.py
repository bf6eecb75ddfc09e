"""Errors a user can mend, each one sentence: the option, its value, and what would be accepted."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

# Characters that would break a line or steer a terminal.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_OURS = os.path.dirname(__file__) + os.sep
# What the path of a file has that is none of the user's.
_NOT_THE_USERS = (_OURS, f"{os.sep}sklearn{os.sep}", f"{os.sep}joblib{os.sep}")


class InputError(ValueError):
    """An option, a value or an input that cannot be accepted as it is.

    The message is one sentence that names the option, the value and the remedy. The command line
    prints it without a traceback and exits with status 2; in the library it is a ``ValueError``.
    It is one line whatever the value holds: control characters are shown as they are escaped in
    Python.
    """

    def __init__(self, message: str) -> None:
        super().__init__(_CONTROL.sub(lambda found: repr(found[0])[1:-1], message))


class SingularError(InputError):
    """A ridge lambda too small for a kernel: the system is singular to working precision."""


class NotFiniteError(FloatingPointError):
    """A result is NaN or infinite: no input that is accepted should lead to it."""


class KindError(InputError):
    """A bank of kernels where a family is needed, or a family where a bank is."""


class DataError(InputError):
    """A data set that cannot be had, read or verified."""


class MissingExtraError(InputError):
    """A package that few need, and that is not installed (`missing`)."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's code that led here, not at one of this package.

    Nor at one of scikit-learn or joblib, which call `fit` for the user.

    Parameters
    ----------
    message : str
        What to say.
    category : type of Warning, default=UserWarning
        Its kind.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and any(
        part in frame.f_code.co_filename for part in _NOT_THE_USERS
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def first_line(error: object) -> str:
    """Return the first line of what an exception says, without a full stop; its type if nothing.

    Parameters
    ----------
    error : object
        The exception, or what is printed of it.
    """
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def reason(error: OSError) -> str:
    """Return what the system says of an error, in lower case and without file names."""
    return (error.strerror or str(error) or type(error).__name__).lower()


@contextlib.contextmanager
def refused(what: str, kind: type[InputError] = InputError) -> Iterator[None]:
    """Make of what the system says, such as that a disk is full, the error `what` of a `kind`."""
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {reason(error)}.") from error


@cache
def is_installed(path: str) -> bool:
    """Tell whether a file or folder is of an installed package or of the standard library."""
    import site
    import sysconfig

    places = {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    places |= {*site.getsitepackages(), site.getusersitepackages()}
    resolved = Path(path).resolve()
    return any(resolved.is_relative_to(Path(place).resolve()) for place in places)


def place_in_own_code(error: BaseException) -> str | None:
    """Return where code of the user's was when an error came up, None if nowhere.

    Such as "mine.py, line 12, in solve".
    """
    import traceback

    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not (frame.filename.startswith(("<", _OURS)) or is_installed(frame.filename)):
            return f"{os.path.basename(frame.filename)}, line {frame.lineno}, in {frame.name}"
    return None


def unknown(option: str, value: object, accepted: Iterable[object], prefix: str = "") -> InputError:
    """Build the error for a name that is not among `accepted`, with a `hint`."""
    return InputError(f"{option}={value} is not known: {hint(value, accepted, prefix)}.")


def check_known(option: str, values: Iterable[object], accepted: Collection[object]) -> None:
    """Raise the error of the first of `values`, given for an option, that is not accepted."""
    for value in values:
        if value not in accepted:
            raise unknown(option, value, accepted)


def hint(name: object, accepted: Iterable[object], prefix: str = "") -> str:
    """Return "did you mean ..." with the names nearest to `name`, or the list to choose from."""
    names = sorted(map(str, accepted))
    near = [prefix + match for match in nearest(str(name), names)]
    if near:
        return f"did you mean {' or '.join(near)}"
    if names:
        return f"choose one of {', '.join(prefix + known for known in names)}"
    return "there is nothing to set here"


def nearest(name: str, accepted: Iterable[str]) -> list[str]:
    """Return up to three of `accepted` that `name` may stand for, the nearest first."""
    folded = [(known.casefold(), known) for known in accepted]
    near = difflib.get_close_matches(name.casefold(), dict(folded), n=3, cutoff=0.5)
    return [known for match in near for key, known in folded if key == match]


# As they are imported and as they are called, by the name of the extra in pyproject.toml.
EXTRAS = {
    "dask": {"distributed": "distributed"},
    "files": {"h5py": "h5py", "pyarrow": "pyarrow", "openpyxl": "openpyxl"},
    "images": {"skimage": "scikit-image"},
    "report": {"vl_convert": "vl-convert-python"},
    "slurm": {"submitit": "submitit"},
}


def missing(extra: str, what: str, only: str | None = None) -> str | None:
    """Return the sentence that asks for an extra; None if it is installed.

    Parameters
    ----------
    extra : str
        Its name in ``mklbench[...]``.
    what : str
        What needs it, as a user types it: "data=flowers17".
    only : str or None, default=None
        The module of the extra that is needed; None: all of them are.
    """
    for module, package in EXTRAS[extra].items():
        if only in (None, module) and find_spec(module) is None:
            return (
                f"{what} needs {package}, which is not installed: pip install 'mklbench[{extra}]'."
            )
    return None
