"""Data sets: sources -> cache -> parse -> `Dataset`; splits; preprocessing.

May import what is common (`errors`, `claims`, ...) only; it is imported by `experiments`,
`report` and `commands`.
"""

from __future__ import annotations

from mklbench.data.catalogue import is_at_hand
from mklbench.data.dataset import Dataset
from mklbench.data.loading import load
from mklbench.data.sources import open_editions, registered_digest, settle

__all__ = ["Dataset", "is_at_hand", "load", "open_editions", "registered_digest", "settle"]
