"""A bank by columns is what scikit-learn's kernels on these columns are, one by one."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.compose import make_column_selector
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from sklearn.impute import SimpleImputer
from sklearn.metrics.pairwise import (
    chi2_kernel,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mklbench.errors import InputError
from mklbench.kernels import (
    Gaussian,
    KernelList,
    Linear,
    Polynomial,
    Precomputed,
    Views,
    gaussians,
)
from mklbench.kernels.base import Array
from mklbench.testing import check_operator

COLUMNS = ["age", "dose", "mass", "time on site", "size"]
rng = np.random.default_rng(0)
FRAME = pd.DataFrame(np.abs(rng.normal(size=(30, 5))), columns=COLUMNS)
NEW = pd.DataFrame(np.abs(rng.normal(size=(7, 5))), columns=COLUMNS)


def scale(X: Array) -> float:
    """What SVC(gamma="scale") takes."""
    return 1.0 / (X.shape[1] * X.var())


def dense(function: Callable[..., Array]) -> Callable[[Array, Array], list[Array]]:
    return lambda X, Z: [function(Z, X)]


# What can stand for a kernel, and the kernels of scikit-learn that it is, between X and Z.
KERNELS: dict[str, tuple[Any, Callable[[Array, Array], list[Array]]]] = {
    "Gaussian(0.7)": (Gaussian(0.7), dense(partial(rbf_kernel, gamma=0.7))),
    "Gaussian()": (Gaussian(), lambda X, Z: [rbf_kernel(Z, X, gamma=scale(X))]),
    "Linear()": (Linear(), dense(linear_kernel)),
    "Polynomial(2)": (Polynomial(2), dense(partial(polynomial_kernel, degree=2, gamma=1.0))),
    "gaussian": ("gaussian", dense(rbf_kernel)),
    "gaussians": (
        "gaussians",
        lambda X, Z: [rbf_kernel(Z, X, gamma=scale(X) * 4.0**k) for k in range(-2, 3)],
    ),
    "linear_features": (
        "linear_features",
        lambda X, Z: [linear_kernel(Z[:, [j]], X[:, [j]]) for j in range(X.shape[1])],
    ),
    "builder": (
        partial(gaussians, gammas=[0.1, 1.0]),
        lambda X, Z: [rbf_kernel(Z, X, gamma=gamma) for gamma in (0.1, 1.0)],
    ),
    "rbf_kernel": (rbf_kernel, dense(rbf_kernel)),
    "chi2_kernel": (chi2_kernel, dense(chi2_kernel)),
    "partial": (partial(laplacian_kernel, gamma=0.3), dense(partial(laplacian_kernel, gamma=0.3))),
    "Gaussian process": (
        ConstantKernel(2.0) * RBF(1.5) + Matern(nu=1.5),
        dense(ConstantKernel(2.0) * RBF(1.5) + Matern(nu=1.5)),
    ),
    "list": (
        [Gaussian(0.2), rbf_kernel, "gaussian"],
        lambda X, Z: [rbf_kernel(Z, X, gamma=0.2), rbf_kernel(Z, X), rbf_kernel(Z, X)],
    ),
}


@st.composite
def choices(draw: st.DrawFn) -> tuple[Any, list[int]]:
    """Columns, in one of the ways to choose them, and their positions."""
    chosen = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4, unique=True))
    low, high = min(chosen), max(chosen)
    mask = [j in chosen for j in range(5)]
    return draw(
        st.sampled_from(
            [
                (chosen, chosen),
                ([j - 5 for j in chosen], chosen),
                ([COLUMNS[j] for j in chosen], chosen),
                (COLUMNS[chosen[0]], chosen[:1]),
                (chosen[0], chosen[:1]),
                (np.array(chosen), chosen),
                (pd.Index(COLUMNS)[chosen], chosen),
                (mask, sorted(chosen)),
                (np.array(mask), sorted(chosen)),
                (slice(low, high + 1), list(range(low, high + 1))),
                (slice(COLUMNS[low], COLUMNS[high]), list(range(low, high + 1))),
                (partial(_named, names=[COLUMNS[j] for j in chosen]), chosen),
            ]
        )
    )


def _named(X: pd.DataFrame, names: list[str]) -> list[str]:
    assert list(X.columns) == COLUMNS
    return names


@settings(deadline=None, max_examples=20)
@given(
    st.lists(st.tuples(st.sampled_from(sorted(KERNELS)), choices()), min_size=1, max_size=4),
    st.integers(0, 2**32 - 1),
)
def test_a_bank_by_columns_is_the_sum_of_scikit_learns_kernels(
    entries: list[tuple[str, tuple[Any, list[int]]]], seed: int
) -> None:
    kernel = [
        (f"view {i}", KERNELS[name][0], columns) for i, (name, (columns, _)) in enumerate(entries)
    ]
    bank = KernelList(kernel)(FRAME)
    X, Z = FRAME.to_numpy(), NEW.to_numpy()
    grams, cross = (
        np.concatenate(
            [KERNELS[name][1](X[:, chosen], A[:, chosen]) for name, (_, chosen) in entries]
        )
        for A in (X, Z)
    )
    d = np.random.default_rng(seed).uniform(size=bank.n_kernels)
    for actual, stack in ((bank.combine(d), grams), (bank.cross(d, NEW), cross)):
        expected = np.tensordot(d, stack, axes=1)
        assert_allclose(actual, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(expected).max()))
    assert len(bank.kernel_names(COLUMNS)) == bank.n_kernels == len(grams)
    alone = np.concatenate([bank.cross(d, NEW.iloc[[i]]) for i in range(len(NEW))])
    assert_allclose(bank.cross(d, NEW), alone, rtol=0, atol=1e-12 * np.abs(alone).max())


@pytest.mark.parametrize("kernel", [entry for entry, _ in KERNELS.values()], ids=list(KERNELS))
def test_every_form_of_a_kernel_makes_an_operator(kernel: Any) -> None:
    check_operator(KernelList([("some", kernel, [0, 2]), Gaussian(0.5)]))


def test_kernels_are_named_after_their_views() -> None:
    kernel = [
        ("when", partial(rbf_kernel, gamma=0.1), ["time on site", "age"]),
        ("own", RBF(2.0), ["age"]),
        ("own", lambda X, Z: X @ Z.T, ["age"]),
        ("each", "linear_features", ["dose", "time on site"]),
        chi2_kernel,
        ("scaled", chi2_kernel, ["age", "dose"], SimpleImputer()),
    ]
    names = KernelList(kernel)(FRAME).kernel_names(COLUMNS)
    assert names[:3] + names[5:] == (
        "rbf_kernel(gamma=0.1) on when",
        "RBF(length_scale=2) on own",
        "lambda on own",
        "chi2_kernel on all columns",
        "chi2_kernel on scaled",
    )
    assert [name.split(" on ", 1)[1] for name in names[3:5]] == [
        "dose of each",
        "time on site of each",
    ]


def test_the_kernels_of_an_entry_are_a_group_and_know_their_columns() -> None:
    bank = KernelList([("a", "linear_features", [3, 1]), ("b", Gaussian(), [2]), Gaussian()])(FRAME)
    assert [list(group) for group in bank.groups or ()] == [[0, 1], [2], [3]]
    assert bank.features == (3, 1, 2, -1)


class TestTransformers:
    def frame(self) -> pd.DataFrame:
        colours = np.resize(["red", "green", "blue"], len(FRAME))
        return FRAME.assign(colour=colours, text=[f"{c} and {c[0]}" for c in colours])

    def test_are_fitted_to_the_training_rows_alone(self) -> None:
        bank = KernelList([("a", Linear(), ["age", "mass"], StandardScaler())])(FRAME)
        scaler = StandardScaler().fit(FRAME[["age", "mass"]])
        X, Z = (scaler.transform(A[["age", "mass"]]) for A in (FRAME, NEW))
        assert_allclose(bank.combine([1.0]), X @ X.T, atol=1e-12)
        assert_allclose(bank.cross([1.0], NEW), Z @ X.T, atol=1e-12)

    def test_are_cloned(self) -> None:
        scaler = StandardScaler()
        KernelList([("a", Linear(), ["age"], scaler)])(FRAME)
        assert not hasattr(scaler, "mean_")

    def test_make_numbers_of_categories(self) -> None:
        frame = self.frame()
        bank = KernelList([("colour", Linear(), ["colour"], OneHotEncoder())])(frame)
        same = frame["colour"].to_numpy()[:, None] == frame["colour"].to_numpy()
        assert_array_equal(bank.combine([1.0]), same.astype(float))

    def test_of_one_column_get_a_vector_as_in_a_column_transformer(self) -> None:
        frame = self.frame()
        bank = KernelList([("text", Linear(), "text", TfidfVectorizer())])(frame)
        X = TfidfVectorizer().fit_transform(frame["text"])
        assert_allclose(bank.combine([1.0]), (X @ X.T).toarray(), atol=1e-12)

    def test_pipelines_fill_what_is_missing(self) -> None:
        frame = self.frame()
        frame.loc[3, "age"] = np.nan
        chain = make_pipeline(SimpleImputer(), StandardScaler())
        bank = KernelList([("a", Gaussian(0.5), ["age"], chain), ("m", Gaussian(), ["mass"])])(
            frame
        )
        X = chain.fit_transform(frame[["age"]])
        assert_allclose(bank.combine([1.0, 0.0]), rbf_kernel(X, gamma=0.5), atol=1e-12)

    def test_see_the_responses(self) -> None:
        class Shift(StandardScaler):
            def fit_transform(self, X: Any, y: Any = None) -> Any:
                return super().fit_transform(X) + np.mean(y)

        fitted = KernelList([("a", Linear(), [0], Shift())]).fitted(FRAME, np.full(30, 5.0))
        assert fitted.training_views().parts[0].mean() == pytest.approx(5.0)

    def test_columns_may_be_chosen_by_type(self) -> None:
        kernel = [
            ("numbers", Gaussian(), make_column_selector(dtype_include="number")),
            ("words", Linear(), make_column_selector(dtype_exclude="number"), OneHotEncoder()),
        ]
        bank = KernelList(kernel)(self.frame())
        assert_allclose(bank.combine([1, 0]), rbf_kernel(FRAME, gamma=scale(FRAME.to_numpy())))
        assert bank.combine([0, 1]).max() == 2.0


class TestSparse:
    @pytest.mark.parametrize("name", ["Gaussian()", "Linear()", "Polynomial(2)", "list"])
    def test_kernels_are_those_of_dense_samples(self, name: str) -> None:
        kernel, of = KERNELS[name]
        kind = sparse.csc_matrix
        X, Z = (np.where(A > 0.8, A, 0.0) for A in (FRAME.to_numpy(), NEW.to_numpy()))
        bank = KernelList([("some", kernel, [0, 1, 4])])(kind(X))
        keep = [0, 1, 4]
        for m, unit in enumerate(np.eye(bank.n_kernels)):
            assert_allclose(bank.combine(unit), of(X[:, keep], X[:, keep])[m], atol=1e-12)
            assert_allclose(bank.cross(unit, kind(Z)), of(X[:, keep], Z[:, keep])[m], atol=1e-12)
        part = bank.take([4, 2, 7])
        weights = bank.uniform_weights()
        assert_array_equal(part.cross(weights, kind(Z)), bank.cross(weights, kind(Z))[:, [4, 2, 7]])
        diagonals = [np.diag(of(X[:, keep], X[:, keep])[m]) for m in range(bank.n_kernels)]
        assert_allclose(bank.diagonals(kind(X)), diagonals, atol=1e-12)

    def test_samples_are_not_made_dense(self) -> None:
        n, d = 60, 2_000_000
        entries = np.random.default_rng(0)
        places = entries.integers(0, n, 300), entries.integers(0, d, 300)
        X = sparse.csr_array((entries.uniform(size=300), places), shape=(n, d))
        bank = KernelList([Linear(), Gaussian(0.5)])(X)  # dense they would take 1 GB
        assert_allclose(bank.combine([1, 0]), (X @ X.T).toarray())
        assert bank.cross([0, 1], X[:2]).shape == (2, 60)

    def test_other_kernels_say_so(self) -> None:
        with pytest.raises(InputError, match="which simplemkl does not take: pass it dense"):
            KernelList([("a", "simplemkl", [0])])(sparse.csr_array(FRAME.to_numpy()))


class TestViews:
    A, B = FRAME[["age", "dose"]], sparse.csr_array(FRAME[["mass", "size"]].to_numpy())

    def test_a_kernel_is_one_on_each(self) -> None:
        bank = KernelList([rbf_kernel])([self.A, self.B])
        assert bank.kernel_names() == ("rbf_kernel on view 0", "rbf_kernel on view 1")
        expected = rbf_kernel(FRAME[["mass", "size"]])
        assert_allclose(bank.combine([0, 1]), expected, atol=1e-12)

    def test_columns_are_the_numbers_of_views(self) -> None:
        bank = KernelList([("second", Linear(), 1), ("both", Linear(), [0, 1])])([self.A, self.B])
        X = FRAME[["age", "dose", "mass", "size"]].to_numpy()
        assert_allclose(bank.combine([0, 1]), X @ X.T, atol=1e-12)
        assert_allclose(bank.combine([1, 0]), X[:, 2:] @ X[:, 2:].T, atol=1e-12)

    def test_rows_are_chosen_together(self) -> None:
        views = Views([self.A, self.B])
        assert (len(views), views.shape) == (30, (30, 4))
        for rows in ([3, 1], np.arange(30) % 7 == 0, slice(2, 9, 3)):
            part = views[rows]
            assert_array_equal(part.parts[0], self.A.to_numpy()[rows])
            assert_array_equal(part.parts[1].toarray(), self.B.toarray()[rows])


class TestRowNumbers:
    K = np.array([rbf_kernel(FRAME), FRAME.to_numpy() @ FRAME.to_numpy().T])

    def test_come_from_a_column(self) -> None:
        frame = FRAME.assign(row=np.arange(30))
        bank = KernelList([("gram", Precomputed(self.K), "row"), Gaussian()])(frame.iloc[:20])
        assert_array_equal(bank.combine([0, 1, 0]), self.K[1, :20, :20])
        assert_allclose(bank.cross([1, 0, 0], frame.iloc[20:]), self.K[0, 20:, :20], rtol=1e-15)

    def test_or_from_the_index(self) -> None:
        bank = KernelList([Precomputed(self.K)])(FRAME.sample(20, random_state=0))
        rows = FRAME.sample(20, random_state=0).index.to_numpy()
        assert_allclose(bank.combine([1, 0]), self.K[0][np.ix_(rows, rows)], rtol=1e-14)

    def test_an_array_has_none(self) -> None:
        with pytest.raises(InputError, match="takes row numbers of the whole data set"):
            KernelList([Precomputed(self.K), Gaussian()])(FRAME.to_numpy())


class TestFunctionsOfPairs:
    @pytest.mark.parametrize(
        ("function", "message"),
        [
            (lambda X, Z: X[:, :1] @ Z[:, :1].T * np.nan, "is nan at samples 0 and 0"),
            (lambda X, Z: (X @ Z.T)[:, :-1], r"of shape \(30, 29\) for 30 and 30 samples"),
            (lambda X, Z: None, r"of shape \(\) for 30 and 30"),
            (
                lambda X, Z: [["a"] * len(Z)] * len(X),
                "what lambda returns is of type <U1: give an array",
            ),
            (lambda X, Z: X @ Z.T + X[:, :1], "is not symmetric"),
            (lambda X, Z: -(X @ Z.T), "is not positive semidefinite"),
        ],
    )
    def test_that_are_no_kernels_are_refused(self, function: Any, message: str) -> None:
        with pytest.raises(InputError, match=message) as caught:
            KernelList([("own", function, [0, 1])])(FRAME)
        assert "'own'" in str(caught.value) or "lambda" in str(caught.value)

    def test_that_fail_for_new_samples_are_refused_there(self) -> None:
        bank = KernelList([lambda X, Z: X @ Z.T if len(X) == 30 else X])(FRAME)
        with pytest.raises(InputError, match=r"of shape \(7, 5\) for 7 and 30 samples"):
            bank.cross([1.0], NEW)

    def test_may_take_text(self) -> None:
        words = np.array(["ab", "abc", "b", "cab"], dtype=object)

        def common(X: Any, Z: Any) -> Array:
            return np.array([[len({*x[0]} & {*z[0]}) for z in Z] for x in X], dtype=float)

        bank = KernelList([common])(words)
        assert_array_equal(bank.combine([1.0])[0], [2, 2, 1, 2])
        bank = KernelList([("w", common, "w")])(pd.DataFrame({"w": words}))
        assert_array_equal(bank.cross([1.0], pd.DataFrame({"w": ["c"]})), [[0, 1, 0, 1]])


def test_kernels_and_rows_that_are_left_out_are_not_kept() -> None:
    kernel = [("a", [Gaussian(0.5), rbf_kernel], [0, 1]), ("b", "feature_gaussians", [2, 3])]
    bank = KernelList(kernel)(pd.DataFrame(np.abs(rng.normal(size=(400, 5)))))
    part = bank.take(np.arange(10))
    assert len(pickle.dumps(part)) < len(pickle.dumps(bank)) / 50


def test_gaussian_without_a_width_needs_samples_to_be_a_number() -> None:
    with pytest.raises(InputError, match="gamma=scale is a number only where"):
        Gaussian()(np.eye(2), np.eye(2))
    assert Gaussian().on(np.zeros((3, 2))) == Gaussian(1.0)
