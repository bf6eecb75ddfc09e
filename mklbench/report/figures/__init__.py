"""The figures of a table: one class a kind, and `draw`, which writes them.

May import `report.table`, `analysis` and `layout`; it is imported by `loading`, `results` and
`commands`.
"""

# Each makes its kinds known.
from mklbench.report.figures import computed, matches, sweep, weights

__all__ = ["computed", "matches", "sweep", "weights"]
