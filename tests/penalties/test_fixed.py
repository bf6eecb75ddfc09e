"""Weights that are given, against a conic solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from penalty_checks import Described, WeightChecks

from mklbench.penalties.simple import Fixed

WEIGHTS = np.array([0.3, 1.0, 2.0, 0.05, 0.7])


class TestFixed(WeightChecks):
    @pytest.fixture
    def penalty(self) -> Fixed:
        return Fixed(WEIGHTS)

    @pytest.fixture
    def described(self) -> Described:
        return lambda d: (cp.Constant(0.0), [d == WEIGHTS])
