"""Every kernel operator against its dense twin: one set of tests for all banks and families."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from dense_twins import BANK_CASES, FAMILY_CASES, BankCase, FamilyCase, dense_distances
from every_kernel import BOUNDED, UNBOUNDED
from numpy.testing import assert_allclose, assert_array_equal

from mklbench.errors import InputError
from mklbench.kernels import (
    FamilyBank,
    KernelSubset,
    Precomputed,
    feature_gaussians,
    isotropic_gaussians,
    product_gaussians,
)
from mklbench.kernels.base import KernelOperator
from mklbench.kernels.continuous import Family, RoughFamily
from mklbench.kernels.families import ProductGaussians
from mklbench.testing import check_operator

bank_case = cache(lambda name: BANK_CASES[name]())
family_case = cache(lambda name: FAMILY_CASES[name]())


@pytest.fixture(params=BANK_CASES)
def case(request: pytest.FixtureRequest) -> BankCase:
    return bank_case(request.param)


@pytest.fixture(params=FAMILY_CASES)
def family(request: pytest.FixtureRequest) -> FamilyCase:
    return family_case(request.param)


def assert_twins(actual: np.ndarray, dense: np.ndarray, scale: float | None = None) -> None:
    """Agreement to 1e-10 of the largest entry (or of `scale`)."""
    assert actual.shape == dense.shape
    largest = np.abs(dense).max() if scale is None else scale
    assert_allclose(actual, dense, rtol=0, atol=1e-10 * largest)


def subclasses(kind: type) -> set[type]:
    own: list[type] = kind.__subclasses__()
    return {every for each in own for every in {each, *subclasses(each)}}


def test_every_operator_has_a_dense_twin() -> None:
    operators = {
        kind
        for kind in subclasses(KernelOperator)
        if kind.__module__.startswith("mklbench.kernels") and not inspect.isabstract(kind)
    }
    twins: set[type[KernelOperator]] = {type(bank_case(name).bank) for name in BANK_CASES}
    twins |= {type(family_case(name).family) for name in FAMILY_CASES}
    assert operators <= twins, "add a case to dense_twins.py for each operator without one"


def test_every_bank_agrees_with_its_dense_twin(case: BankCase) -> None:
    assert_allclose(case.bank.uniform_weights(), np.full(len(case.stack), 1 / len(case.stack)))
    check_operator(case.bank, grams=case.stack, cross=case.cross, new=case.new)


def test_every_family_agrees_with_its_definition(family: FamilyCase) -> None:
    check_operator(family.family, new=family.Z, kernel=family.kernel)


@pytest.mark.parametrize("name", [*BOUNDED, *UNBOUNDED])
def test_every_builder_makes_what_it_declares(name: str) -> None:
    # Centring leaves little of the cubes of a feature, with the rounding of the whole.
    tolerance = 1e-8 if name == "normalised" else 1e-10
    check_operator({**BOUNDED, **UNBOUNDED}[name], tolerance=tolerance)


def test_every_builder_from_row_numbers_makes_what_it_declares() -> None:
    root = np.random.default_rng(0).standard_normal((3, 40, 5))
    check_operator(Precomputed(root @ root.transpose(0, 2, 1)))


def test_a_feature_bank_orders_its_kernels_by_feature() -> None:
    assert bank_case("features").bank.features == tuple(np.repeat(range(6), 4))


class TestFamily:
    @pytest.fixture
    def theta(self, family: FamilyCase) -> np.ndarray:
        return np.random.default_rng(2).uniform(0.05, 0.8, family.family.n_kernels)

    @pytest.fixture
    def a(self, family: FamilyCase) -> np.ndarray:
        rng = np.random.default_rng(3)
        n = family.family.n_samples
        return rng.standard_normal(n) * (rng.uniform(size=n) < 0.6)

    @pytest.mark.parametrize("scale", [0.0, 1e-8, 1e6])
    def test_gram_at_extreme_parameters(self, family: FamilyCase, scale: float) -> None:
        theta = np.full(family.family.n_kernels, scale)
        # Rounding of a distance is multiplied by theta, so beyond 1 the bound scales with it.
        dense = family.kernel(theta, family.X, family.X)
        assert_twins(family.family.gram(theta), dense, max(1.0, scale))

    def test_gradient_where_parameters_are_zero(self, family: FamilyCase, a: np.ndarray) -> None:
        theta = np.zeros(family.family.n_kernels)
        assert_twins(family.family.gradient(theta, a), family.gradient(theta, a))

    @pytest.mark.parametrize("scale", [1.0, 0.01, 1e3])
    def test_rough_kernels_are_those_of_the_family(
        self, request: pytest.FixtureRequest, family: FamilyCase, theta: np.ndarray, scale: float
    ) -> None:
        if scale > 1.0 and isinstance(family.family, ProductGaussians):
            reason = "single precision loses 2e-4 between equal samples whose exponents cancel"
            request.applymarker(pytest.mark.xfail(strict=True, reason=reason))
        theta[::2] = 0.0
        parameters = scale * theta
        rough = family.family.single_precision().gram(parameters)
        assert_allclose(rough, family.family.gram(parameters), atol=2e-5)

    def test_rough_quadratic_form(
        self, family: FamilyCase, theta: np.ndarray, a: np.ndarray
    ) -> None:
        rough = family.family.single_precision()
        value, gradient = rough.quadratic_form(theta, a, rough.gram(theta))
        dense = a @ family.kernel(theta, family.X, family.X) @ a
        slopes = family.gradient(theta, a)
        assert value == pytest.approx(dense, abs=1e-5 * np.abs(a).sum() ** 2)
        # A feature around 1000 is shifted to 0 first: no digits are lost to its mean.
        assert_allclose(gradient, slopes, atol=1e-4 * np.abs(slopes).max())

    def test_rough_value(self, family: FamilyCase, theta: np.ndarray, a: np.ndarray) -> None:
        rough = family.family.single_precision()
        for used in (slice(None), slice(1), slice(0)):  # all parameters, one, none
            parameters = np.zeros_like(theta)
            parameters[used] = theta[used]
            dense = a @ family.kernel(parameters, family.X, family.X) @ a
            value = rough.value(parameters, a)
            assert value == pytest.approx(dense, abs=1e-5 * np.abs(a).sum() ** 2)

    def test_rough_evaluations_by_default(self, theta: np.ndarray, a: np.ndarray) -> None:
        """A family need not have any of its own."""
        family = family_case("product of Gaussians").family
        theta = np.resize(theta, family.n_kernels)
        rough = RoughFamily(family)
        value, gradient = rough.quadratic_form(theta, a, rough.gram(theta))
        assert value == pytest.approx(a @ family.gram(theta) @ a)
        assert rough.value(theta, a) == pytest.approx(value)
        assert_allclose(gradient, family.gradient(theta, a))


def test_an_outlier_does_not_cost_digits() -> None:
    X = np.random.default_rng(0).standard_normal((50, 2))
    X[0, 0] = 1e6
    dense = np.exp(-dense_distances(X[:, [0]], X[:, [0]]))
    assert_allclose(feature_gaussians(X).gram([1.0, 0.0]), dense, rtol=0, atol=1e-10)


class TestBox:
    @pytest.mark.parametrize("build", [product_gaussians, isotropic_gaussians])
    def test_starts_are_within_it(self, build: Callable[..., Family]) -> None:
        X = np.random.default_rng(0).standard_normal((12, 3))
        family = build(X, gamma_min=0.5, gamma_max=4.0)
        for starts in (family.scales(), family.starts()):
            assert starts.shape[1] == family.n_kernels
            assert (starts >= family.lower).all()
            assert (starts <= family.upper).all()
        restricted = family.take(np.arange(5))
        assert_array_equal(restricted.lower, family.lower)
        assert_array_equal(restricted.upper, family.upper)

    def test_starts_of_products_are_isotropic_or_on_one_feature(self) -> None:
        X = np.random.default_rng(0).standard_normal((12, 3))
        family = product_gaussians(X, gamma_max=30.0)
        assert (np.ptp(family.scales(), axis=1) == 0).all()
        others = family.starts()[len(family.scales()) :]
        assert len(others) == 3 * len(family.scales())
        assert (np.count_nonzero(others, axis=1) == 1).all()

    @pytest.mark.parametrize(
        "box", [(2.0, 1.0), (-1.0, 1.0), (0.0, 0.0), (np.nan, 1.0), (0.0, np.nan)]
    )
    def test_an_empty_box_is_refused(self, box: tuple[float, float]) -> None:
        with pytest.raises(InputError, match="leave no kernel to choose"):
            product_gaussians(np.eye(3), gamma_min=box[0], gamma_max=box[1])


class TestMembers:
    def test_thetas_must_fit_the_family(self) -> None:
        family = family_case("product of Gaussians").family
        with pytest.raises(InputError, match="the family has 6 parameters"):
            FamilyBank(family, np.ones((2, 5)))

    def test_update_computes_only_what_has_changed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        family = family_case("product of Gaussians").family
        thetas = np.random.default_rng(0).uniform(size=(3, 6))
        bank = FamilyBank(family, thetas)
        bank.traces()
        computed: list[np.ndarray] = []
        gram = type(family).gram

        def counted(self: Family, theta: np.ndarray) -> np.ndarray:
            computed.append(theta)
            return gram(self, theta)

        monkeypatch.setattr(type(family), "gram", counted)
        changed = np.vstack([thetas, thetas[:1] + 1.0])
        changed[1] *= 2.0
        bank.update(changed)
        assert_array_equal(computed, changed[[1, 3]])

    def test_subset_looks_at_the_features_of_its_kernels(self) -> None:
        X = np.random.default_rng(0).standard_normal((12, 3))
        assert KernelSubset(feature_gaussians(X), [2, 0]).features == (2, 0)
