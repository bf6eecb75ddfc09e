"""Every kernel operator against its dense twin: one set of tests for all banks and families."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from dense_twins import BANK_CASES, FAMILY_CASES, BankCase, FamilyCase, dense_distances
from numpy.testing import assert_allclose, assert_array_equal

import mklbench.kernels
from mklbench.errors import InputError
from mklbench.kernels import (
    FamilyBank,
    KernelSubset,
    feature_gaussians,
    isotropic_gaussians,
    product_gaussians,
)
from mklbench.kernels.base import Bank, Family, KernelOperator, RoughFamily
from mklbench.kernels.families import ProductGaussians
from mklbench.libsvm import SVM

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


def weight_vectors(n_kernels: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    dense = rng.uniform(size=n_kernels)
    half = np.where(np.arange(n_kernels) % 2, dense, 0.0)
    one = np.zeros(n_kernels)
    one[-1] = 0.7
    return {"all": dense, "half": half, "one": one, "none": np.zeros(n_kernels)}


def test_every_operator_has_a_dense_twin() -> None:
    operators = {
        thing
        for _, thing in inspect.getmembers(mklbench.kernels, inspect.isclass)
        if issubclass(thing, KernelOperator) and not inspect.isabstract(thing)
    }
    twins = {type(bank_case(name).bank) for name in BANK_CASES}
    twins |= {type(family_case(name).family) for name in FAMILY_CASES}
    assert operators <= twins, "add a case to dense_twins.py for each operator without one"


class TestBank:
    def test_describes_its_kernels(self, case: BankCase) -> None:
        bank = case.bank
        assert (bank.n_kernels, bank.n_samples) == case.stack.shape[:2]
        assert len(bank.features) == bank.n_kernels
        assert_allclose(bank.uniform_weights(), np.full(bank.n_kernels, 1 / bank.n_kernels))

    @pytest.mark.parametrize("which", ["all", "half", "one", "none"])
    def test_combine(self, case: BankCase, which: str) -> None:
        d = weight_vectors(case.bank.n_kernels)[which]
        dense = np.tensordot(d, case.stack, axes=1)
        assert_twins(case.bank.combine(d), dense)
        assert_twins(case.bank.gram(d), dense)

    def test_every_single_kernel(self, case: BankCase) -> None:
        every = np.eye(case.bank.n_kernels)
        for m in range(0, case.bank.n_kernels, max(1, case.bank.n_kernels // 24)):
            assert_twins(case.bank.combine(every[m]), case.stack[m])

    @pytest.mark.parametrize("which", ["all", "one", "none"])
    def test_combine_into_the_memory_of_the_solver(self, case: BankCase, which: str) -> None:
        d = weight_vectors(case.bank.n_kernels)[which]
        y = np.resize([-1.0, 1.0], case.bank.n_samples)
        strided = SVM(y).gram
        strided[...] = np.nan
        assert case.bank.gram(d, out=strided) is strided
        assert_twins(strided, np.tensordot(d, case.stack, axes=1))

    @pytest.mark.parametrize("which", ["all", "one", "none"])
    def test_accumulate_onto_the_memory_of_the_solver(self, case: BankCase, which: str) -> None:
        d = weight_vectors(case.bank.n_kernels)[which]
        strided = SVM(np.resize([-1.0, 1.0], case.bank.n_samples)).gram
        there = case.stack.sum(axis=0)
        strided[...] = there
        case.bank.accumulate(d, strided)
        assert_twins(strided, there + np.tensordot(d, case.stack, axes=1))

    def test_combining_again_gives_the_same(self, case: BankCase) -> None:
        """What a bank keeps of earlier combinations does not show."""
        rng = np.random.default_rng(10)
        for share in (1.0, 0.3, 0.3, 0.1, 0.1, 0.6, 0.1):
            active = rng.uniform(size=case.bank.n_kernels) < share
            for _ in range(2):
                d = rng.uniform(size=case.bank.n_kernels) * active
                dense = np.tensordot(d, case.stack, axes=1)
                assert_twins(case.bank.combine(d), dense, np.abs(case.stack).max())

    def test_a_result_belongs_to_the_caller(self, case: BankCase) -> None:
        d = np.eye(case.bank.n_kernels)[0]
        case.bank.combine(d)[...] = np.nan
        assert_twins(case.bank.combine(d), case.stack[0])

    @pytest.mark.parametrize("support", [1.0, 0.2, 0.0])
    def test_quadratic_forms(self, case: BankCase, support: float) -> None:
        rng = np.random.default_rng(8)
        n = case.bank.n_samples
        a = rng.standard_normal(n) * (rng.uniform(size=n) < support)
        dense = np.einsum("i,mij,j->m", a, case.stack, a)
        actual = case.bank.quadratic_forms(a)
        assert actual.shape == dense.shape
        tolerance = 1e-10 * np.abs(case.stack).max(axis=(1, 2)) * np.abs(a).sum() ** 2
        assert (np.abs(actual - dense) <= tolerance).all()

    @pytest.mark.parametrize("chosen", [[], [-1], [3, 0, 2], "all"])
    def test_products(self, case: BankCase, chosen: list[int] | str) -> None:
        bank = case.bank
        kernels = np.arange(bank.n_kernels) if chosen == "all" else np.array(chosen, dtype=int)
        kernels = kernels % bank.n_kernels
        a = np.random.default_rng(9).standard_normal(bank.n_samples)
        dense = np.einsum("mij,j->mi", case.stack[kernels], a)
        actual = bank.products(a, kernels)
        assert actual.shape == dense.shape
        tolerance = 1e-10 * np.abs(case.stack[kernels]).sum(axis=2).max(axis=1) * np.abs(a).max()
        assert (np.abs(actual - dense) <= tolerance[:, None]).all()

    def test_traces(self, case: BankCase) -> None:
        assert_twins(case.bank.traces(), np.trace(case.stack, axis1=1, axis2=2))

    def test_diagonals(self, case: BankCase) -> None:
        dense = np.einsum("mii->mi", case.stack)
        assert_twins(case.bank.diagonals(), dense)

    def test_inner_products(self, case: BankCase) -> None:
        flat = case.stack.reshape(case.bank.n_kernels, -1)
        assert_twins(case.bank.inner_products(), flat @ flat.T)

    def test_inner_products_of_centred_kernels(self, case: BankCase) -> None:
        H = np.eye(case.bank.n_samples) - 1.0 / case.bank.n_samples
        flat = (H @ case.stack @ H).reshape(case.bank.n_kernels, -1)
        actual = case.bank.inner_products(centred=True)
        # Centring leaves little of some kernels, with the rounding of the whole.
        smallest = 3e-3 * np.linalg.norm(case.stack, axis=(1, 2))
        units = np.maximum(np.linalg.norm(flat, axis=1), smallest)
        assert_twins(actual / np.outer(units, units), flat @ flat.T / np.outer(units, units), 1.0)
        assert_array_equal(case.bank.centred_products, actual)

    def test_inner_products_with_a_matrix(self, case: BankCase) -> None:
        root = np.random.default_rng(3).standard_normal((case.bank.n_samples, 3))
        K = root @ root.T - np.eye(case.bank.n_samples)
        dense = np.einsum("mij,ij->m", case.stack, K)
        scale = np.linalg.norm(case.stack, axis=(1, 2)).max() * np.linalg.norm(K)
        assert_twins(case.bank.inner_products_with(K), dense, scale)

    def test_target_alignments(self, case: BankCase) -> None:
        y = np.where(np.random.default_rng(4).uniform(size=case.bank.n_samples) < 0.5, -1.0, 1.0)
        dense = np.einsum("mij,i,j->m", case.stack, y, y)
        assert_twins(case.bank.target_alignments(y), dense, np.abs(case.stack).sum((1, 2)).max())

    @pytest.mark.parametrize("which", ["all", "half", "one", "none"])
    def test_cross(self, case: BankCase, which: str) -> None:
        d = weight_vectors(case.bank.n_kernels)[which]
        dense = np.tensordot(d, case.cross, axes=1)
        assert_twins(case.bank.cross(d, case.new), dense)

    def test_restrict(self, case: BankCase) -> None:
        rows = np.random.default_rng(6).permutation(case.bank.n_samples)[: case.bank.n_samples // 2]
        d = weight_vectors(case.bank.n_kernels)["all"]
        restricted = case.bank.restrict(rows)
        assert isinstance(restricted, Bank)
        assert restricted.n_samples == len(rows)
        assert restricted.features == case.bank.features
        assert restricted.groups == case.bank.groups
        dense = case.stack[:, rows[:, None], rows]
        assert_twins(restricted.combine(d), np.tensordot(d, dense, axes=1))
        assert_twins(restricted.traces(), np.trace(dense, axis1=1, axis2=2))
        a = np.linspace(-1, 1, len(rows))
        forms = np.einsum("i,mij,j->m", a, dense, a)
        assert_twins(restricted.quadratic_forms(a), forms, np.abs(dense).sum((1, 2)).max())
        new = case.new_after_restricting(rows)
        assert_twins(restricted.cross(d, new), np.tensordot(d, case.cross[:, :, rows], axes=1))

    def test_restrict_again(self, case: BankCase) -> None:
        first = np.random.default_rng(7).permutation(case.bank.n_samples)[:-2]
        second = np.array([4, 0, 3, 2])
        rows = first[second]
        bank = case.bank.restrict(first).restrict(second)
        dense = case.stack[:, rows[:, None], rows]
        d, a = weight_vectors(bank.n_kernels)["all"], np.array([1.0, -2.0, 0.0, 0.5])
        assert_twins(bank.combine(d), np.tensordot(d, dense, axes=1))
        every = np.arange(bank.n_kernels)
        scale = np.abs(dense).sum(axis=(1, 2)).max()
        assert_twins(bank.products(a, every), np.einsum("mij,j->mi", dense, a), scale)
        assert_twins(bank.quadratic_forms(a), np.einsum("i,mij,j->m", a, dense, a), scale)
        new = case.new_after_restricting(rows)
        assert_twins(bank.cross(d, new), np.tensordot(d, case.cross[:, :, rows], axes=1))

    def test_wrong_number_of_weights(self, case: BankCase) -> None:
        wrong = np.ones(case.bank.n_kernels + 1)
        with pytest.raises(InputError, match=f"there are {case.bank.n_kernels} kernels"):
            case.bank.gram(wrong)


def test_a_feature_bank_orders_its_kernels_by_feature() -> None:
    assert bank_case("features as halves").bank.features == tuple(np.repeat(range(6), 4))


class TestFamily:
    @pytest.fixture
    def theta(self, family: FamilyCase) -> np.ndarray:
        return np.random.default_rng(2).uniform(0.05, 0.8, family.family.n_kernels)

    @pytest.fixture
    def a(self, family: FamilyCase) -> np.ndarray:
        rng = np.random.default_rng(3)
        n = family.family.n_samples
        return rng.standard_normal(n) * (rng.uniform(size=n) < 0.6)

    def test_gram(self, family: FamilyCase, theta: np.ndarray) -> None:
        dense = family.kernel(theta, family.X, family.X)
        K = family.family.gram(theta)
        assert_twins(K, dense)
        assert_array_equal(K.diagonal(), 1.0)

    def test_gram_into_the_memory_of_the_solver(
        self, family: FamilyCase, theta: np.ndarray
    ) -> None:
        strided = SVM(np.resize([-1.0, 1.0], family.family.n_samples)).gram
        assert family.family.gram(theta, out=strided) is strided
        assert_twins(strided, family.kernel(theta, family.X, family.X))

    @pytest.mark.parametrize("scale", [0.0, 1e-8, 1e6])
    def test_gram_at_extreme_parameters(self, family: FamilyCase, scale: float) -> None:
        theta = np.full(family.family.n_kernels, scale)
        # Rounding of a distance is multiplied by theta, so beyond 1 the bound scales with it.
        dense = family.kernel(theta, family.X, family.X)
        assert_twins(family.family.gram(theta), dense, max(1.0, scale))

    def test_cross(self, family: FamilyCase, theta: np.ndarray) -> None:
        assert_twins(family.family.cross(theta, family.Z), family.kernel(theta, family.Z, family.X))

    def test_restrict(self, family: FamilyCase, theta: np.ndarray) -> None:
        rows = np.array([30, 2, 17, 4])
        restricted = family.family.restrict(rows)
        assert isinstance(restricted, Family)
        X = family.X[rows]
        assert_twins(restricted.gram(theta), family.kernel(theta, X, X))
        assert_twins(restricted.cross(theta, family.Z), family.kernel(theta, family.Z, X))

    def test_gradient_against_the_stack_of_distances(
        self, family: FamilyCase, theta: np.ndarray, a: np.ndarray
    ) -> None:
        assert_twins(family.family.gradient(theta, a), family.gradient(theta, family.X, a))

    def test_gradient_against_finite_differences(
        self, family: FamilyCase, theta: np.ndarray, a: np.ndarray
    ) -> None:
        step = 1e-5
        differences = [
            (a @ family.kernel(theta + e, family.X, family.X) @ a)
            - (a @ family.kernel(theta - e, family.X, family.X) @ a)
            for e in step * np.eye(len(theta))
        ]
        numeric = np.array(differences) / (2 * step)
        assert_allclose(
            family.family.gradient(theta, a), numeric, atol=1e-6 * np.abs(numeric).max()
        )

    def test_gradient_where_parameters_are_zero(self, family: FamilyCase, a: np.ndarray) -> None:
        theta = np.zeros(family.family.n_kernels)
        assert_twins(family.family.gradient(theta, a), family.gradient(theta, family.X, a))

    def test_gradient_of_nothing_is_zero(self, family: FamilyCase, theta: np.ndarray) -> None:
        a = np.zeros(family.family.n_samples)
        assert_array_equal(family.family.gradient(theta, a), 0.0)

    @pytest.mark.parametrize("bad", [-0.1, np.nan])
    def test_parameters_are_not_negative(self, family: FamilyCase, bad: float) -> None:
        theta = np.ones(family.family.n_kernels)
        theta[-1] = bad
        with pytest.raises(InputError, match="theta has the entry"):
            family.family.gram(theta)

    def test_wrong_number_of_parameters(self, family: FamilyCase) -> None:
        with pytest.raises(InputError, match="weights have shape"):
            family.family.gram(np.ones(family.family.n_kernels + 2))

    @pytest.mark.parametrize("scale", [1.0, 0.01, 1e3])
    def test_rough_kernels_are_those_of_the_family(
        self, request: pytest.FixtureRequest, family: FamilyCase, theta: np.ndarray, scale: float
    ) -> None:
        if scale > 1.0 and isinstance(family.family, ProductGaussians):
            reason = "single precision loses 2e-4 between equal samples whose exponents cancel"
            request.applymarker(pytest.mark.xfail(strict=True, reason=reason))
        theta[::2] = 0.0
        parameters = scale * theta
        rough = family.family.rough().gram(parameters)
        assert_allclose(rough, family.family.gram(parameters), atol=2e-5)

    def test_rough_quadratic_form(
        self, family: FamilyCase, theta: np.ndarray, a: np.ndarray
    ) -> None:
        rough = family.family.rough()
        value, gradient = rough.quadratic_form(theta, a, rough.gram(theta))
        dense = a @ family.kernel(theta, family.X, family.X) @ a
        slopes = family.gradient(theta, family.X, a)
        assert value == pytest.approx(dense, abs=1e-5 * np.abs(a).sum() ** 2)
        # A feature around 1000 is shifted to 0 first: no digits are lost to its mean.
        assert_allclose(gradient, slopes, atol=1e-4 * np.abs(slopes).max())

    def test_rough_value(self, family: FamilyCase, theta: np.ndarray, a: np.ndarray) -> None:
        rough = family.family.rough()
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
    assert_allclose(
        mklbench.kernels.feature_gaussians(X).gram([1.0, 0.0]), dense, rtol=0, atol=1e-10
    )


class TestBox:
    @pytest.mark.parametrize("build", [product_gaussians, isotropic_gaussians])
    def test_starts_are_within_it(self, build: Callable[..., Family]) -> None:
        X = np.random.default_rng(0).standard_normal((12, 3))
        family = build(X, gamma_min=0.5, gamma_max=4.0)
        for starts in (family.scales(), family.starts()):
            assert starts.shape[1] == family.n_kernels
            assert (starts >= family.lower).all()
            assert (starts <= family.upper).all()
        restricted = family.restrict(np.arange(5))
        assert_array_equal(restricted.lower, family.lower)
        assert_array_equal(restricted.upper, family.upper)

    def test_starts_of_products_are_isotropic_or_on_one_feature(self) -> None:
        X = np.random.default_rng(0).standard_normal((12, 3))
        family = product_gaussians(X, gamma_max=30.0)
        assert (np.ptp(family.scales(), axis=1) == 0).all()
        others = family.starts()[len(family.scales()) :]
        assert len(others) == 3 * len(family.scales())
        assert (np.count_nonzero(others, axis=1) == 1).all()

    @pytest.mark.parametrize("build", [product_gaussians, isotropic_gaussians])
    @pytest.mark.parametrize(
        "box", [(2.0, 1.0), (-1.0, 1.0), (0.0, 0.0), (np.nan, 1.0), (0.0, np.nan)]
    )
    def test_an_empty_box_is_refused(
        self, build: Callable[..., Family], box: tuple[float, float]
    ) -> None:
        X = np.random.default_rng(0).standard_normal((12, 3))
        with pytest.raises(InputError, match="leave no kernel to choose"):
            build(X, gamma_min=box[0], gamma_max=box[1])


class TestMembers:
    def test_thetas_must_fit_the_family(self) -> None:
        family = family_case("product of Gaussians").family
        with pytest.raises(InputError, match="the family has 6 parameters"):
            FamilyBank(family, np.ones((2, 5)))

    def test_update_computes_only_what_has_changed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        family = family_case("product of Gaussians").family
        thetas = np.random.default_rng(0).uniform(size=(3, 6))
        bank = FamilyBank(family, thetas)
        computed: list[np.ndarray] = []
        gram = type(family).gram
        monkeypatch.setattr(
            type(family), "gram", lambda self, theta: computed.append(theta) or gram(self, theta)
        )
        changed = np.vstack([thetas, thetas[:1] + 1.0])
        changed[1] *= 2.0
        bank.update(changed)
        assert_array_equal(computed, changed[[1, 3]])

    def test_subset_looks_at_the_features_of_its_kernels(self) -> None:
        X = np.random.default_rng(0).standard_normal((12, 3))
        assert KernelSubset(feature_gaussians(X), [2, 0]).features == (2, 0)
