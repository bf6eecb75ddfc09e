"""Files of models as they arrive: cut short, spoiled, of other versions, of other things."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import joblib
import numpy as np
import skops.io
from sklearn.base import BaseEstimator, ClassifierMixin

from mklbench import saving


class Foreign(ClassifierMixin, BaseEstimator):
    """A model of the user's own, which skops does not know."""

    def predict(self, X: Any) -> Any:
        return np.ones(len(X))


def _dumped(model: Any, ending: str) -> bytes:
    stream = io.BytesIO()
    if ending == ".joblib":
        joblib.dump(model, stream)
    elif ending == ".pkl":
        pickle.dump(model, stream)
    else:
        stream.write(skops.io.dumps(model))
    return stream.getvalue()


def _of_another_version(model: Any, ending: str) -> bytes:
    with patch.object(saving, "__version__", "0.0.7"):
        return _dumped(model, ending)


def _of_no_version(model: Any, ending: str) -> bytes:
    with patch.object(saving.Versioned, "__getstate__", BaseEstimator.__getstate__):
        return _dumped(model, ending)


def _of_absent_module(model: Any, ending: str) -> bytes:
    return b"cnowhere.models\nModel\n."  # the pickle of a name


def _of_absent_class(model: Any, ending: str) -> bytes:
    return b"cmklbench.estimators.simplex\nGone\n."


DAMAGES: dict[str, Callable[[Any, str], bytes]] = {
    "empty": lambda model, ending: b"",
    "text": lambda model, ending: b"size,colour\n1,red\n",
    "html": lambda model, ending: b"<!DOCTYPE html><title>404</title>",
    "a dict": lambda model, ending: _dumped({"C": 1.0}, ending),
    "an array": lambda model, ending: _dumped(np.ones(3), ending),
    "foreign": lambda model, ending: _dumped(Foreign(), ending),
    "of version 0.0.7": _of_another_version,
    "of no version": _of_no_version,
    "of an absent module": _of_absent_module,
    "of an absent class": _of_absent_class,
}


def write(model: Any, path: Path, damage: str) -> None:
    """Write a model to a file that has a damage, one of `DAMAGES`."""
    path.write_bytes(DAMAGES[damage](model, path.suffix))
