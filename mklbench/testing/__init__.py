"""The suites that every algorithm and every kernel operator here passes, for those from outside.

They need no test framework: what is wrong is an AssertionError with one sentence.
May import `config` and all below it; nothing but tests imports it.
"""

from mklbench.testing.algorithms import check_algorithm
from mklbench.testing.operators import check_operator

__all__ = ["check_algorithm", "check_operator"]
