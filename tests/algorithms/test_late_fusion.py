"""Late fusion: independent machines, their mean and their votes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from alignment_problems import real_targets, scaled_stack
from narrowing import present
from numpy.testing import assert_allclose, assert_array_equal

from mklbench import multiclass
from mklbench.algorithms import best_kernel, late_fusion, svm
from mklbench.errors import InputError
from mklbench.kernels import PrecomputedBank, feature_gaussians


def test_the_mean_of_machines_that_know_one_kernel_each() -> None:
    stack, y = scaled_stack()
    solution = late_fusion.solve(PrecomputedBank(stack), y, C=3.0)
    alone = [svm.solve(PrecomputedBank(K[None]), y, C=3.0) for K in stack]
    values = [K @ s.dual_coef + s.intercept for K, s in zip(stack, alone, strict=True)]
    decision = multiclass.decision_function(PrecomputedBank(stack), [solution], stack)
    assert_allclose(decision, np.mean(values, axis=0))
    assert_allclose(solution.objective, np.mean([s.objective for s in alone]))
    assert solution.gap == max(s.gap for s in alone)
    assert solution.n_svm_calls == 6
    assert_allclose(solution.weights, 1.0 / 6.0)
    assert [entry["n_svm_calls"] for entry in solution.history] == [1, 2, 3, 4, 5, 6]


def test_groups_share_a_machine() -> None:
    stack, y = scaled_stack()
    groups = [[0, 1, 2], [3, 4], [5]]
    bank = PrecomputedBank(stack, groups)
    for choice in ("bank", groups):
        members = present(late_fusion.solve(bank, y, groups=choice).members)
        assert_allclose([m.weights[g].sum() for m, g in zip(members, groups, strict=True)], 1.0)
        assert [np.count_nonzero(m.weights) for m in members] == [3, 2, 1]
    alone = svm.solve(PrecomputedBank(stack[3:5]), y)
    assert_allclose(members[1].dual_coef, alone.dual_coef, atol=1e-9)
    assert len(present(late_fusion.solve(bank, y).members)) == 6


def test_votes_are_those_of_the_majority() -> None:
    X = np.random.default_rng(1).standard_normal((60, 5))
    y = np.where(X[:, 0] + X[:, 1] + X[:, 2] > 0, 1.0, -1.0)
    bank, Z = feature_gaussians(X), np.random.default_rng(2).standard_normal((200, 5))
    solution = late_fusion.solve(bank, y, vote=True)
    votes = np.sign(
        [multiclass.decision_function(bank, [member], Z) for member in present(solution.members)]
    )
    decision = multiclass.decision_function(bank, [solution], Z)
    assert_array_equal(decision > 0, votes.sum(axis=0) > 0)  # of five there is no tie
    assert_allclose(decision, votes.mean(axis=0), atol=1.0 / 15)
    mean = multiclass.decision_function(bank, [late_fusion.solve(bank, y)], Z)
    assert ((mean > 0) != (decision > 0)).any()


class TestVote:
    def test_a_tie_is_broken_by_the_mean(self) -> None:
        values = np.array([[3.0, -0.1, 1.0], [-1.0, 0.2, -1.0]])
        assert_array_equal(np.sign(multiclass.vote(values)), [1, 1, 0])
        assert_array_equal(np.sign(multiclass.vote(-values)), [-1, -1, 0])

    def test_no_mean_turns_a_majority(self) -> None:
        values = np.array([[-1e9], [1e-9], [1e-9]])
        assert multiclass.vote(values) > 0


@pytest.mark.parametrize(("learner", "option"), [("svm", "C"), ("krr", "lam")])
def test_with_folds_each_machine_has_a_c_of_its_own(learner: str, option: str) -> None:
    """That of the decades with the least loss on held-out samples, in units of the kernel."""
    stack, y = scaled_stack()
    bank = PrecomputedBank(stack)
    members = present(late_fusion.solve(bank, y, folds=3, learner=learner).members)
    chosen = set()
    for K, member in zip(stack, members, strict=True):
        alone, unit = PrecomputedBank(K[None]), K.diagonal().mean()
        best = {}
        for c in (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0):
            value = float(f"{unit / c if option == 'lam' else c / unit:.3g}")
            options: dict[str, Any] = {option: value, "folds": 3, "learner": learner}
            tried = best_kernel.solve(alone, y, **options)
            best[c] = tried.history[0]["held_out_loss"], tried
        c = min(best, key=lambda c: best[c][0])
        assert_allclose(member.dual_coef, best[c][1].dual_coef, atol=1e-9)
        chosen.add(c)
    assert len(chosen) > 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": "view"}, "groups=view is not known"),
        ({"groups": [[0, 1]]}, "do not name each of the 6 kernels exactly once"),
        ({"y": real_targets(), "learner": "krr", "vote": True}, "vote=true needs classes"),
        ({"y": real_targets()}, "choose learner=krr or learner=svr"),
        ({"folds": 1}, "folds=1"),
        ({"learner": "knn"}, "learner=knn is not known"),
    ],
)
def test_bad_input(arguments: dict, message: str) -> None:
    stack, y = scaled_stack()
    with pytest.raises(InputError, match=message):
        late_fusion.solve(PrecomputedBank(stack), **{"y": y, **arguments})
