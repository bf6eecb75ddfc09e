"""Models from files: those that are whole are loaded, and other versions are told of."""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest
import skops.io
from damaged_models import DAMAGES, Foreign, write
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mklbench
from mklbench import MKL, KernelSVC, saving
from mklbench.errors import InputError

X = np.random.default_rng(0).standard_normal((40, 3))
Y = np.where(X[:, 0] > 0, "yes", "no")


@pytest.fixture
def model() -> KernelSVC:
    return KernelSVC().fit(X, Y)


@pytest.mark.parametrize("ending", [".joblib", ".pkl", ".skops"])
def test_a_whole_file_gives_the_model(ending: str, tmp_path: Path) -> None:
    fitted = make_pipeline(StandardScaler(), MKL()).fit(X, Y)
    path = tmp_path / f"model{ending}"
    if ending == ".skops":
        skops.io.dump(fitted, path)
    elif ending == ".joblib":
        joblib.dump(fitted, path)
    else:
        path.write_bytes(pickle.dumps(fitted))
    again = mklbench.load(str(path))
    assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    assert_array_equal(again.predict(X), fitted.predict(X))


def test_types_of_skops_are_trusted_by_name(model: KernelSVC, tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    write(model, path, "foreign")
    assert isinstance(mklbench.load(path, trusted=["damaged_models.Foreign"]), Foreign)


@pytest.mark.parametrize("damage", ["of version 0.0.7", "of no version"])
def test_other_loaders_warn_of_another_version(
    damage: str, model: KernelSVC, tmp_path: Path
) -> None:
    write(model, tmp_path / "model.joblib", damage)
    with pytest.warns(saving.OtherVersionWarning, match="KernelSVC was saved by .*mklbench"):
        again = joblib.load(tmp_path / "model.joblib")
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert "_mklbench_version" not in vars(again)


def test_one_process_is_told_nothing(model: KernelSVC) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), clone(model)):
            assert vars(again).keys() <= vars(model).keys()


@pytest.mark.parametrize("damage", sorted(set(DAMAGES) - {"foreign"}))
def test_what_is_refused_is_told_in_a_sentence(
    damage: str, model: KernelSVC, tmp_path: Path
) -> None:
    write(model, tmp_path / "model.joblib", damage)
    with pytest.raises(InputError) as caught:
        mklbench.load(tmp_path / "model.joblib")
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
