"""What displays draw: numbers that were computed another way, and words that can be read."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from every_kernel import COLUMNS, KINDS_FIRST, fitted_to_flowers, flowers
from matplotlib import pyplot
from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklbench import (
    IKL,
    KRR,
    MKL,
    QNPKL,
    AlignmentDisplay,
    ConvergenceDisplay,
    HessianMKL,
    PathDisplay,
    SimpleMKL,
    WeightsDisplay,
)
from mklbench.kernels.base import Array

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True)
def _figures() -> Iterator[None]:
    matplotlib.use("Agg")
    yield
    pyplot.close("all")


def check_can_be_read(figure: Any) -> None:
    """Assert that nothing is cut off by the edge, and that no names beside an axis overlap."""
    figure.set_dpi(50)  # large ones are drawn in a quarter of the time
    figure.canvas.draw()
    drawn, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(drawn.x0, drawn.y0) >= -0.02
    assert drawn.x1 <= width + 0.02
    assert drawn.y1 <= height + 0.02
    for axes in figure.axes:
        low, high = sorted(axes.get_ylim())
        places = zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
        boxes = [label.get_window_extent() for y, label in places if low <= y <= high]
        boxes.sort(key=lambda box: box.y0)
        for below, above in itertools.pairwise(boxes):
            assert below.y1 <= above.y0 + 1


def legend(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


class TestWeights:
    def test_bars_are_the_weights_by_name_and_the_largest_is_above(self) -> None:
        model = fitted_to_flowers("MKL", 2)
        display = WeightsDisplay.from_estimator(model)
        table = model.kernel_weights(sort=True)
        used = table[table != 0]
        labels = [label.get_text() for label in display.ax_.get_yticklabels()]
        assert labels == list(used.index)
        widths = [bar.get_width() for bar in display.bars_[0]]
        np.testing.assert_allclose(widths, used)
        assert display.ax_.yaxis_inverted()
        assert display.ax_.get_title() == f"{len(used)} of {len(table)} kernels in use"
        check_can_be_read(display.figure_)

    def test_pieces_of_a_bar_are_the_weights_of_each_class(self) -> None:
        model = fitted_to_flowers("MKL", 3)
        display = WeightsDisplay.from_estimator(model, top_k=4)
        table = model.kernel_weights(sort=True).iloc[:4]
        for bars, label in zip(display.bars_, table, strict=True):
            assert bars.get_label() == label
            np.testing.assert_allclose([bar.get_width() for bar in bars], table[label])
        right_ends = [bar.get_x() + bar.get_width() for bar in display.bars_[-1]]
        np.testing.assert_allclose(right_ends, table.sum(axis=1))
        assert display.ax_.get_title().endswith("the 4 largest")
        check_can_be_read(display.figure_)

    def test_weights_below_0_go_to_the_left(self) -> None:
        display = WeightsDisplay(["a", "b"], [[0.5, -1.0], [0.25, -0.5]]).plot()
        first, second = display.bars_
        assert [bar.get_x() for bar in second] == [-1.0, 0.5]  # behind the pieces of the first
        assert [bar.get_width() for bar in first] == [-1.0, 0.5]

    @pytest.mark.parametrize("top_k", [20, None])
    def test_many_kernels_can_be_read(self, top_k: int | None) -> None:
        names = [f"gaussian 0.00{m} on the standard error of column {m}" for m in range(150)]
        display = WeightsDisplay(names, np.linspace(1, 2, 150)).plot(top_k=top_k)
        assert len(display.ax_.get_yticks()) == (top_k or 150)
        check_can_be_read(display.figure_)

    def test_long_names_and_many_classes_can_be_read(self) -> None:
        names = [f"gaussian on {'a very long name of a column ' * 4}{m} $" for m in range(6)]
        for n_classes in (1, 50):
            weights = np.random.default_rng(0).random((n_classes, 6))
            check_can_be_read(WeightsDisplay(names, weights).plot().figure_)

    def test_no_kernel_in_use_is_a_picture_all_the_same(self) -> None:
        display = WeightsDisplay(["a", "b"], [0.0, 0.0]).plot()
        assert display.ax_.get_title() == "0 of 2 kernels in use"


class TestPath:
    def test_lines_are_the_weights_of_fits_at_each_C(self) -> None:
        X, y = flowers(2)
        path = [1.0, 10.0, 100.0]
        display = PathDisplay.from_estimator(HessianMKL(tol=1e-6), X, y, C=path)
        cold = [HessianMKL(tol=1e-6, C=C).fit(X, y).kernel_weights() for C in path]
        assert len(display.lines_) > 2
        for line in display.lines_:
            np.testing.assert_array_equal(line.get_xdata(), path)
            expected = [weights[line.get_label()] for weights in cold]
            np.testing.assert_allclose(line.get_ydata(), expected, atol=1e-12)
        assert display.ax_.get_xscale() == "log"
        check_can_be_read(display.figure_)

    def test_it_is_warm_started_and_leaves_the_estimator_alone(self) -> None:
        X, y = flowers(2)
        model = MKL(kernel="feature_gaussians", C=7.0).fit(X, y)
        before = model.weights_.copy()
        display = PathDisplay.from_estimator(model, X, y, C=np.geomspace(0.1, 100, 3), top_k=2)
        np.testing.assert_array_equal(model.weights_, before)
        assert (model.C, model.warm_start) == (7.0, False)
        assert len(display.lines_) == 2
        np.testing.assert_allclose(display.weights.sum(axis=2), 1.0)

    def test_of_several_classes_it_is_the_mean(self) -> None:
        X, y = flowers(3)
        display = PathDisplay.from_estimator(MKL(), X, y, C=[1.0, 10.0])
        weights = MKL(C=10.0).fit(X, y).kernel_weights().mean(axis=1)
        for line in display.lines_:
            assert line.get_ydata()[1] == pytest.approx(weights[line.get_label()], abs=0.02)

    def test_steps_before_it_in_a_pipeline_are_fitted_to_flowers(self) -> None:
        X, y = flowers(2)
        pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), MKL())
        scaled = PathDisplay.from_estimator(pipeline, X * 1000.0 + 5.0, y, C=[1.0, 10.0])
        X = pd.DataFrame(StandardScaler().fit_transform(X), columns=COLUMNS)
        plain = PathDisplay.from_estimator(MKL(), X, y, C=[1.0, 10.0])
        np.testing.assert_allclose(scaled.weights, plain.weights, atol=1e-6)
        assert scaled.names == plain.names
        assert not hasattr(pipeline[0], "mean_")

    def test_kernels_that_are_not_named_are_grey(self) -> None:
        rng = np.random.default_rng(0)
        display = PathDisplay([1, 10, 100], [f"k{m}" for m in range(400)], rng.random((3, 400)))
        display.plot(top_k=5)
        assert len(display.lines_) == 5
        assert "395 others" in legend(display.ax_)
        check_can_be_read(display.figure_)


class TestConvergence:
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_lines_are_the_history(self, n_classes: int) -> None:
        X, y = flowers(n_classes)
        model = SimpleMKL(kernel="feature_gaussians", C=10.0, tol=1e-3).fit(X, y)
        display = ConvergenceDisplay.from_estimator(model)
        histories = model.history_ if n_classes > 2 else [model.history_]
        assert set(display.lines_) == {"objective", "gap"}
        for panel, lines in display.lines_.items():
            for line, history in zip(lines, histories, strict=True):
                np.testing.assert_array_equal(line.get_ydata(), [each[panel] for each in history])
                calls = [each["n_svm_calls"] for each in history]
                np.testing.assert_array_equal(line.get_xdata(), calls)
        assert display.axes_[1].get_yscale() == "log"
        assert legend(display.axes_[1]) == ["tol = 0.001"]
        check_can_be_read(display.figure_)

    def test_without_gaps_there_is_one_panel(self) -> None:
        display = ConvergenceDisplay.from_estimator(fitted_to_flowers("QNPKL", 2))
        assert list(display.lines_) == ["objective"]
        assert len(display.axes_) == 1


class TestAlignment:
    @staticmethod
    def alignment(K: Array, L: Array) -> float:
        n = len(K)
        H = np.eye(n) - 1 / n
        K, L = H @ K @ H, H @ L @ H
        return float((K * L).sum() / np.sqrt((K * K).sum() * (L * L).sum()))

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_alignments_are_those_of_the_definition(self, n_classes: int) -> None:
        X, y = flowers(n_classes)
        kernels = ["linear on petal width", "gaussian 2 on sepal length"]
        model = fitted_to_flowers("MKL", n_classes)
        display = AlignmentDisplay.from_estimator(model, X, y, kernels=kernels)
        width, length = X["petal width"].to_numpy(), X["sepal length"].to_numpy()
        grams = [
            np.outer(width, width),
            np.exp(-2.0 * (length[:, None] - length) ** 2),
            (y[:, None] == y).astype(float),
        ]
        chosen = [0, 1, -1]  # the learned kernel stands before the target
        expected = [[self.alignment(K, L) for L in grams] for K in grams]
        np.testing.assert_allclose(display.alignments[np.ix_(chosen, chosen)], expected, atol=1e-10)
        assert display.names == [*kernels, "learned kernel", "target"]
        check_can_be_read(display.figure_)

    def test_the_target_of_a_regression(self) -> None:
        X, _ = flowers(3)
        y = X["petal width"].to_numpy()
        model = KRR(kernel="linear_features").fit(X, y)
        display = AlignmentDisplay.from_estimator(model, X, y, kernels=["linear on petal width"])
        assert display.alignments[0, -1] == pytest.approx(1.0)

    def test_many_kernels_can_be_read(self) -> None:
        names = [f"gaussian 0.00{m} on the standard error of column {m}" for m in range(120)]
        check_can_be_read(AlignmentDisplay(names, np.eye(120)).plot().figure_)

    @pytest.mark.parametrize("estimator", [IKL(samples=0, tol=0.1), QNPKL()])
    def test_of_a_family_it_is_the_learned_kernel(self, estimator: IKL | QNPKL) -> None:
        X, y = flowers(2)
        model = estimator.fit(X, y)
        display = AlignmentDisplay.from_estimator(model, X, y)
        assert display.names == ["learned kernel", "target"]
        K = model.combined_kernel(X)  # beside the training samples, which these are
        expected = self.alignment(K, (y[:, None] == y).astype(float))
        assert display.alignments[0, 1] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("n_classes", [pytest.param(2, marks=pytest.mark.slow), 3])
@pytest.mark.parametrize("name", KINDS_FIRST)
def test_every_estimator_can_be_drawn(name: str, n_classes: int) -> None:
    X, y = flowers(n_classes)
    model = fitted_to_flowers(name, n_classes)
    targets = y if is_classifier(model) else X["petal width"]
    drawn: list[Any] = [
        WeightsDisplay.from_estimator(model),
        ConvergenceDisplay.from_estimator(model),
        AlignmentDisplay.from_estimator(model, X, targets, top_k=3),
    ]
    for display in drawn:
        check_can_be_read(display.figure_)


def test_pipelines_and_searches_are_looked_into() -> None:
    X, y = flowers(2)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), MKL())
    search = GridSearchCV(pipeline, {"mkl__C": [1.0, 10.0]}, cv=2).fit(X, y)
    best = search.best_estimator_[-1]
    names = [
        label.get_text() for label in WeightsDisplay.from_estimator(search).ax_.get_yticklabels()
    ]
    assert names[0] == best.kernel_weights(sort=True).index[0]
    scaled = search.best_estimator_[0].transform(X)
    inside = AlignmentDisplay.from_estimator(search, X, y, top_k=3)
    alone = AlignmentDisplay.from_estimator(best, scaled, y, top_k=3)
    np.testing.assert_allclose(inside.alignments, alone.alignments)


def test_given_axes_are_drawn_in() -> None:
    X, y = flowers(2)
    model = fitted_to_flowers("MKL", 2)
    figure, axes = pyplot.subplots(1, 5)
    drawn: list[Any] = [
        WeightsDisplay.from_estimator(model, ax=axes[0]),
        PathDisplay.from_estimator(model, X, y, C=[1, 10], ax=axes[1]),
        AlignmentDisplay.from_estimator(model, X, y, top_k=2, ax=axes[2]),
    ]
    for display, ax in zip(drawn, axes[:3], strict=True):
        assert display.ax_ is ax
        assert display.figure_ is figure
    convergence = ConvergenceDisplay.from_estimator(model, ax=axes[3])
    assert list(convergence.lines_) == ["objective"]
    assert list(convergence.plot(ax=axes[3:]).lines_) == ["objective", "gap"]
