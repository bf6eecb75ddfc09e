"""Estimators with lists of kernels on columns, in scikit-learn's company."""

from __future__ import annotations

import pickle
import re
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cases import rest_slow
from every_kernel import KINDS, NAMES, QUICK, decisions
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.compose import make_column_selector
from sklearn.metrics.pairwise import chi2_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import mklbench
from mklbench import MKL, KernelSVC, UniformMKL
from mklbench.errors import InputError
from mklbench.kernels import Gaussian, Linear, Precomputed, Views

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N = 90
rng = np.random.default_rng(1)
FRAME = pd.DataFrame(
    {
        "age": rng.uniform(20.0, 80.0, N),
        "weight": pd.array(rng.integers(50, 100, N), dtype="Int64"),
        "colour": pd.Categorical(rng.choice(["red", "green", "blue"], N)),
        "dose": np.abs(rng.normal(size=N)),
        "taken": rng.uniform(size=N) < 0.5,
    }
)
LABELS = np.where(FRAME["dose"] + (FRAME["colour"] == "red") > 1.0, "ill", "well")
LIST: list[Any] = [
    ("age", Gaussian(), ["age"]),
    ("body", ["gaussians", Linear()], ["age", "weight"], StandardScaler()),
    ("colour", Linear(), ["colour"], OneHotEncoder(handle_unknown="ignore")),
    ("rest", partial(chi2_kernel, gamma=0.5), make_column_selector(dtype_include=[float, bool])),
]


def fitted(name: str, kernel: Any, X: Any, **parameters: Any) -> Any:
    estimator = getattr(mklbench, name)(kernel=kernel, **QUICK.get(name, {}), **parameters)
    y = LABELS if is_classifier(estimator) else (LABELS == "ill") + 0.1 * FRAME["dose"].to_numpy()
    return estimator.fit(X, y[: X.shape[0] if hasattr(X, "shape") else len(y)])


# EarlyFusion takes one kernel, QNPKL a family.
@pytest.mark.parametrize("name", rest_slow(sorted(set(NAMES) - {"EarlyFusion", "QNPKL"}), *KINDS))
def test_every_estimator_takes_a_list_of_kernels(name: str) -> None:
    model = fitted(name, LIST, FRAME)
    gamma = Gaussian().on(FRAME[["age"]].to_numpy()).factor
    assert model.kernel_names_[0] == f"gaussian {gamma:.3g} on age"
    together = decisions(model, FRAME)
    assert np.isfinite(together).all()
    alone = np.concatenate([decisions(model, FRAME.iloc[[i]]) for i in range(0, N, 7)])
    assert_allclose(together[::7], alone, rtol=0, atol=1e-12 * max(1.0, np.abs(together).max()))
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(decisions(copy, FRAME), together)


@settings(deadline=None, max_examples=15)
@given(
    st.lists(st.sampled_from(range(4)), min_size=1, max_size=3, unique=True),
    st.lists(st.sampled_from(range(4)), min_size=1, max_size=3, unique=True),
    st.floats(0.01, 2.0),
)
def test_a_machine_on_a_sum_is_scikit_learns_on_the_sum_of_its_kernels(
    first: list[int], second: list[int], gamma: float
) -> None:
    X = np.abs(np.random.default_rng(0).normal(size=(60, 4)))
    y = np.where(X[:, 0] > X[:, 1], 1, -1)

    def total(A: Any, B: Any) -> Any:
        return rbf_kernel(A[:, first], B[:, first], gamma) + A[:, second] @ B[:, second].T

    kernel = [("a", Gaussian(gamma), first), ("b", Linear(), second)]
    ours = KernelSVC(kernel=kernel, weights=[1.0, 1.0], svm_tol=1e-8).fit(X[:40], y[:40])
    theirs = SVC(kernel=total, tol=1e-8).fit(X[:40], y[:40])
    # Without a sample between the bounds the intercept is any of an interval. Both objectives are
    # within some 1e-6 of the optimum, and functions within the root of that.
    offset = ours.intercept_ - theirs.intercept_
    assert abs(offset[0]) < 0.1
    assert_allclose(
        ours.decision_function(X[40:]) - offset,
        theirs.decision_function(X[40:]),
        rtol=0,
        atol=1e-3,
    )


def test_a_bare_function_of_scikit_learn_is_a_kernel() -> None:
    X = FRAME[["age", "dose"]].to_numpy()
    ours = KernelSVC(kernel=rbf_kernel, svm_tol=1e-6).fit(X, LABELS)
    theirs = SVC(gamma=0.5, tol=1e-6).fit(X, LABELS)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)


def test_the_names_of_features_are_kept() -> None:
    model = MKL(kernel=LIST).fit(FRAME, LABELS)
    assert_array_equal(model.feature_names_in_, FRAME.columns)
    assert model.n_features_in_ == 5
    with pytest.raises(ValueError, match="X has its columns without 'age'"):
        model.predict(FRAME.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="X has 4 columns in place of 5"):
        model.predict(FRAME.iloc[:, :4].to_numpy())


def test_searches_clone_lists_and_try_them() -> None:
    kernels = [LIST[:1], LIST]
    search = GridSearchCV(MKL(kernel=LIST), {"C": [1.0, 100.0], "kernel": kernels}, cv=3)
    search.fit(FRAME, LABELS)
    assert search.best_score_ > 0.75
    copy = clone(search.best_estimator_)
    assert [entry[0] for entry in copy.kernel] == [entry[0] for entry in LIST]
    assert not hasattr(LIST[1][3], "mean_")  # the user's scaler is not the one that was fitted
    assert copy.get_params()["kernel"] is copy.kernel


def test_transformers_see_the_training_folds_alone() -> None:
    frame = FRAME.assign(dose=np.where(np.arange(N) < N - 1, FRAME["dose"], 1e3))
    kernel = [("d", Gaussian(0.5), ["dose"], StandardScaler())]
    inside = MKL(kernel=kernel).fit(frame[:-1], LABELS[:-1]).decision_function(frame)
    X = frame[["dose"]].to_numpy()
    chain = make_pipeline(StandardScaler(), MKL(kernel=Gaussian(0.5))).fit(X[:-1], LABELS[:-1])
    assert_allclose(inside, chain.decision_function(X), rtol=0, atol=1e-12)


def test_views_are_split_by_scikit_learn() -> None:
    onehot = sparse.csr_array(pd.get_dummies(FRAME["colour"]).to_numpy(dtype=float))
    views = Views([FRAME[["dose"]], onehot])
    assert cross_val_score(MKL(kernel=Gaussian()), views, LABELS, cv=3).mean() > 0.85
    search = GridSearchCV(MKL(kernel=[("d", "gaussians", 0), Linear()]), {"C": [1, 10]}, cv=3)
    assert search.fit(views, LABELS).best_score_ > 0.85
    train, test, y_train, y_test = train_test_split(views, LABELS, random_state=0)
    as_list = MKL(kernel=Gaussian()).fit(list(train.parts), y_train)
    assert as_list.score(test, y_test) > 0.8
    assert as_list.kernel_names_ == [
        f"gaussian {Gaussian().on(np.asarray(train.parts[0])).factor:.3g} on view 0",
        f"gaussian {Gaussian().on(train.parts[1]).factor:.3g} on view 1",
    ]


@pytest.mark.parametrize(
    ("name", "kernel"),
    [("MKL", "gaussians"), ("KRR", Gaussian()), ("AlignFRegressor", Linear()), ("KRR", rbf_kernel)],
)
def test_sparse_samples_are_as_good_as_dense_ones(kernel: Any, name: str) -> None:
    X = np.where(rng.uniform(size=(N, 8)) < 0.3, rng.normal(size=(N, 8)), 0.0)
    dense, on_sparse = (fitted(name, kernel, A) for A in (X, sparse.csr_array(X)))
    assert dense.__sklearn_tags__().input_tags.sparse
    assert_allclose(
        decisions(on_sparse, sparse.csc_matrix(X)), decisions(dense, X), rtol=0, atol=1e-6
    )


def test_gram_matrices_stand_beside_features() -> None:
    K = rbf_kernel(FRAME[["dose"]])[None]
    frame = FRAME.assign(row=np.arange(N))
    by_column = [("gram", Precomputed(K), "row"), ("age", Gaussian(), ["age"])]
    by_index = [Precomputed(K), ("age", Gaussian(), ["age"])]
    train = frame.sample(60, random_state=0)
    test = frame.drop(train.index)
    models = [
        MKL(kernel=kernel).fit(train, LABELS[train["row"]]) for kernel in (by_column, by_index)
    ]
    decided = [model.decision_function(test) for model in models]
    assert_array_equal(decided[0], decided[1])
    assert cross_val_score(models[1], frame, LABELS, cv=3).mean() > 0.6


def test_without_a_list_nothing_has_changed() -> None:
    """A list of one name is that name, to the last bit."""
    X = FRAME[["age", "dose"]].to_numpy()
    for name in ("simplemkl", "feature_gaussians", "gaussian"):
        alone, listed = (MKL(kernel=k).fit(X, LABELS) for k in (name, [name]))
        assert_array_equal(alone.decision_function(X), listed.decision_function(X))


class Touchy(BaseEstimator):
    """A transformer that has nothing against training samples, and all against new ones."""

    def fit(self, X: Any, y: Any = None) -> Touchy:
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return np.zeros((len(X), 1))

    def transform(self, X: Any) -> Any:
        raise ValueError("not for me")


def test_a_view_without_a_weight_is_not_looked_at_in_new_samples() -> None:
    views = [("nothing", Linear(), ["age"], Touchy()), ("age", Gaussian(), ["age"])]
    model = MKL(kernel=views).fit(FRAME, LABELS)
    assert_array_equal(model.weights_, [0.0, 1.0])
    alone = MKL(kernel=views[1:]).fit(FRAME, LABELS)
    assert_array_equal(model.decision_function(FRAME), alone.decision_function(FRAME))
    with_weight = UniformMKL(kernel=views).fit(FRAME, LABELS)
    with pytest.raises(InputError, match="its transformer Touchy says 'not for me'"):
        with_weight.predict(FRAME)


@pytest.mark.parametrize("kernel", ["gaussian", [("age", Gaussian(), [0])], Linear()])
def test_columns_of_one_name_are_refused(kernel: Any) -> None:
    frame = FRAME[["age", "dose"]]
    double = frame.set_axis(["age", "age"], axis=1)
    said = "X has 2 columns with the name 'age': rename them, or pass X.to_numpy()"
    with pytest.raises(InputError, match=re.escape(said)):
        MKL(kernel=kernel).fit(double, LABELS)
    with pytest.raises(InputError, match=re.escape(said)):
        MKL(kernel=kernel).fit(frame, LABELS).predict(double)
    MKL(kernel=kernel).fit(double.to_numpy(), LABELS)
