"""What holds for every algorithm: found by their modules and configs, so that a new one is tested.

It is `mklbench.testing.check_algorithm`, which ships.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from cases import rest_slow

from mklbench import resources
from mklbench.algorithms import all_algorithms
from mklbench.kernels import (
    KernelBuilder,
    KernelOperator,
    feature_gaussians,
    gaussian,
)
from mklbench.solution import Solution
from mklbench.testing import check_algorithm

ALGORITHMS = all_algorithms()
CONFIGS = resources.choices("algo")
# Where an algorithm needs other kernels than its annotation says.
KERNELS: dict[str, tuple[KernelBuilder, ...]] = {
    "early_fusion": (gaussian,),  # a bank of one
    "ikl": (feature_gaussians,),  # or a family, whose searches are tested with the solver
}


# Those called as a module are that, which is tested below; IKL takes minutes in its family.
@pytest.mark.parametrize("name", rest_slow(CONFIGS, "mkl", *(set(CONFIGS) - set(ALGORITHMS))))
def test_every_config_with_the_kernels_it_chooses(name: str) -> None:
    check_algorithm(name)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_module_with_the_kernels_it_takes(name: str) -> None:
    for kernels in KERNELS.get(name, (None,)):
        check_algorithm(ALGORITHMS[name].solve, kernels=kernels)


def test_every_algorithm_of_a_module_is_made_by_its_config() -> None:
    """What is bound by a config does not keep the suite from looking at the function."""
    with pytest.raises(AssertionError, match="calls its second parameter labels"):
        check_algorithm(partial(_misnamed, C=1.0))


def _misnamed(operator: KernelOperator, labels: np.ndarray, C: float = 1.0) -> Solution:
    raise NotImplementedError
