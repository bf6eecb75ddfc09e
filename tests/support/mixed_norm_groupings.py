"""Partitions of five kernels, for the algorithms that learn under a mixed norm."""

from __future__ import annotations

GROUPINGS = {
    "two": [[0, 3, 1], [4, 2]],
    "one": [[0, 1, 2, 3, 4]],
    "singletons": [[0], [1], [2], [3], [4]],
}
