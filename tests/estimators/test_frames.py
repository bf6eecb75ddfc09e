"""Views, Gram matrices, rows and columns by name: right whatever their order, or refused."""

from __future__ import annotations

import pickle
import re
import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from every_kernel import KINDS_FIRST, QUICK, decisions
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import mklbench
from mklbench import MKL, KernelSVC, KernelTransformer, LateFusion, UniformMKL
from mklbench.errors import InputError
from mklbench.kernels import Gaussian, GramStack, Linear, Precomputed, Views, precomputed

N, N_TRAIN = 80, 50
rng = np.random.default_rng(0)
NAMES = [f"patient {i}" for i in rng.permutation(N)]
RNA = pd.DataFrame(rng.normal(size=(N, 2)), NAMES, ["x", "z"])
METHYLATION = pd.DataFrame(rng.normal(size=(N, 3)), NAMES, ["u", "v", "w"])
LABELS = pd.Series(np.where(RNA["x"] + 0.3 * METHYLATION["u"] > 0, "ill", "well"), NAMES)
TRAIN, TEST = NAMES[:N_TRAIN], NAMES[N_TRAIN:]
GRAMS = {
    name: pd.DataFrame(rbf_kernel(view), NAMES, NAMES)
    for name, view in {"rna": RNA, "methylation": METHYLATION}.items()
}


def views(names: list[str]) -> dict[str, pd.DataFrame]:
    return {"rna": RNA.loc[names], "methylation": METHYLATION.loc[names]}


def grams(rows: list[str], columns: list[str]) -> dict[str, pd.DataFrame]:
    return {name: K.loc[rows, columns] for name, K in GRAMS.items()}


def learned(name: str, X: Any, kernel: Any) -> Any:
    estimator = getattr(mklbench, name)(kernel=kernel, **QUICK.get(name, {}))
    y = LABELS.loc[TRAIN]
    return estimator.fit(X, y if is_classifier(estimator) else (y == "ill").astype(float))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["MKL", "LateFusion", "OneClassMKL", "KRR", "Align"])
def test_views_are_held_to_those_of_the_fit(name: str) -> None:
    model = learned(name, views(TRAIN), {"rna": "rbf", "methylation": "linear"})
    model = pickle.loads(pickle.dumps(model))
    new = views(TEST)
    expected = decisions(model, new)
    turned = dict(reversed(new.items()))
    assert_array_equal(decisions(model, turned), expected)
    refused = {
        "'z' in the place of 'x'": {**new, "rna": new["rna"][["z", "x"]]},
        "without 'x'": {**new, "rna": new["rna"].rename(columns={"x": "y"})},
        "has 1 columns": {**new, "rna": new["rna"][["x"]]},
        "the views rna, but": {"rna": new["rna"]},
        "the views rna, dna, but": {"rna": new["rna"], "dna": new["methylation"]},
        "rows in another order": {**new, "rna": new["rna"].iloc[::-1]},
        "the views without names": list(new.values()),
        "the training samples were 2 views": new["rna"],
        "view 'rna' holds nan at row 3, column 'z'": {
            **new,
            "rna": new["rna"].assign(z=np.where(np.arange(len(TEST)) == 3, np.nan, 1.0)),
        },
    }
    for said, X in refused.items():
        with pytest.raises(InputError, match=said):
            decisions(model, X)


def test_samples_in_two_orders_are_no_training_samples() -> None:
    X, y = views(TRAIN), LABELS.loc[TRAIN]
    other = {**X, "rna": X["rna"].iloc[::-1]}
    for given, labels, weights, said in (
        (other, y.to_numpy(), None, "view 'methylation' of X has its rows in another order"),
        (X, y.iloc[::-1], None, "y has its rows in another order"),
        (X["rna"], y.iloc[::-1], None, "y has its rows in another order"),
        (X, y, pd.Series(1.0, TRAIN[::-1]), "sample_weight has its rows in another order"),
        (X, LABELS.loc[TEST], None, f"y has its rows without '{TRAIN[0]}'"),
    ):
        with pytest.raises(InputError, match=said):
            MKL(kernel=Gaussian()).fit(given, labels, sample_weight=weights)
    # An index that is none says nothing.
    plain = {**X, "rna": X["rna"].reset_index(drop=True)}
    assert MKL(kernel=Gaussian()).fit(plain, y).score(X, y) > 0.9


def test_columns_with_numbers_for_names_are_held_to_their_order() -> None:
    X = RNA.set_axis([1200, 1100], axis=1)
    model = MKL().fit(X.loc[TRAIN], LABELS.loc[TRAIN])
    assert model.score(X.loc[TEST], LABELS.loc[TEST]) > 0.85
    with pytest.raises(InputError, match="X has its columns in another order, 1100"):
        model.predict(X.loc[TEST, [1100, 1200]])


def test_a_fault_in_a_frame_is_told_by_its_name() -> None:
    X, y = RNA.loc[TRAIN].rename(columns={"z": "income"}), LABELS.loc[TRAIN]
    for value, said in (
        (np.nan, "X holds nan at row 4, column 'income'"),
        (1e60, r"X holds 1e\+60 at row 4, column 'income'"),
        ("high", "X has the column 'income' with 'high', which is no number"),
    ):
        bad = X.astype(object) if isinstance(value, str) else X.copy()
        bad.iloc[4, 1] = value
        with pytest.raises(InputError, match=said):
            MKL().fit(bad, y)
    # New samples may be large, and are refused where values overflow.
    model = MKL(kernel="linear").fit(X, y)
    bad = X.copy()
    bad.iloc[4, 1] = 1e308
    bad *= 10.0
    with pytest.raises(InputError, match="column 'income'"):
        model.predict(bad)


@pytest.mark.parametrize("estimator", [MKL(kernel="precomputed"), KernelSVC(kernel="precomputed")])
def test_gram_matrices_are_held_to_their_names(estimator: Any) -> None:
    y = LABELS.loc[TRAIN]
    arrays = np.array([K.loc[TRAIN, TRAIN] for K in GRAMS.values()])
    cross = np.array([K.loc[TEST, TRAIN] for K in GRAMS.values()])
    expected = estimator.fit(arrays, y).decision_function(cross)
    model = pickle.loads(pickle.dumps(estimator.fit(grams(TRAIN, TRAIN), y)))
    assert model.kernel_names_ == ["rna", "methylation"]
    new = dict(reversed(grams(TEST, TRAIN).items()))
    assert_allclose(model.decision_function(new), expected, atol=1e-9)
    assert_allclose(model.decision_function(GramStack(new)), expected, atol=1e-9)
    with pytest.raises(InputError, match="X has its columns in another order"):
        model.predict(grams(TEST, TRAIN[::-1]))
    with pytest.raises(InputError, match="X has its columns in another order"):
        estimator.fit(grams(TRAIN, TRAIN[::-1]), y)
    other = grams(TRAIN[::-1], TRAIN)["methylation"]
    with pytest.raises(InputError, match="'methylation' of X has its rows in another order"):
        estimator.fit({**grams(TRAIN, TRAIN), "methylation": other}, y)
    with pytest.raises(InputError, match=f"columns without '{TRAIN[0]}'"):
        model.predict(grams(TEST, TEST + TRAIN[1:21]))
    with pytest.raises(InputError, match="X has the kernels rna, but"):
        model.predict({"rna": new["rna"]})
    new["rna"].iloc[2, 5] = np.nan
    with pytest.raises(InputError, match=f"'rna' of X holds nan .* '{new['rna'].columns[5]}'"):
        model.predict({**new, "methylation": new["methylation"][new["rna"].columns]})


def test_gram_matrices_may_be_sparse_or_views() -> None:
    y, cross = LABELS.loc[TRAIN], grams(TEST, TRAIN)
    model = MKL(kernel="precomputed").fit(grams(TRAIN, TRAIN), y)
    for form in (lambda K: [csr_array(each) for each in K.values()], Views):
        other = MKL(kernel="precomputed").fit(form(grams(TRAIN, TRAIN)), y)
        assert_allclose(other.decision_function(form(cross)), model.decision_function(cross))
    one = KernelSVC(kernel="precomputed").fit(csr_array(GRAMS["rna"].loc[TRAIN, TRAIN]), y)
    assert one.score(csr_array(cross["rna"]), LABELS.loc[TEST]) > 0.7


def test_dense_and_sparse_samples_may_be_mixed() -> None:
    X, Z, y = RNA.loc[TRAIN].to_numpy(), RNA.loc[TEST].to_numpy(), LABELS.loc[TRAIN]
    estimator = MKL(kernel=[("rna", Gaussian(), [0, 1])])
    expected = estimator.fit(X, y).decision_function(Z)
    assert_array_equal(estimator.decision_function(csr_array(Z)), expected)
    assert_allclose(estimator.fit(csr_array(X), y).decision_function(Z), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "X", "said"),
    [
        ("precomputed", [np.eye(6), np.eye(5)], "kernel 1 of X has shape (5, 5), but kernel 0"),
        ("precomputed", [], "X has shape (0,): give Gram matrices as (M, n, n)"),
        (Gaussian(), [np.eye(6), np.ones(6)], "view 1 of X has shape (6,): give a matrix"),
    ],
)
def test_what_is_no_list_of_matrices(kernel: Any, X: Any, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        MKL(kernel=kernel).fit(X, [0, 1] * 3)


def test_no_new_samples_are_told_so() -> None:
    model = MKL(kernel="precomputed").fit(grams(TRAIN, TRAIN), LABELS.loc[TRAIN])
    with pytest.raises(InputError, match=r"has shape \(2, 0, 50\)|has shape \(0, 50\)"):
        model.predict(grams([], TRAIN))


def test_rows_of_precomputed_are_numbers_or_a_mask() -> None:
    kernel = Precomputed(GRAMS)
    chosen = np.isin(NAMES, TRAIN)
    forms: list[tuple[Any, Any]] = [
        (np.flatnonzero(chosen), np.flatnonzero(~chosen)),
        (chosen, ~chosen),
        (list(chosen), pd.Series(~chosen)),
    ]
    found = [MKL(kernel=kernel).fit(a, LABELS.loc[TRAIN]).predict(b) for a, b in forms]
    for each in found[1:]:
        assert_array_equal(each, found[0])
    assert (found[0] == LABELS.loc[TEST].to_numpy()).mean() > 0.75
    with pytest.raises(InputError, match="a mask of 50 truth values"):
        MKL(kernel=kernel).fit(np.ones(N_TRAIN, dtype=bool), LABELS.loc[TRAIN])
    with pytest.raises(InputError, match="give a mask as truth values"):
        MKL(kernel=kernel).fit(chosen.astype(int), LABELS)
    numbers = list(range(N))[::-1]
    named_so = GRAMS["rna"].set_axis(numbers).set_axis(numbers, axis=1)
    with pytest.raises(InputError, match="K has whole numbers for names of its samples"):
        Precomputed(named_so)


def test_a_kernel_beside_columns_is_looked_up_by_the_index() -> None:
    numbered = RNA.reset_index(drop=True)
    train, test = (np.flatnonzero(np.isin(NAMES, part)) for part in (TRAIN, TEST))
    kernel = [Linear(), Precomputed(GRAMS["rna"])]
    model = UniformMKL(kernel=kernel).fit(numbered.loc[train], LABELS.loc[TRAIN].to_numpy())
    total = 0.5 * (linear_kernel(RNA) + rbf_kernel(RNA))
    theirs = SVC(kernel="precomputed").fit(total[:N_TRAIN, :N_TRAIN], LABELS.loc[TRAIN])
    assert_array_equal(model.predict(numbered.loc[test]), theirs.predict(total[N_TRAIN:, :N_TRAIN]))


def test_rounding_of_a_gram_matrix_is_taken_out_with_a_warning() -> None:
    K, y = GRAMS["rna"].to_numpy().copy(), LABELS
    K[0, 1] += 1e-7
    expected = SVC(kernel="precomputed").fit(K, y).predict(K)
    for estimator in (MKL, KernelSVC):
        model = estimator(kernel="precomputed", C=1.0)
        with pytest.warns(UserWarning, match=r"differ by up to 1e-07: 0.5 \* \(K \+ K.T\)"):
            assert_array_equal(model.fit(K, y).predict(K), expected)
    K[0, 1] += 1e-3
    with pytest.raises(InputError, match=r"differ by up to 0\.001 where its largest is 1"):
        MKL(kernel="precomputed").fit(K, y)


@pytest.mark.parametrize("how", ["clip", "shift", "flip"])
def test_an_indefinite_matrix_is_mended_and_new_samples_alike(how: Any) -> None:
    K = linear_kernel(RNA) - 0.5 * np.eye(N)
    cross, y = K[N_TRAIN:, :N_TRAIN], LABELS.loc[TRAIN]
    K = K[:N_TRAIN, :N_TRAIN]
    with pytest.raises(InputError, match=r"smallest eigenvalue is -0\.5 .* make_psd"):
        MKL(kernel="precomputed").fit(K, y)
    eigenvalues, V = np.linalg.eigh(K)
    mapping = {
        "clip": V @ np.diag((eigenvalues > 0).astype(float)) @ V.T,
        "flip": V @ np.diag(np.sign(eigenvalues)) @ V.T,
        "shift": np.eye(N_TRAIN),
    }[how]
    mended = K @ mapping - (eigenvalues[0] * np.eye(N_TRAIN) if how == "shift" else 0.0)
    theirs = SVC(kernel="precomputed", tol=1e-9).fit(mended, y)
    model = KernelSVC(kernel=partial(precomputed, make_psd=how), svm_tol=1e-9).fit(K, y)
    expected = theirs.decision_function(cross @ mapping)
    assert_allclose(model.decision_function(cross), expected, atol=1e-6)
    whole = Precomputed(K, make_psd=how)(np.arange(N_TRAIN))
    assert_allclose(whole.combine([1.0]), mended, atol=1e-10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [n for n in KINDS_FIRST if n != "LateFusion"])
def test_the_combined_kernel_is_that_of_the_decision(name: str) -> None:
    X, y = RNA.loc[TRAIN].to_numpy(), LABELS.loc[TRAIN]
    estimator = getattr(mklbench, name)(**QUICK.get(name, {}))
    model = estimator.fit(X, y if is_classifier(estimator) else X[:, 0])
    assert model.converged_ == all(s.converged for s in model.solutions_)
    gram, cross = model.combined_kernel(X), model.combined_kernel(RNA.loc[TEST].to_numpy())
    assert_allclose(gram, gram.T, atol=1e-12)
    (solution,) = model.solutions_
    expected = cross @ solution.dual_coef + solution.intercept
    assert_allclose(decisions(model, RNA.loc[TEST].to_numpy()), expected, atol=1e-8)


def test_the_combined_kernel_in_the_company_of_scikit_learn() -> None:
    X, y = RNA.to_numpy(), LABELS
    steps = StandardScaler(), KernelTransformer(MKL()), SVC(kernel="precomputed", C=100)
    search = GridSearchCV(make_pipeline(*steps), {"kerneltransformer__estimator__C": [10, 100]})
    assert pickle.loads(pickle.dumps(search.fit(X, y))).score(X, y) > 0.9
    with pytest.raises(ValueError, match="X has 3 features"):
        clone(steps[1]).fit(X, y).transform(METHYLATION.to_numpy())
    model = MKL().fit(X, np.arange(N) % 3)
    of_classes = [model.combined_kernel(X, label=label) for label in range(3)]
    assert_allclose(model.combined_kernel(X), np.mean(of_classes, axis=0))
    assert KernelPCA(2, kernel="precomputed").fit_transform(of_classes[0]).shape == (N, 2)
    with pytest.raises(InputError, match="loses them: call keep_training_samples before"):
        pickle.loads(pickle.dumps(MKL().fit(X, y))).combined_kernel(X)
    assert not hasattr(LateFusion(), "combined_kernel")


@pytest.mark.parametrize("estimator", [MKL(max_iter=1, tol=1e-9), mklbench.MEMO(max_iter=1)])
def test_a_warning_is_that_of_the_line_that_fits(estimator: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(RNA.to_numpy(), LABELS)
        GridSearchCV(estimator, {"max_iter": [1]}, cv=2).fit(RNA.to_numpy(), LABELS)
    lines = {each.filename for each in caught if each.category is ConvergenceWarning}
    assert lines == {__file__}
    assert not estimator.converged_
