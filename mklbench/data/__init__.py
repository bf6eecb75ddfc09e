"""Data sets: sources -> cache -> parse -> `Dataset`; splits; preprocessing.

May import what is common (`errors`, `claims`, ...) only; it is imported by `experiments`,
`report` and `commands`.
"""

from __future__ import annotations

from mklbench.data.catalogue import fetch, is_at_hand, list_rows, read_configs, verify
from mklbench.data.dataset import Dataset, View, content_digest
from mklbench.data.editions import open_editions, registered_digest, settle
from mklbench.data.loading import load

__all__ = [
    "Dataset",
    "View",
    "content_digest",
    "fetch",
    "is_at_hand",
    "list_rows",
    "load",
    "open_editions",
    "read_configs",
    "registered_digest",
    "settle",
    "verify",
]
