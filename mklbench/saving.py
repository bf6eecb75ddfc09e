"""Models from files, with one sentence for what cannot be used.

joblib and skops save fitted estimators; what they say of a file that was cut short or comes from
elsewhere is what their insides came across, ``unpack requires a buffer of 8 bytes``. `load` reads
what either has written.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mklbench import __version__
from mklbench.errors import InputError, first_line, reason

# Of the types in a file of skops, these need no word of the user.
_TRUSTED = ("mklbench.", "sklearn.", "functools.partial")
_VERSION = "_mklbench_version"


class OtherVersionWarning(UserWarning):
    """A model was saved by another version of the program."""


class Versioned:
    """An estimator that says so when it was saved by another version of the program."""

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {**state, _VERSION: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        values = dict(state)
        version = values.pop(_VERSION, None)
        if version != __version__:
            before = version or "of an earlier version"
            warnings.warn(
                f"{type(self).__name__} was saved by mklbench {before}, and this is {__version__}: "
                "fit it again, or install the version that saved it, as its predictions may be "
                "others.",
                OtherVersionWarning,
                stacklevel=2,
            )
        super().__setstate__(values)  # type: ignore[misc]


def load(path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> Any:
    """Return the fitted model in a file of joblib, pickle or skops.

    A file of joblib or pickle may run any code when it is read: load your own only.

    Parameters
    ----------
    path : str or os.PathLike
        The file: ``.joblib``, ``.pkl`` or ``.skops``.
    trusted : sequence of str, default=()
        Types in a file of skops that may be made, beside those of this library, scikit-learn and
        NumPy.

    Raises
    ------
    InputError
        If the file cannot be read, is damaged, holds no model or types that are not trusted, or the
        model was saved by another version of the program.

    Examples
    --------
    >>> import joblib, mklbench
    >>> from sklearn.datasets import load_breast_cancer
    >>> model = mklbench.KernelSVC().fit(*load_breast_cancer(return_X_y=True))
    >>> joblib.dump(model, "model.joblib")  # doctest: +SKIP
    >>> mklbench.load("model.joblib")  # doctest: +SKIP
    KernelSVC()
    """
    import joblib

    file = Path(path)
    if file.suffix not in (".joblib", ".pkl", ".skops"):
        raise InputError(
            f"{path} is not accepted: give the name of a .joblib, .pkl or .skops file."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", OtherVersionWarning)
            model = _from_skops(file, trusted) if file.suffix == ".skops" else joblib.load(file)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason(error)}.") from error
    except OtherVersionWarning as error:
        raise InputError(f"{path} cannot be used: {str(error).rstrip('.')}.") from error
    except Exception as error:  # whatever the bytes that are left make of it
        raise InputError(
            f"{path} is damaged, was cut short, or needs what is not installed "
            f"({type(error).__name__}: {first_line(error)}): save or fit the model again."
        ) from error
    if not hasattr(model, "predict"):
        raise InputError(
            f"{path} holds a {type(model).__name__} and no model: save the fitted estimator itself."
        )
    return model


def _from_skops(file: Path, trusted: Sequence[str]) -> Any:
    from skops import io

    types = io.get_untrusted_types(file=file)
    foreign = [name for name in types if not name.startswith(_TRUSTED) and name not in trusted]
    if foreign:
        raise InputError(
            f"{file} holds types that are not trusted: pass trusted={foreign} if they are yours."
        )
    return io.load(file, trusted=types)
